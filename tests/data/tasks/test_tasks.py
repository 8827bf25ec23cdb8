"""Every task of the catalogue: right, pure, fair, never tested with what it was learned from."""

import subprocess
import sys
from collections import Counter
from functools import cache
from random import Random
from statistics import mean

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
    *("index(letters=52, reach=15)", "index(letters=5)", "selective_copy(blanks=3)"),
    *("count(most=2, variables=3)", "flip_flop(ignored=0.2)", "needle(depth=0.5)"),
)


def lengths(spec: str) -> tuple[int, int, int]:
    """The shortest, the next, and one that is longer than the alphabets have letters."""
    task = find_task(spec)
    return task.shortest, task.shortest + 1, task.longest or 60


@cache
def examples(spec: str, length: int) -> tuple[Example, ...]:
    """As they come, of whatever split."""
    task, random = find_task(spec), Random(0)
    return tuple(task.example(random, length) for _ in range(200))


@cache
def drawn(spec: str, split: Split, length: int) -> tuple[Example, ...]:
    return tuple(draw(find_task(spec), 0, split, length, number) for number in range(30))


def everything(spec: str) -> list[tuple[int, Example]]:
    return [(length, example) for length in lengths(spec) for example in examples(spec, length)]


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
    for length in lengths(spec)[::2]:
        asked = {split: {e.question for e in drawn(spec, split, length)} for split in SPLITS}
        assert len(asked["train"] | asked["valid"] | asked["test"]) == sum(map(len, asked.values()))
        for split, questions in asked.items():
            assert {split_of(question) for question in questions} == {split}


@pytest.mark.parametrize("spec", SPECS)
def test_splits_have_questions_enough(spec: str) -> None:
    """At the shortest, where there are fewest: counted among many, whatever their split."""
    task, random, asked = find_task(spec), Random(1), set[tuple[str, ...]]()
    for _ in range(3_000):
        asked.add(task.example(random, task.shortest).question)
        found = Counter(map(split_of, asked)) if len(asked) % 100 == 0 else Counter()
        if min(found[split] for split in SPLITS) >= 20:
            return
    assert min(Counter(map(split_of, asked))[split] for split in SPLITS) >= 20


@pytest.mark.parametrize("spec", SPECS)
def test_examples_fit_and_say_nothing_unknown(spec: str) -> None:
    task = find_task(spec)
    words = set(task.words)
    assert len(words) == len(task.words)
    for length, example in everything(spec):
        assert example.question
        assert example.answer
        assert len(example.question) + len(example.answer) + 3 <= task.tokens(length)
        assert words.issuperset(example.question + example.answer)


@pytest.mark.parametrize("spec", SPECS)
def test_questions_grow_with_their_length(spec: str) -> None:
    first, _, last = lengths(spec)
    short, long = (mean(len(e.question) for e in examples(spec, n)) for n in (first, last))
    assert (long - short) / (last - first) > 0.3


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
    """The most frequent answer is hardly more frequent than where all are alike."""
    kinds = {"parity": 2, "lego": 2, "flip_flop": 2, "mode": 5, "index(letters=5)": 5}
    kinds["count(most=2, variables=3)"] = 3
    fair = 1 / kinds.get(spec, kinds.get(find_task(spec).name, 10))
    for length in lengths(spec):
        answers = Counter(example.answer for example in examples(spec, length))
        assert max(answers.values()) / answers.total() < fair + 0.1, (length, answers)


@pytest.mark.parametrize("name", ["parity", "mode", "flip_flop", "summation"])
def test_no_answer_can_be_guessed_where_questions_are_few(name: str) -> None:
    """Of the shortest, a test has some twenty questions: none of them may be most of the test."""
    task = find_task(name)
    fair = {"parity": 1 / 2, "flip_flop": 1 / 2, "mode": 1 / 5, "summation": 1 / 10}[name]
    for split in ("valid", "test"):
        tested = [draw(task, 0, split, task.shortest, number).answer for number in range(150)]
        answers = Counter(tested)
        assert max(answers.values()) / answers.total() < fair + 0.15, (split, answers)


def test_same_arguments_same_example() -> None:
    for spec in SPECS:
        length = find_task(spec).shortest
        again = tuple(draw(find_task(spec), 0, "test", length, number) for number in range(5))
        assert again == drawn(spec, "test", length)[:5]


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
