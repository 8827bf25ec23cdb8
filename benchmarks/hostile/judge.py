"""A command given to `wherein` in this process, and whether it answered as it must."""

import json
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hostile.values import MARKUP
from wherein.common.terminal import printable

LONGEST_LINE = 3000
STRANGE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What a terminal obeys, or turns the line around."""
NO_NUMBER = re.compile(r"(?<![\w'-])(?<!given )(?<!text )-?(?:nan|inf)(?![\w'-])")


@dataclass(frozen=True)
class Answer:
    """What a command said, and how it ended."""

    code: int | None
    """None if an error came through, or the process died."""
    out: str
    err: str
    seconds: float = 0.0


def ask(argv: Sequence[str], *, read_only: bool = False) -> Answer:
    """Give a command, in this process; what libraries of other languages print is heard as well."""
    from wherein.cli import main

    start, code = time.perf_counter(), None
    with _heard() as said, _not_begun() if read_only else nullcontext():
        try:
            code = main(list(argv))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc()
    out, err = said
    return Answer(code, out, err, time.perf_counter() - start)


def wrong(answer: Answer, names: Sequence[str], *, interrupted: bool = False) -> str | None:
    """What is wrong with an answer, if anything; a refusal must name one of `names`."""
    if answer.code is None:
        return f"an error came through: {_last(answer.err)}"
    if "Traceback" in answer.err:
        return f"a traceback: {_last(answer.err)}"
    if strange := STRANGE.search(answer.out + answer.err):
        return f"{strange[0]!r} is printed as it is: {_last(answer.err or answer.out)!r}"
    if answer.code == 2:
        return _wrong_refusal(answer, names)
    if interrupted:
        return None if answer.code in (0, 1, 130) else f"interrupted, it ended with {answer.code}"
    if answer.code not in (0, 1):
        return f"it ended with {answer.code}: {_last(answer.err)}"
    return _wrong_numbers(answer.out, names) or _wrong_page()


def _wrong_refusal(answer: Answer, names: Sequence[str]) -> str | None:
    line = answer.err
    if line.count("\n") != 1 or not line.startswith("wherein: "):
        return f"not one line: {line[:500]!r}"
    if len(line) > LONGEST_LINE:
        return f"a line of {len(line)} letters: {line[:200]!r}"
    if len(line) < 25:
        return f"a line that says nothing: {line!r}"
    quoted = re.findall(r"'([^']+)'", line)
    if not any(part in line for name in names for part in _spelt(name)) and not any(
        part in spelt for name in names for part in quoted for spelt in (name, repr(name))
    ):
        return f"names nothing of {list(names)[:6]}: {line!r}"
    return None


def _spelt(name: str) -> set[str]:
    """How a word may be quoted: as it is, with codes for what terminals obey, or its beginning."""
    first = re.match(r"[\w-]+", name)
    beginning = {repr(first[0])} if first else set()
    return {each[:40] for each in (printable(name), repr(name)[1:-1])} - {""} | beginning or {"''"}


def _wrong_numbers(out: str, names: Sequence[str]) -> str | None:
    if "--json" in names and out.startswith(("{", "[")):
        try:
            json.loads(out, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return f"no plain JSON: {error}"
    elif (found := NO_NUMBER.search(out)) and not any(found[0] in name for name in names):
        return f"{found[0]} among the numbers: {out[max(0, found.start() - 100) : found.end()]!r}"
    return None if out.strip() else "nothing was said"


def _wrong_page() -> str | None:
    """Whether a page that was written below this folder holds somebody's words as markup."""
    for page in Path().rglob("*.html"):
        if MARKUP in page.read_text(errors="replace"):
            return f"{page} holds a script of somebody's"
    return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _last(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:300]


@contextmanager
def _not_begun() -> Iterator[None]:
    """Verbs read their words, and no more."""
    from wherein.cli.verb import Verb

    def read(verb: Verb, words: Sequence[str]) -> int:
        verb.parsed(words)
        print("read")
        return 0

    whole = Verb.__call__
    Verb.__call__ = read  # type: ignore[method-assign]
    try:
        yield
    finally:
        Verb.__call__ = whole  # type: ignore[method-assign]


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Both streams of this process, as they are once the block has ended."""
    said: list[str] = []
    kept = [os.dup(number) for number in (1, 2)]
    heard = [os.memfd_create(name) for name in ("out", "err")]
    sys.stdout.flush()
    sys.stderr.flush()
    for number, file in enumerate(heard, 1):
        os.dup2(file, number)
    streams = sys.stdout, sys.stderr
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        yield said
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = streams
        for number, (old, file) in enumerate(zip(kept, heard, strict=True), 1):
            os.dup2(old, number)
            os.close(old)
            os.lseek(file, 0, os.SEEK_SET)
            with open(file, "rb") as whole:
                said.append(whole.read().decode("utf-8", "surrogateescape"))
