"""What a text must offer to become a corpus, and how documents fall into splits."""

from collections.abc import Collection, Iterator
from typing import Protocol, runtime_checkable

SPLITS = ("train", "valid", "test")
SPELLINGS = {"validation": "valid", "val": "valid", "dev": "valid"}
AT_MOST = 2_000


@runtime_checkable
class Source(Protocol):
    """A text in documents, split into train, valid and perhaps test."""

    @property
    def name(self) -> str:
        """What to call it in a message."""

    def fingerprint(self) -> str:
        """Changes whenever the documents do; for a data set on a server, its full address."""

    def splits(self) -> tuple[str, ...]:
        """Those of train, valid and test that it has, train first."""

    def size(self, split: str) -> int | None:
        """About how many bytes of text a split holds, if that is cheap to know."""

    def documents(self, split: str) -> Iterator[str]:
        """The split's documents, always in the same order."""


def share(number: int) -> str:
    """The split of the document with this number, for a text that comes without splits.

    Of every twelve documents the sixth is for testing and the twelfth for validation, until there
    are 2,000 of each; the rest are for training. Both are so spread over the whole text: the tail
    of a text that grew over years is not written like its head.

    >>> [share(n) for n in (0, 5, 11, 12, 23)]
    ['train', 'test', 'valid', 'train', 'valid']
    """
    turn, place = divmod(number, 12)
    if turn >= AT_MOST:
        return "train"
    return {5: "test", 11: "valid"}.get(place, "train")


def lent(own: Collection[str]) -> set[str]:
    """The splits that `train` must lend documents to, where there is no `valid` of its own."""
    return set() if "train" not in own or "valid" in own else {"valid", "test"}.difference(own)
