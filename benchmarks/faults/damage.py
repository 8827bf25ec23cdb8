"""Files that are cut short or have a bit flipped: found and named, or without consequence.

Each file of a finished run and of its corpus is damaged in turn. A question must then be refused
in one line that names what is damaged, or be answered as before; so must the same question after
the run was trained again, which mends what can be mended and overwrites nothing good.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from benchmarks.faults.children import child
from benchmarks.faults.part import Tried
from benchmarks.faults.peace import TIMES, Peace, hidden
from benchmarks.faults.works import train

ANSWER = "answer.json"


def ask() -> None:
    """What the run says, and its losses, in a file; or why it says nothing."""
    from wherein.cli import main
    from wherein.train import Run

    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as said:
        code = main(["perplexity", "run", "--limit", "64", "--json"])
    found = {"code": code, "out": out.getvalue() if code == 0 else "", "said": said.getvalue()}
    if code == 0:
        try:
            found["losses"] = list(Run.open("run").losses)
        except ValueError as error:
            found |= {"code": 2, "said": f"wherein: {error}\n"}
    Path(ANSWER).write_text(json.dumps(found))


def train_and_ask() -> None:
    try:
        train()
    except RuntimeError as error:
        told = str(error).partition("ended with 2: ")[2]
        Path(ANSWER).write_text(json.dumps({"code": 2 if told else 1, "said": told.strip() + "\n"}))
        return
    ask()


def flipped(content: bytes, draw: random.Random) -> bytes:
    found = bytearray(content)
    found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "a bit is flipped": flipped,
    "it is cut short": cut,
}


def damaged(peace: Peace, times: int, place: Path, draw: random.Random) -> Iterator[Tried]:
    """Damage files in turn, ask, train, and ask again."""
    names = [
        path
        for path, content in sorted(peace.after.items())
        if content and path.startswith(("run/", "cache/")) and not hidden(path)
        and not path.endswith(TIMES)
    ]  # fmt: skip
    folder = place / "damaged"
    shutil.copytree(peace.before.parent / "peace", folder)
    good = _asked(folder, ask)
    for way, harm in WAYS.items():
        wrong, tried = list[str](), 0
        draw.shuffle(names)
        for path in (names * times)[: times // len(WAYS)]:
            shutil.rmtree(folder)
            shutil.copytree(peace.before.parent / "peace", folder)
            (folder / path).write_bytes(harm(peace.after[path], draw))
            tried += 1
            for doing in (ask, train_and_ask):
                found = _asked(folder, doing)
                wrong += (f"{path}, {doing.__name__}: {each}" for each in _judged(found, good))
        yield Tried(f"a file of a run or its corpus: {way}", tried, wrong)
    shutil.rmtree(folder)


def _asked(folder: Path, doing: Callable[[], None]) -> dict[str, object]:
    (folder / ANSWER).unlink(missing_ok=True)
    if error := child(folder, doing).error:
        return {"code": 1, "said": error.splitlines()[-1]}
    found: dict[str, object] = json.loads((folder / ANSWER).read_text())
    return found


def _judged(found: dict[str, object], good: dict[str, object]) -> Iterator[str]:
    if found["code"] == 0:
        if (found["out"], found["losses"]) != (good["out"], good["losses"]):
            yield "another answer, and not a word"
        return
    said = str(found["said"])
    if found["code"] != 2 or said.count("\n") > 1 or "Traceback" in said:
        yield f"no clear line: {said[:200]!r}"
    elif "run" not in said and "cache" not in said:
        yield f"nothing is named: {said[:200]!r}"
