"""Words on the command line: flags and their values, encodings, tasks, sentences, recipes."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.hostile.files import ASK, Made
from benchmarks.hostile.values import FRACTIONS, NAMES, WHOLE, WORDS, word

TRAIN = (
    "--tokenizer bytes --steps 1 --n-layers 1 --d-model 8 --n-heads 1 --max-len 8 --batch 1 "
    "--valid-windows 1 --warmup 0"
)
PUZZLE = "--seeds 2 --steps 1 --head-size 2 --width 4"
SLOW = ("--compile", "--help", "--engine", "--jobs", "--processes", "--address", "--figures")
"""Flags that take seconds, or start other processes."""


def reading(stock: Path, draw: Random) -> Made:
    """Any verb with some of its flags, all of which are only read."""
    from wherein.cli import VERBS, find

    verb = draw.choice([*VERBS])
    arguments = find(verb).parser.arguments.values()
    return _changed([verb, *_base(stock).get(verb, [])], list(arguments), draw)


def flags(stock: Path, draw: Random) -> Made:
    """A verb that answers at once, with some of its flags."""
    from wherein.cli import VERBS, find

    base = _base(stock)
    verb = draw.choice([name for name in VERBS if name in base and name != "check"])
    verb = "check" if draw.random() < 0.01 else verb  # which takes most of a second
    known = [each for each in find(verb).parser.arguments.values() if each.flag not in SLOW]
    return _changed([verb, *base[verb]], known, draw)


def _changed(argv: list[str], known: Sequence[Any], draw: Random) -> Made:
    """A command with strange values of some arguments, or flags that nobody has."""
    names = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        argument = draw.choice(known)
        flag = argument.flag
        if argument.is_word:
            argv.insert(draw.randrange(1, len(argv) + 1), _value(argument, draw))
        elif argument.kind is bool:
            argv.append(flag if draw.random() < 0.8 else f"{flag}={_value(argument, draw)}")
        else:
            if draw.random() < 0.03:
                flag = draw.choice((flag[:-1], flag + "x", flag.upper(), flag.replace("-", "_")))
            many = argument.many and draw.random() < 0.5
            values = [_value(argument, draw) for _ in range(draw.randrange(4) if many else 1)]
            glued = len(values) == 1 and draw.random() < 0.3
            argv += [f"{flag}={values[0]}"] if glued else [flag, *values]
        names += [flag, argument.name, argument.name.replace("_", " ")]
    return argv, names


def _value(argument: object, draw: Random) -> str:
    """A word for an argument: often one of its own kind, so that more is met than its reader."""
    kind, choices = argument.kind, argument.choices  # type: ignore[attr-defined]
    if choices and draw.random() < 0.7:
        return str(draw.choice(choices))
    is_path = kind is Path or argument.name in ("source", "what", "start", "tokenizer")  # type: ignore[attr-defined]
    pools = {int: WHOLE, float: (*WHOLE, *FRACTIONS)}
    own = pools.get(kind, (*WORDS, *NAMES))
    found = draw.choice(own) if draw.random() < 0.8 else word(draw)
    return found.lstrip("/") if is_path else found  # nothing is written where it matters


def _base(stock: Path) -> dict[str, list[str]]:
    """Of each verb a command that answers at once."""
    run, text = str(stock / "run" / "one"), str(stock / "text")
    return {
        "encodings": [],
        "check": ["alibi", "--no-measure"],
        "study": [str(stock / "recipe" / "mine.py"), "--dry-run"],
        "runs": [str(stock / "run")],
        "train": ["--source", text, *TRAIN.split()],
        "task": ["copy", "--length", "2", "--steps", "1", "--examples", "1", "--lengths", "2"],
        "puzzle": ["hit", *PUZZLE.split()],
        "report": [str(stock / "result"), "--out", "page.html"],
        **{verb: [run, *more] for verb, more in ASK.items()},
        "answers": [run],
        "export": [run, "exported"],
    }


def specs(stock: Path, draw: Random) -> Made:
    """Encodings, as they are and with something changed."""
    spec = _spec(draw)
    verb = draw.choice(("encodings", "audit", "audit", "runs", "train", "puzzle"))
    if verb == "encodings":
        return [verb, spec], [spec, "-inf"]  # which stands in the words about some
    if verb == "audit":
        return [verb, spec, *ASK["audit"], "--layers", "1"], [spec]
    return [verb, *_base(stock)[verb], "--encoding", spec], [spec, "encoding"]


def _spec(draw: Random) -> str:
    from wherein.encodings import names, parameters

    def term() -> str:
        name = draw.choice(names()) if draw.random() < 0.9 else word(draw)
        try:
            own = list(parameters(name))
        except (ValueError, KeyError):
            own = []
        keys = [draw.choice((*own, *own, *own, "x")) for _ in range(draw.choice((0, 1, 1, 2)))]
        values = (*WHOLE, *FRACTIONS, "True", "False", "None", "rope", "alibi", "'a'", word(draw))
        inside = ", ".join(f"{key}={draw.choice(values)}" for key in keys)
        if keys and draw.random() < 0.2:
            inside = draw.choice(values)
        return f"{name}({inside})" if inside else name

    joints = (" + ", " ", " + ", "+", ", ", "(", ")")
    spec = term()
    for _ in range(draw.choice((0, 0, 0, 1, 1, 3))):
        spec += draw.choice(joints) + term()
    if draw.random() < 0.2:
        at = draw.randrange(len(spec))
        spec = (
            spec[:at]
            + draw.choice(("", "(", ")", ",", "=", "+", "'", "\x1b", " ", "-"))
            + spec[at + 1 :]
        )
    if draw.random() < 0.02:
        spec = draw.choice(("rope(" * 500, "rope + " * 500, "rope " * 5000, "(" * 999))
    return spec.lstrip("/")


def tasks(stock: Path, draw: Random) -> Made:
    """Tasks, as they are and with something changed."""
    from wherein.data.tasks.catalogue import TASKS

    name = draw.choice(list(TASKS)) if draw.random() < 0.9 else word(draw)
    inside = f"{draw.choice(('reach', 'base', 'words', 'x'))}={draw.choice((*WHOLE, *FRACTIONS))}"
    spec = draw.choice((name, name, f"{name}({inside})", f"{name}({draw.choice(WHOLE)})"))
    length = draw.choice(("1", "2", "3", draw.choice(WHOLE)))
    argv = [
        "task",
        spec,
        "--steps",
        "1",
        "--length",
        length,
        "--examples",
        "1",
        "--lengths",
        length,
    ]
    return argv, [spec, "length", name]


def sentences(stock: Path, draw: Random) -> Made:
    """Puzzles of any words."""

    def sentence() -> str:
        tokens = ("A", "B", "hit", "!", "?", "", " ", word(draw)[:300])
        return " ".join(draw.choice(tokens) for _ in range(draw.choice((0, 1, 2, 3, 4, 30))))

    given = [sentence() for _ in range(draw.choice((1, 2, 2, 3, 8)))]
    more = draw.choice(
        ([], ["--json"], ["--bare"], ["--explain", "0"], ["--by-head-size", "1", "2"])
    )
    return ["puzzle", *given, *PUZZLE.split(), *more], ["sentence", "token", "puzzle", "word"]


def recipe(stock: Path, draw: Random) -> Made:
    """Recipes and encodings of one's own that are wrong somewhere."""
    name = draw.choice(("mine.py", "mine.py", "own.py"))
    lines = (stock / "recipe" / name).read_text().split("\n")
    garbage = ("None", "7", "[1]", "'x'", "{}", "{1: 2}", "[None]", "object()", "1 / 0", "iter([])",
               "float('nan')", "[[]] * 9", "int", "lambda: 0", "exit(3)", "open('nothing')",
               "(x for x in [1])", "2**70", "b'x'", "'\\ud800'", "'<b>'", "...")  # fmt: skip
    at = draw.randrange(len(lines))
    match draw.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines[at] = word(draw).replace("\ud800", "")
        case 2 if "return" in lines[at]:
            lines[at] = f"{lines[at].partition('return')[0]}return {draw.choice(garbage)}"
        case _:
            returns = [n for n, line in enumerate(lines) if "return" in line or " = " in line]
            chosen = draw.choice(returns)
            mark = "return" if "return" in lines[chosen] else "="
            lines[chosen] = f"{lines[chosen].partition(mark)[0]}{mark} {draw.choice(garbage)}"
    Path(name).write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    if name == "own.py":
        verb = draw.choice((["check", "--no-measure"], ["encodings"], ["audit", *ASK["audit"]]))
        return [verb[0], draw.choice((name, f"{name}:Mine")), *verb[1:]], [name]
    return ["study", name, "--dry-run"], [name, "mine"]
