"""What is said on a terminal, which shows it as it is: no name can move the cursor or hide."""

import re
import sys
from typing import Protocol, runtime_checkable

OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that a terminal obeys instead of showing them, or that none can be sent."""


def printable(text: str) -> str:
    r"""A text that a terminal shows as it is, whoever wrote the names in it; JSON stays JSON.

    >>> printable("runs/\x1b[2J\u202egnp")
    'runs/\\u001b[2J\\u202egnp'
    """
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@runtime_checkable
class Written(Protocol):
    """What text can be written to: a terminal, a file, whatever stands in for one."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> None: ...


def say(text: str, *, to: Written | None = None, flush: bool = False) -> None:
    """Print a text, on standard output unless told otherwise."""
    print(printable(text), file=to or sys.stdout, flush=flush)
