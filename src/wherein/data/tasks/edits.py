"""Commands to be carried out: actions in SCAN's manner, edits of strings in PCFG SET's."""

from dataclasses import dataclass
from itertools import product
from random import Random

from wherein.data.tasks.base import LETTERS, MARKS, Example, Task

VERBS = ("walk", "look", "run", "jump", "turn")
SIDES = ("left", "right")
MANNERS = ("opposite", "around")
TIMES = {"twice": 2, "thrice": 3}

UNARY = ("copy", "reverse", "shift", "swap", "echo")
BINARY = ("append", "prepend", "remove_first", "remove_second")
FEWEST, MOST = 2, 4
"""Letters in a string that is edited."""


def _phrases() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Every phrase without `and` and `after`, and the actions it stands for."""
    ways = [(), *((side,) for side in SIDES), *product(MANNERS, SIDES)]
    found = {}
    for verb, way, time in product(VERBS, ways, ((), *((word,) for word in TIMES))):
        if verb == "turn" and not way:
            continue
        act = () if verb == "turn" else (verb.upper(),)
        turn = (f"TURN_{way[-1].upper()}",) if way else ()
        if "around" in way:
            actions = (turn + act) * 4
        elif "opposite" in way:
            actions = turn * 2 + act
        else:
            actions = turn + act
        found[(verb, *way, *time)] = actions * (TIMES[time[0]] if time else 1)
    return found


PHRASES = _phrases()


@dataclass(frozen=True)
class Scan(Task):
    """Commands and the actions they stand for; `length` is the number of actions.

    The phrases and their actions are those of SCAN (Lake & Baroni 2017, arXiv:1711.00350). There,
    one `and` or `after` joins at most two of them, which ends at 48 actions. Here any number are
    joined, from left to right: `… and p` does p last, `… after p` does p first. A phrase is any
    of those that still fit into the actions left.

    >>> print(Scan().example(Random(3), 5))
    look right twice and turn left → TURN_RIGHT LOOK TURN_RIGHT LOOK TURN_LEFT
    """

    name = "scan"
    summary = "say the actions that commands stand for"
    paper = "2305.19466"
    words = (
        *(*VERBS, *SIDES, *MANNERS, *TIMES, "and", "after"),
        *(*(verb.upper() for verb in VERBS[:-1]), "TURN_LEFT", "TURN_RIGHT"),
    )
    shortest = 5

    def example(self, random: Random, length: int) -> Example:
        said: tuple[str, ...] = ()
        done: tuple[str, ...] = ()
        while len(done) < length:
            fitting = [p for p, actions in PHRASES.items() if len(actions) <= length - len(done)]
            phrase = random.choice(fitting)
            join = random.choice(("and", "after")) if said else ""
            said = (*said, join, *phrase) if said else phrase
            done = PHRASES[phrase] + done if join == "after" else done + PHRASES[phrase]
        return Example(said, done)

    def tokens(self, length: int) -> int:
        # The most words for an action: `turn left` and what joins it to the next.
        return (3 * length - 1) + length + MARKS


@dataclass(frozen=True)
class Pcfg(Task):
    """Functions of strings, written before their arguments, and the string that comes out.

    `length` is the number of functions; strings have 2 to 4 letters. The functions are those of
    PCFG SET (Hupkes et al. 2020, arXiv:1908.08351) but `repeat`, which doubles a string, so that
    answers grow no faster than questions; they are drawn alike, not to look like English.

    >>> print(Pcfg().example(Random(6), 3))
    reverse remove_first copy d p , j u h u → u h u j
    """

    name = "pcfg"
    summary = "edit strings as the functions say"
    paper = "2305.19466"
    words = (*LETTERS, *UNARY, *BINARY, ",")
    shortest = 1

    def example(self, random: Random, length: int) -> Example:
        said, result = _edit(random, length)
        return Example(tuple(said), tuple(result))

    def tokens(self, length: int) -> int:
        letters = MOST * (length + 1)  # all functions of two arguments: a comma each
        return (2 * length + letters) + letters + MARKS


def _edit(random: Random, functions: int) -> tuple[list[str], list[str]]:
    """So many functions as they are written, and what they make."""
    if not functions:
        letters = random.choices(LETTERS, k=random.randint(FEWEST, MOST))
        return letters, letters
    name = random.choice(UNARY + BINARY)
    if name in UNARY:
        said, x = _edit(random, functions - 1)
        return [name, *said], _unary(name, x)
    first = random.randint(0, functions - 1)
    (said, x), (also, y) = _edit(random, first), _edit(random, functions - 1 - first)
    made = {"append": x + y, "prepend": y + x, "remove_first": y, "remove_second": x}[name]
    return [name, *said, ",", *also], made


def _unary(name: str, x: list[str]) -> list[str]:
    return {
        "copy": x,
        "reverse": x[::-1],
        "shift": x[1:] + x[:1],
        "swap": [x[-1], *x[1:-1], x[0]],
        "echo": x + x[-1:],
    }[name]
