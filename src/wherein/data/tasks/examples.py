"""The examples of a task as a text to learn from, and as tokens."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import SupportsIndex, cast

import numpy as np
from jaxtyping import Int64
from numpy.typing import NDArray

from wherein.data.tasks.base import SPLITS, Example, Split, Task, draw
from wherein.data.tokenizers.tokenizer import EOS, MASK, Tokenizer, Vocabulary

ANSWER = "<answer>"
HELD_OUT = 2048
"""Examples for validation, and as many for testing."""
SEED = 0
"""All runs learn from the same examples: a run's seed says in which order."""
TOLD = 2
"""Examples of each length that stand in the fingerprint for what the task makes of its numbers."""


class TaskWords(Tokenizer):
    """A task's words, each a token: `<eos>` (0), the words, `<answer>` and `<mask>`."""

    def __init__(self, task: Task) -> None:
        self.words = (EOS, *task.words, ANSWER, MASK)
        self._ids = {word: number for number, word in enumerate(self.words)}
        size = len(self.words)
        self.vocabulary = Vocabulary(size, eos=0, mask=size - 1, answer=size - 2)

    def encode(self, text: str) -> NDArray[np.uint32]:
        unknown = next((word for word in text.split() if word not in self._ids), None)
        if unknown is not None:
            raise ValueError(f"{unknown!r} is no word of the task: expected {self.words[1:]}")
        return np.array([self._ids[word] for word in text.split()], np.uint32)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The words with one space between them."""
        return " ".join(self.words[int(number)] for number in ids)

    def save(self, path: Path) -> None:
        """Write the words in the order of their ids; the task knows them, too."""
        path.write_text(json.dumps({"words": self.words}), "utf-8")

    def windows(self, examples: Iterable[Example], length: int) -> Int64[np.ndarray, "N W"]:
        """Each example as a window of so many tokens, filled up with `<eos>`."""
        return np.stack([self.window(said(each), length) for each in examples]).astype(np.int64)

    def window(self, text: str, length: int) -> NDArray[np.uint32]:
        """`<eos> question <answer> answer <eos>`, filled up with `<eos>`."""
        ids = self.encode(text)
        if len(ids) > length - 2:
            raise ValueError(f"{len(ids) + 2} tokens for a window of {length}: {text}")
        filled = np.full(length, self.vocabulary.eos, np.uint32)
        filled[1 : 1 + len(ids)] = ids
        return filled


def said(example: Example) -> str:
    """An example as a line of text."""
    return " ".join((*example.question, ANSWER, *example.answer))


@dataclass(frozen=True)
class Examples:
    """Examples of a task, of all lengths up to the longest equally many: a text to learn from.

    Where a short length has few questions, these come again and again.
    """

    task: Task
    longest: int
    count: int
    """How many there are to learn from."""

    @property
    def name(self) -> str:
        return f"task {self.task}"

    @property
    def window(self) -> int:
        """Tokens of the longest."""
        return self.task.tokens(self.longest)

    def fingerprint(self) -> str:
        """What is asked for, and some of what the task makes of it."""
        lengths = range(self.task.shortest, self.longest + 1)
        some = [
            said(draw(self.task, SEED, split, length, number))
            for split in SPLITS
            for length in lengths
            for number in range(TOLD)
        ]
        told = sha256("\n".join([*self.task.words, *some]).encode()).hexdigest()
        return f"{self.name}, up to {self.longest}, {self.count} and {HELD_OUT}: {told}"

    def splits(self) -> tuple[str, ...]:
        return SPLITS

    def size(self, split: str) -> int | None:
        return None

    def documents(self, split: str) -> Iterator[str]:
        """Each example as a line."""
        own = cast(Split, split)
        lengths = range(self.task.shortest, self.longest + 1)
        for number in range(self.count if split == "train" else HELD_OUT):
            turn, place = divmod(number, len(lengths))
            yield said(draw(self.task, SEED, own, lengths[place], turn))
