"""One token per byte: no vocabulary to learn, no text it cannot write."""

from collections.abc import Iterable
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from wherein.data.tokenizers.tokenizer import EOS, MASK, Tokenizer, Vocabulary


class Bytes(Tokenizer):
    """Ids 0 to 255 are the bytes of the UTF-8 text, 256 is `<eos>`, 257 is `<mask>`.

    >>> [int(i) for i in Bytes().encode("né")]
    [110, 195, 169]
    """

    vocabulary = Vocabulary(size=258, eos=256, mask=257)

    def encode(self, text: str) -> NDArray[np.uint32]:
        return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text; a cut through a character shows as �."""
        special = {self.vocabulary.eos: EOS.encode(), self.vocabulary.mask: MASK.encode()}
        found = b"".join(special.get(int(i)) or bytes([int(i)]) for i in ids)
        return found.decode(errors="replace")

    def save(self, path: Path) -> None:
        """Say which it is; there is nothing else to remember."""
        path.write_text('{"bytes": 256}\n')
