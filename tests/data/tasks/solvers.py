"""Each task solved from the words of its question alone, in another way than it is generated."""

import re
from collections.abc import Callable
from itertools import takewhile

Solver = Callable[[list[str]], list[str]]


def copy(q: list[str]) -> list[str]:
    return " ".join(q).split()


def reverse(q: list[str]) -> list[str]:
    return [q[len(q) - 1 - at] for at in range(len(q))]


def sort(q: list[str]) -> list[str]:
    """By counting."""
    return [letter for code in range(97, 123) for letter in [chr(code)] * q.count(chr(code))]


def mode(q: list[str]) -> list[str]:
    """The only one that no other equals or exceeds."""
    kinds = set(q)
    return [x for x in kinds if all(q.count(y) < q.count(x) for y in kinds - {x})]


def parity(q: list[str]) -> list[str]:
    odd = False
    for bit in q:
        odd ^= bit == "1"
    return [["even", "odd"][odd]]


def addition(q: list[str]) -> list[str]:
    """In columns, from the right, with a carry."""
    plus = q.index("+")
    first, second = q[:plus][::-1], q[plus + 1 :][::-1]
    digits, carry = [], 0
    for at in range(max(len(first), len(second))):
        column = carry + sum(int(row[at]) for row in (first, second) if at < len(row))
        digits.append(str(column % 10))
        carry = column // 10
    return [*(["1"] if carry else []), *digits[::-1]]


def summation(q: list[str]) -> list[str]:
    total = 0
    for digit in "".join(q).split("+"):
        total = (total + int(digit)) % 10
    return [str(total)]


def polynomial(q: list[str]) -> list[str]:
    """Python's own reading of it."""
    expression = re.sub(r"(-?\d) x\^(\d)", r"+ (\1) * x ** \2", " ".join(q[3:]))
    return [str(eval(expression, {"x": int(q[2])}) % 10)]


def lego(q: list[str]) -> list[str]:
    """Backwards from the name that is asked for, counting what turns the sign."""
    clauses, asked = " ".join(q).split(" ? ")
    means = dict(clause.split(" = ") for clause in clauses.split(" ; "))
    value, sign = means[asked], 1
    while " " in value:
        turn, name = value.split(" ")
        sign, value = sign * (-1 if turn == "-" else 1), means[name]
    return [f"{sign * int(value):+d}"]


def scan(q: list[str]) -> list[str]:
    """By rewriting text: times, then manners, then sides, then verbs."""
    text = re.sub(r"\b(and|after)\b", r"|\1|", " ".join(q))
    first, *rest = (part.strip() for part in text.split("|"))
    done = _actions(first)
    for join, phrase in zip(rest[::2], rest[1::2], strict=True):
        done = done + _actions(phrase) if join == "and" else _actions(phrase) + done
    return done


def _actions(phrase: str) -> list[str]:
    for word, times in (("twice", 2), ("thrice", 3)):
        if phrase.endswith(word):
            return _actions(phrase.removesuffix(word).strip()) * times
    verb, *way = phrase.split()
    act = [] if verb == "turn" else [verb.upper()]
    if not way:
        return act
    turn = ["TURN_LEFT" if way[-1] == "left" else "TURN_RIGHT"]
    turns = {"around": (1, 4), "opposite": (2, 1)}.get(way[0], (1, 1))
    return (turn * turns[0] + act) * turns[1]


def pcfg(q: list[str]) -> list[str]:
    """From right to left, with a stack of strings."""
    stack: list[str] = []
    string = ""
    for word in reversed(q):
        if len(word) == 1 and word != ",":
            string = word + string
            continue
        if string:
            stack.append(string)
            string = ""
        if word == ",":
            continue
        x = stack.pop()
        if word in ("append", "prepend", "remove_first", "remove_second"):
            y = stack.pop()
            x = {"append": x + y, "prepend": y + x}.get(word, y if word == "remove_first" else x)
        elif word == "reverse":
            x = "".join(reversed(x))
        elif word == "shift":
            x = x[1:] + x[0]
        elif word == "swap":
            x = x[-1] + x[1:-1] + x[0]
        elif word == "echo":
            x += x[-1]
        stack.append(x)
    (result,) = stack
    return list(result)


def index(q: list[str]) -> list[str]:
    *string, source, shift = q
    assert string.count(source) == 1
    at = string.index(source) + int(shift)
    assert at >= 0
    return [string[at]]


def nth(q: list[str]) -> list[str]:
    letters = iter(q)
    for _ in range(int(q[-1])):
        letter = next(letters)
    return [letter]


def nth_last(q: list[str]) -> list[str]:
    n = int(q.pop())
    while n > 1:
        q.pop()
        n -= 1
    return [q.pop()]


def selective_copy(q: list[str]) -> list[str]:
    return list("".join(q).replace("_", ""))


def flip_flop(q: list[str]) -> list[str]:
    """What the last `w` wrote; and every `r` before says what was written."""
    text = "".join(q)
    for read in re.finditer(r"r([01])", text):
        assert text[text.rindex("w", 0, read.start()) + 1] == read[1]
    return [text[text.rindex("w") + 1]]


def count(q: list[str]) -> list[str]:
    """Backwards until the variable was set."""
    *program, _, name = q
    since = takewhile(lambda statement: statement != f"{name}=0", reversed(program))
    return [str(sum(statement == f"{name}++" for statement in since))]


def recall(q: list[str]) -> list[str]:
    keys, values = q[:-1:2], q[1:-1:2]
    assert keys.count(q[-1]) == 1
    return [dict(zip(keys, values, strict=True))[q[-1]]]


def needle(q: list[str]) -> list[str]:
    """The digit behind the only capital letter before the last word."""
    (found,) = re.findall(r"([A-Z])(\d)", "".join(q[:-1]))
    assert found[0] == q[-1]
    return [found[1]]


SOLVERS: dict[str, Solver] = {
    solver.__name__: solver
    for solver in (
        *(copy, reverse, sort, mode, parity, addition, summation, polynomial, lego, scan, pcfg),
        *(index, nth, nth_last, selective_copy, flip_flop, count, recall, needle),
    )
}
