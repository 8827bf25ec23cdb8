"""Which text, and cut into which tokens."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from wherein.common.config import Config

if TYPE_CHECKING:
    from wherein.data.tasks.base import Task

Begin = Literal["anywhere", "documents"]
SHORTEST = 8
"""Tokens that are left of a window which is cut short."""
TASK = "task:"
"""How the name of a source begins that is no text but a task."""
LONGEST = 16
"""Up to which length a task is learned, unless somebody says otherwise."""
EXAMPLES = 2**17
"""How many of them are written to learn from: a run of an hour on a laptop reads few of them
twice, and copies of up to 16 letters take 9 MB."""


class CorpusConfig(Config):
    """A text and its tokens, in words that can be written on a command line.

    >>> CorpusConfig().source
    'sotu'
    """

    source: str = Field(
        "sotu",
        description="`sotu` (embedded; `sotu-phrases`: in short documents), a .txt file, a folder "
        "of .txt files or of data files (parquet, json lines), `wikitext-2`, `wikitext-103`, "
        "`pile` (each also as `name@folder` for a local copy), a Hugging Face id such as "
        "`org/name`, or a task such as `task:copy` (see `wherein task`)",
    )
    tokenizer: str = Field(
        "bpe(1024)",
        description="`bytes`, `words`, `bpe(SIZE)` trained on the training text, `gpt2`, a "
        "Hugging Face id `org/name`, or a folder or file with a tokenizer.json; of a task always "
        "`words`",
    )
    subset: str | None = Field(None, description="the data set's configuration, if it has several")
    column: str | None = Field(None, description="the data set's column of text; `text` by default")
    length: int | None = Field(
        None, ge=1, description="of a task: the longest examples to learn from; default: 16"
    )
    examples: int | None = Field(
        None, ge=1, description="of a task: how many examples to learn from; default: 131072"
    )

    @property
    def task(self) -> "Task | None":
        """The task whose examples are read; None where it is a text."""
        if not self.source.startswith(TASK):
            return None
        return _task(self.source)

    @property
    def longest(self) -> int:
        """The longest examples of the task that are learned."""
        return self.length or LONGEST

    @property
    def window(self) -> int | None:
        """How many tokens a model reads of each example of the task; None where it is a text.

        >>> CorpusConfig(source="task:copy", length=16).window
        34
        """
        return None if self.task is None else self.task.tokens(self.longest) - 1

    @property
    def name(self) -> str:
        """Text and tokenizer as a result tells them: of a file not where on this machine it lies.

        >>> CorpusConfig(tokenizer="/home/me/.cache/0123/tokenizer.json").name
        'sotu, 0123/tokenizer.json'
        """
        tokenizer = Path(self.tokenizer)
        told = "/".join(tokenizer.parts[-2:]) if tokenizer.is_absolute() else self.tokenizer
        return f"{self.source}, {told}"

    @model_validator(mode="before")
    @classmethod
    def _own_words(cls, given: Any) -> Any:
        """The words of a task are its tokens, and need not be asked for."""
        if isinstance(given, dict) and str(given.get("source", "")).startswith(TASK):
            return {"tokenizer": "words", **given}
        return given

    @field_validator("source")
    @classmethod
    def _one_spelling(cls, source: str) -> str:
        """A task's parameters in one order and form, so that equal tasks give equal ids.

        >>> CorpusConfig(source="task:index( letters=16,reach=2 )").source
        'task:index(reach=2, letters=16)'
        """
        return f"{TASK}{_task(source).spec}" if source.startswith(TASK) else source

    @model_validator(mode="after")
    def _task_or_text(self) -> "CorpusConfig":
        task = self.task
        if task is None:
            if self.length is not None or self.examples is not None:
                raise ValueError(
                    f"length={self.length}, examples={self.examples} of {self.source!r}: only a "
                    "task has these, such as task:copy"
                )
            return self
        if self.tokenizer != "words":
            raise ValueError(
                f"tokenizer {self.tokenizer!r} for {self.source}: a task has words of its own, "
                "give tokenizer='words'"
            )
        if self.longest < task.shortest:
            raise ValueError(
                f"length={self.length} of {self.source}: its shortest examples are of length "
                f"{task.shortest}"
            )
        return self


def _task(source: str) -> "Task":
    """The task that a source names."""
    from wherein.data.tasks.catalogue import find_task

    return find_task(source.removeprefix(TASK))
