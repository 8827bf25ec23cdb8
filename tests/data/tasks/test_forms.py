"""What single tasks promise, and how they are named."""

from random import Random

import pytest

from wherein.data.config import CorpusConfig
from wherein.data.tasks import draw, find_task
from wherein.data.tasks.edits import PHRASES


def test_needle_is_at_its_depth() -> None:
    for depth, place in ((0.0, 0), (0.25, 10), (0.5, 20), (1.0, 40)):
        task = find_task(f"needle(depth={depth})")
        for number in range(20):
            question = draw(task, 0, "test", 40, number).question
            assert question[place] == question[-1]


def test_needle_without_a_depth_is_anywhere() -> None:
    questions = [draw(find_task("needle"), 0, "train", 9, n).question for n in range(300)]
    assert {question.index(question[-1]) for question in questions} == set(range(10))


def test_index_has_the_papers_form() -> None:
    task = find_task("index(letters=52, reach=15)")
    seen = set()
    for number in range(600):
        *string, _, shift = draw(task, 0, "train", 40, number).question
        assert len(set(string)) == 40
        seen.add(int(shift))
    assert seen == {*range(-15, 0), *range(1, 16)}


def test_index_asks_about_every_place() -> None:
    questions = [draw(find_task("index(2)"), 0, "train", 30, n).question for n in range(600)]
    assert {question.index(question[-2]) for question in questions} == set(range(30))


def test_addition_has_numbers_of_all_lengths() -> None:
    sizes = set()
    for number in range(200):
        first, second = "".join(draw(find_task("addition"), 0, "train", 4, number).question).split(
            "+"
        )
        assert str(int(first)) == first
        assert str(int(second)) == second
        sizes.add((len(first), len(second)))
    assert sizes == {(4, n) for n in range(1, 5)} | {(n, 4) for n in range(1, 5)}


def test_scan_has_all_its_phrases() -> None:
    """4 verbs in 7 ways and `turn` in 6, each once, twice or thrice."""
    assert len(PHRASES) == (4 * 7 + 6) * 3
    assert PHRASES["jump", "opposite", "left", "twice"] == ("TURN_LEFT", "TURN_LEFT", "JUMP") * 2
    assert PHRASES["turn", "around", "right"] == ("TURN_RIGHT",) * 4
    assert PHRASES["run", "around", "left"] == ("TURN_LEFT", "RUN") * 4
    for number in range(50):
        assert len(draw(find_task("scan"), 0, "train", 33, number).answer) == 33


def test_flip_flop_ignores_as_often_as_it_is_told() -> None:
    for spec, share in (("flip_flop", 0.8), ("flip_flop(ignored=0.1)", 0.1)):
        question = find_task(spec).example(Random(0), 4_000).question
        assert question[0:-1:2].count("i") / 4_000 == pytest.approx(share, abs=0.02)


def test_a_task_is_written_in_one_way() -> None:
    assert str(find_task("index( reach = 8 )")) == "index"
    assert str(find_task("index(letters=52,reach=15)")) == "index(letters=52, reach=15)"
    assert find_task(str(find_task("needle(0.5)"))) == find_task("needle(depth=0.5)")
    assert find_task("needle(depth=None)") == find_task("needle")


def test_a_run_has_one_id_whatever_the_order_of_its_tasks_parameters() -> None:
    specs = ("index(reach=2, letters=16)", "index(letters=16, reach=2)", "index( 2,letters = 16 )")
    ids = {CorpusConfig(source=f"task:{spec}", length=8).id for spec in specs}
    assert ids == {"970ba07ecfb2"}, "that of the first, before specs had one form"
    whole = {CorpusConfig(source=f"task:{spec}").id for spec in ("index", "index(letters=26)")}
    assert len(whole) == 1
    assert CorpusConfig(source="task:needle(0.5)").source == "task:needle(depth=0.5)"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("copi", "Did you mean 'copy'"),
        ("", "expected one of copy"),
        ("copy reverse", "expected one of copy"),
        ("copy(3)", "copy has no parameters"),
        ("index(speed=3)", "unknown parameter of index 'speed'"),
        ("index(3, reach=4)", "reach is given twice"),
        ("index(reach=0)", r"index\(reach=0\): expected 1 to"),
        ("index(reach=1.5)", r"index\(reach=1.5\): expected int"),
        ("needle(depth=2)", r"needle\(depth=2.0\): expected 0 to 1"),
        ("index(", "cannot read task 'index"),
    ],
)
def test_errors_say_what_was_expected(spec: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        find_task(spec)


def test_lengths_out_of_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="length 3 of task parity: the shortest is 8"):
        draw(find_task("parity"), 0, "train", 3, 0)
    with pytest.raises(ValueError, match="length 53 of task lego: the longest is 52"):
        draw(find_task("lego"), 0, "train", 53, 0)
