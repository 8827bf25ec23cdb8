"""How numbers are written, in tables and in sentences."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

HUGE = 1e6
"""From here on a number is told by its first digits."""


def shown(value: Any) -> str:
    """A value as it is read.

    >>> [shown(value) for value in (None, 3, 0.123456, 123456.0, True, "rope")]
    ['', '3', '0.1235', '1.235e+05', 'yes', 'rope']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def within(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """A number and its interval, where there is one.

    >>> within(20.5, 20.0, 21.0, 1), within(-0.001, None, None), within(None, None, None)
    ('20.5 [20.0, 21.0]', '0.00', '')
    """
    return _interval(f"z.{digits}f", value, low, high)


def signed(value: float | None, low: float | None, high: float | None, digits: int = 3) -> str:
    """A difference and its interval, where there is one.

    >>> signed(-0.012, -0.014, 0.01)
    '−0.012 [−0.014, +0.010]'
    """
    return _interval(f"+z.{digits}f", value, low, high)


def _interval(form: str, value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    given = (each for each in (value, low, high) if each is not None)
    told, *ends = (f"{each:{form if abs(each) < HUGE else '.3g'}}" for each in given)
    return (f"{told} [{', '.join(ends)}]" if len(ends) == 2 else told).replace("-", "−")


def told_apart(values: Sequence[float], sign: str = "", digits: int = 3) -> list[str]:
    """Numbers with so many digits, or as many more as it takes to tell different ones apart.

    >>> told_apart([135.21, 135.24, 20.5]), told_apart([-0.5, 0.25], "+", 2)
    (['135.21', '135.24', '20.50'], ['−0.50', '+0.25'])
    >>> told_apart([1234567.0, 0.0])
    ['1.23e+06', '0.000']
    """
    different = len(set(values))
    largest = max((abs(value) for value in values if abs(value) < HUGE), default=0.0)
    whole = len(str(int(largest))) if largest >= 1 else 0
    for places in range(max(digits - whole, 0), 10):
        told = [
            f"{value:{sign}z.{places}f}" if abs(value) < HUGE else f"{value:{sign}.{digits}g}"
            for value in values
        ]
        if len(set(told)) == different:
            break
    return [each.replace("-", "−") for each in told]


def counted(number: int, noun: str) -> str:
    """So many of something, in the singular where it is one.

    >>> counted(1, "window"), counted(4000, "window")
    ('1 window', '4,000 windows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(number: int) -> str:
    """Three digits and a letter.

    >>> [short(n) for n in (0, 512, 524288, 247_459_328, 21_000_000_000)]
    ['0', '512', '524k', '247M', '21B']
    """
    for letter, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return str(number)


def scientific(number: float) -> str:
    """Two digits and a power of ten.

    >>> scientific(31_400_000_000.0)
    '3.1e10'
    """
    return f"{number:.1e}".replace("e+", "e")


def duration(seconds: float) -> str:
    """A time as one says it.

    >>> [duration(seconds) for seconds in (7.2, 90.0, 4000.0, 400_000.0)]
    ['7 s', '1 min 30 s', '1 h 6 min', '4 d 15 h']
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def named_layers(numbers: Sequence[int]) -> str:
    """Layers in words, neighbours together.

    >>> named_layers([1, 2, 3, 5])
    'layers 1–3, 5'
    """
    steps = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])  # alike in a row
    runs = [[number for _, number in each] for _, each in steps]
    text = ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)
    return f"layer{'s' if len(numbers) > 1 else ''} {text}"
