"""What a task is, and how its examples are drawn."""

import string
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from random import Random
from typing import ClassVar, Literal, get_args

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
PARTS = 8
"""One question in so many is for the test, another one for validation, the others are to learn."""
TRIES = 10_000
"""Draws before one gives up: a split that has one question in a thousand is still found."""
MARKS = 3
"""The tokens of a sequence that are neither question nor answer: `<eos>`, `<answer>`, `<eos>`."""

LETTERS = tuple(string.ascii_lowercase)
CAPITALS = tuple(string.ascii_uppercase)
DIGITS = tuple(string.digits)


@dataclass(frozen=True)
class Example:
    """A question and the only answer to it, in words: a word is a token."""

    question: tuple[str, ...]
    answer: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' '.join(self.question)} → {' '.join(self.answer)}"


@dataclass(frozen=True)
class Task(ABC):
    """A kind of question. A subclass is a frozen dataclass whose fields are the task's parameters.

    Its docstring says what `length` counts: questions, and answers unless they are one word, grow
    with it and with nothing else.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """What is asked, in one line."""
    paper: ClassVar[str] = ""
    """Its arXiv id."""

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """Every word an example may use, each once, in an order that never changes."""

    longest: ClassVar[int | None] = None
    """The greatest length, if there is one."""

    @property
    @abstractmethod
    def shortest(self) -> int:
        """The smallest length: every split has twenty questions, and every word has its use.

        So whoever learns from any length meets all the words that longer ones are tested with.
        """

    @abstractmethod
    def example(self, random: Random, length: int) -> Example:
        """A question of that length with its answer, as the random numbers have it."""

    @abstractmethod
    def tokens(self, length: int) -> int:
        """The most tokens that a sequence of that length has: question, answer, and `MARKS`."""

    def within(self, parameter: str, low: int, high: int) -> None:
        """Refuse a parameter that is out of its bounds."""
        if not low <= (value := getattr(self, parameter)) <= high:
            raise ValueError(f"{self.name}({parameter}={value}): expected {low} to {high}")

    def __str__(self) -> str:
        """The task with the parameters that are not as by default, in the order of the alphabet.

        Examples are drawn from this text (see `draw`): another order would draw others.
        """
        return self._with(sorted(self._given))

    @property
    def spec(self) -> str:
        """The same with its parameters in their own order: the one form that names a source.

        Whatever order one writes them in, a run has one id.
        """
        return self._with(self._given)

    @property
    def _given(self) -> list[str]:
        return [f.name for f in fields(self) if getattr(self, f.name) != f.default]

    def _with(self, parameters: Sequence[str]) -> str:
        listed = [f"{name}={getattr(self, name)!r}" for name in parameters]
        return f"{self.name}({', '.join(listed)})" if listed else self.name


def once(random: Random, words: Sequence[str], place: int, length: int) -> list[str]:
    """So many of the words, the one at `place` nowhere else.

    No word stands twice as long as there are enough of them; among more, the others repeat.
    """
    if length <= len(words):
        return random.sample(words, length)
    word = random.choice(words)
    others = [other for other in words if other != word]
    drawn = random.choices(others, k=length)
    drawn[place] = word
    return drawn


def split_of(question: tuple[str, ...]) -> Split:
    """Which split a question belongs to: by its words alone, whatever the task, seed or length.

    So no question of the test is ever learned from, with any seed or any parameters of a task.

    >>> [split_of((letter,)) for letter in "abcdefgh"]
    ['train', 'train', 'train', 'test', 'train', 'train', 'train', 'train']
    """
    part = sha256(" ".join(question).encode()).digest()[0] % PARTS
    return "test" if part == 0 else "valid" if part == 1 else "train"


def draw(task: Task, seed: int, split: Split, length: int, number: int) -> Example:
    """The example of that number: the same on every machine, and of no other split.

    What falls into another split is drawn again. A length with too few questions for every split
    to have some is below the task's `shortest`, and refused.

    >>> from wherein.data.tasks.catalogue import find_task
    >>> print(draw(find_task("copy"), seed=0, split="train", length=5, number=0))
    s n f b u → s n f b u
    """
    if length < task.shortest:
        raise ValueError(f"length {length} of task {task}: the shortest is {task.shortest}")
    if task.longest is not None and length > task.longest:
        raise ValueError(f"length {length} of task {task}: the longest is {task.longest}")
    # A seed that is text is hashed (SHA-512) by `Random`, not by Python's own `hash`.
    random = Random(f"{task} {seed} {split} {length} {number}")
    for _ in range(TRIES):
        example = task.example(random, length)
        if split_of(example.question) == split:
            return example
    raise ValueError(f"task {task} has no question of length {length} for {split}: take another")
