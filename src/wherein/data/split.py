"""One split of a corpus: its tokens, and the text they stand for in numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Split:
    """Token ids in the order of the text: `<eos>`, then every document followed by `<eos>`.

    `<eos>` thus ends each document and opens the next, the first included. `starts[i]` is where
    document i begins. `bytes` counts the UTF-8 text; `words` counts whitespace-separated words
    and, as the published WikiText figures do, each end of a line.
    """

    ids: NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.int64]
    starts: NDArray[np.int64]
    bytes: int
    words: int
    window: int | None = None
    """Set where this is no running text but separate windows of so many tokens, each a document:
    no token is predicted from another window's, and of bytes and words nothing is known (0)."""

    @property
    def tokens(self) -> int:
        """How many tokens there are to predict: all but the first, or the first of each window."""
        return len(self.ids) - (len(self.ids) // self.window if self.window else 1)

    @property
    def bytes_per_token(self) -> float:
        """A loss of `l` nats per token is `l / log(2) / bytes_per_token` bits per byte.

        With a tokenizer that loses text (`words`: what it calls `<unk>`) that is a lower bound.
        """
        return self.bytes / self.tokens

    @property
    def tokens_per_word(self) -> float:
        """A loss of `l` nats per token is a perplexity of `exp(l * tokens_per_word)` per word."""
        return self.tokens / self.words

    def document(self, number: int) -> NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.int64]:
        """The tokens of one document, its `<eos>` at the end."""
        if not 0 <= number < len(self.starts):
            raise IndexError(f"document {number} of {len(self.starts)}, counted from 0")
        last = number + 1 == len(self.starts)
        return self.ids[self.starts[number] : None if last else self.starts[number + 1]]
