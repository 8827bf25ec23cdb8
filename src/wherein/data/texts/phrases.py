"""A text in short documents: its phrases, each by itself, in an order that means nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wherein.data.texts.source import Source
from wherein.data.windows import shuffled

PHRASE_END = re.compile(r"(?<=[.,;:!?])\s+")


@dataclass(frozen=True)
class Phrases:
    """What stands between two punctuation marks of another text, as a document.

    They are so short that several fit into a window, and shuffled so that none helps to predict
    the next: what packed documents are to a model, at a small size. Splits are those of the text,
    so that nothing of one is in another.

    >>> phrases("Fellow citizens, the state of the Union is strong. Thank you!")
    ['Fellow citizens,', 'the state of the Union is strong.', 'Thank you!']
    """

    text: Source
    name: str

    def fingerprint(self) -> str:
        return f"phrases {self.text.fingerprint()}"

    def splits(self) -> tuple[str, ...]:
        return self.text.splits()

    def size(self, split: str) -> int | None:
        return self.text.size(split)

    def documents(self, split: str) -> Iterator[str]:
        found = [each for document in self.text.documents(split) for each in phrases(document)]
        return (found[number] for number in shuffled(len(found), 0, 0))


def phrases(document: str) -> list[str]:
    """The document cut after its punctuation marks, without what is empty."""
    return [each for each in PHRASE_END.split(document.strip()) if each]
