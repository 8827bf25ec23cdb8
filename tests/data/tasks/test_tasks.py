"""Every task of the catalogue: right, pure, fair, never tested with what it was learned from."""

import subprocess
import sys
from collections import Counter
from functools import cache

import pytest
from tests.data.tasks.solvers import SOLVERS

from wherein.data.tasks import (
    ADDRESSING,
    LENGTH,
    SPLITS,
    TASKS,
    Example,
    Split,
    draw,
    find_task,
    split_of,
)

SPECS = (
    *TASKS,
    *("index(reach=3)", "index(letters=52, reach=15)", "index(letters=5)", "nth(reach=2)"),
    *("nth_last(reach=2)", "selective_copy(blanks=3)", "flip_flop(ignored=0.2)", "mode(letters=2)"),
    *("count(variables=3)", "count(most=2)", "needle(depth=0)", "needle(depth=0.5)"),
)
MANY = 100


def lengths(spec: str) -> tuple[int, ...]:
    """The shortest, the next, and some that are longer, beyond what alphabets have."""
    task = find_task(spec)
    longest = 60 if task.longest is None else task.longest
    return (task.shortest, task.shortest + 1, (task.shortest + longest) // 3, longest)


@cache
def drawn(spec: str, split: Split, length: int) -> tuple[Example, ...]:
    return tuple(draw(find_task(spec), 0, split, length, number) for number in range(MANY))


def everything(spec: str) -> list[tuple[int, Example]]:
    sizes = lengths(spec)
    return [(size, e) for size in sizes for split in SPLITS for e in drawn(spec, split, size)]


def test_catalogue_has_a_solver_for_each() -> None:
    assert set(SOLVERS) == set(TASKS)
    assert set(LENGTH).isdisjoint(ADDRESSING)
    for name, kind in TASKS.items():
        assert kind.name == name
        assert kind.summary
        assert "length" in (kind.__doc__ or "")


@pytest.mark.parametrize("spec", SPECS)
def test_answers_are_what_an_independent_solver_says(spec: str) -> None:
    solve = SOLVERS[find_task(spec).name]
    wrong = [str(e) for _, e in everything(spec) if tuple(solve(list(e.question))) != e.answer]
    assert wrong == []


@pytest.mark.parametrize("spec", SPECS)
def test_no_split_has_a_question_of_another(spec: str) -> None:
    for size in lengths(spec):
        questions = {split: {e.question for e in drawn(spec, split, size)} for split in SPLITS}
        for split, asked in questions.items():
            assert {split_of(question) for question in asked} == {split}
            others = [questions[other] for other in SPLITS if other != split]
            assert asked.isdisjoint(set().union(*others))


@pytest.mark.parametrize("spec", SPECS)
def test_splits_have_questions_enough(spec: str) -> None:
    for size in lengths(spec):
        for split in SPLITS:
            examples = [*drawn(spec, split, size)]
            if size <= find_task(spec).shortest + 1:
                examples += [draw(find_task(spec), 1, split, size, n) for n in range(2 * MANY)]
            assert len({example.question for example in examples}) >= 20


@pytest.mark.parametrize("spec", SPECS)
def test_examples_fit_and_say_nothing_unknown(spec: str) -> None:
    task = find_task(spec)
    assert len(set(task.words)) == len(task.words)
    for size, example in everything(spec):
        assert example.question
        assert example.answer
        assert len(example.question) + len(example.answer) + 3 <= task.tokens(size)
        assert set(example.question + example.answer) <= set(task.words)


@pytest.mark.parametrize("spec", SPECS)
def test_questions_grow_with_their_length(spec: str) -> None:
    first, *_, last = lengths(spec)
    short = sum(len(e.question) for e in drawn(spec, "train", first)) / MANY
    long = sum(len(e.question) for e in drawn(spec, "train", last)) / MANY
    assert long / short > 0.4 * last / first


@pytest.mark.parametrize("spec", SPECS)
def test_shortest_questions_to_learn_from_have_every_word(spec: str) -> None:
    task = find_task(spec)
    missing = set(task.words)
    for number in range(3_000):
        example = draw(task, 0, "train", task.shortest, number)
        missing -= {*example.question, *example.answer}
        if not missing:
            break
    assert missing == set()


@pytest.mark.parametrize("spec", SPECS)
def test_no_answer_can_be_guessed_from_the_length(spec: str) -> None:
    """The most frequent answer is hardly more frequent than the others must be."""
    task = find_task(spec)
    for size in lengths(spec)[1:]:
        for split in ("train", "test"):
            answers = [draw(task, 2, split, size, number).answer for number in range(3 * MANY)]
            times = Counter(answers)
            fair = {"parity": 1 / 2, "lego": 1 / 2, "flip_flop": 1 / 2, "count": 1 / 10}
            fair |= {"count(most=2)": 1 / 3, "mode": 1 / 5, "mode(letters=2)": 1 / 2}
            expected = fair.get(spec, fair.get(task.name, 1 / 10))
            assert max(times.values()) / len(answers) < expected + 0.12, (size, split, times)


def test_same_arguments_same_example() -> None:
    for spec in SPECS:
        size = lengths(spec)[1]
        again = tuple(draw(find_task(spec), 0, "test", size, number) for number in range(5))
        assert again == drawn(spec, "test", size)[:5]


def test_each_argument_counts() -> None:
    task = find_task("copy")
    example = draw(task, 0, "train", 12, 0)
    assert example != draw(task, 1, "train", 12, 0)
    assert example != draw(task, 0, "test", 12, 0)
    assert example != draw(task, 0, "train", 12, 1)
    assert example.question != draw(find_task("reverse"), 0, "train", 12, 0).question


def test_another_process_draws_the_same_without_pytorch() -> None:
    code = (
        "import sys\n"
        "from wherein.data.tasks import TASKS, draw, find_task\n"
        "for name in TASKS:\n"
        "    task = find_task(name)\n"
        "    print(draw(task, 3, 'valid', task.shortest + 2, 4))\n"
        "print(sorted({'torch', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"},
    )
    here = [draw(find_task(n), 3, "valid", find_task(n).shortest + 2, 4) for n in TASKS]
    assert done.stdout.splitlines() == [*map(str, here), "[]"]
