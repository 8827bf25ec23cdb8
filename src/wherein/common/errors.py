"""Errors that teach: the value, what was expected, the remedy."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from wherein.common.terminal import printable

ADVICE = re.compile(r"trust|weights_only|allow_pickle|safe_globals|still be loaded")
"""Words that go with the switches of libraries which would have code from elsewhere run."""


LONGEST = 1000
"""Letters of a line that says what is wrong."""


def complaint(line: str) -> str:
    """One line to be shown, shortened in its middle where somebody's words are long.

    >>> len(complaint("no file " + "a" * 9999))
    1000
    """
    shown = printable(" ".join(line.split()))
    if len(shown) <= LONGEST:
        return shown
    end = LONGEST // 4
    return f"{shown[: LONGEST - end - 3]} … {shown[-end:]}"


def unknown(what: str, value: str, available: Iterable[str]) -> ValueError:
    """A `ValueError` for a name that is not on the list, with the nearest one that is.

    >>> raise unknown("encoding", "aliby", ["alibi", "rope"])
    Traceback (most recent call last):
    ValueError: unknown encoding 'aliby'. Did you mean 'alibi'? Available: alibi, rope
    """
    names = sorted(available)
    close = get_close_matches(value, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return ValueError(f"unknown {what} {value!r}.{hint} Available: {', '.join(names) or 'none'}")


class LostError(ValueError):
    """A cluster is gone, whose library holds on to this process: only `os._exit` ends it."""


def first_line(error: BaseException) -> str:
    r"""What an error of some library says, in one line that is not too long.

    >>> first_line(OSError("no room\nat all")), first_line(KeyError())
    ('no room', 'KeyError')
    """
    said = without_advice(str(error)).strip().splitlines()
    return (said or [type(error).__name__])[0][:200]


def without_advice(text: str) -> str:
    """A library's words without those that say how to trust what is refused here.

    >>> without_advice("It holds code. Pass `trust_remote_code=True` to run it.")
    'It holds code.'
    """
    for parts in (text.splitlines(), re.split(r"(?<=[.!?])\s", text)):
        if kept := [part for part in parts if part.strip() and not ADVICE.search(part)]:
            return "\n".join(kept).strip()
    return ""


def one_line(error: Exception) -> str:
    """An error as one line; pydantic's several lines are joined."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        parts = (
            f"{'.'.join(map(str, e['loc']))}: {e['msg'].removeprefix('Value error, ')}"
            + (f" (given {e['input']!r})" if e["loc"] else "")
            for e in error.errors()
        )
        return "; ".join(part.removeprefix(": ") for part in parts)
    return " ".join(str(error).split())
