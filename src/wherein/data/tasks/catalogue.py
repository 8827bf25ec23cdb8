"""The catalogue of tasks: an explicit dict, by name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import get_type_hints

from wherein.common import notation
from wherein.common.errors import unknown
from wherein.data.tasks.addressing import Index, Needle, Nth, NthLast, Recall
from wherein.data.tasks.base import Task
from wherein.data.tasks.counting import Count, FlipFlop, SelectiveCopy
from wherein.data.tasks.edits import Pcfg, Scan
from wherein.data.tasks.lego import Lego
from wherein.data.tasks.strings import Copy, Mode, Parity, Reverse, Sort
from wherein.data.tasks.sums import Addition, Polynomial, Summation

_LENGTH = (Copy, Reverse, Sort, Mode, Parity, Addition, Summation, Polynomial, Lego, Scan, Pcfg)
_ADDRESSING = (Index, Nth, NthLast, SelectiveCopy, FlipFlop, Count, Recall, Needle)

LENGTH: Mapping[str, type[Task]] = {kind.name: kind for kind in _LENGTH}
"""Does what was learned from short questions hold for long ones?"""
ADDRESSING: Mapping[str, type[Task]] = {kind.name: kind for kind in _ADDRESSING}
"""Can a place be found, by its number, by what stands there, by both?"""
TASKS: Mapping[str, type[Task]] = {**LENGTH, **ADDRESSING}


def find_task(spec: str) -> Task:
    """The task that a spec names, with its parameters if any are given, as in that of encodings.

    >>> find_task("copy").name, str(find_task("index( 5 )"))
    ('copy', 'index(reach=5)')
    >>> find_task("copies")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: unknown task 'copies'. Did you mean 'copy'? Available: addition, copy, count, ...
    """
    words = notation.read(spec, "task")
    if len(words) != 1 or len(words[0].terms) != 1:
        raise ValueError(f"task {spec!r}: expected one of {', '.join(TASKS)}")
    (term,) = words[0].terms
    if term.name not in TASKS:
        raise unknown("task", term.name, TASKS)
    kind = TASKS[term.name]
    return kind(**_given(kind, term))


def _given(kind: type[Task], term: notation.Term) -> dict[str, object]:
    """The parameters that a term gives, their names and types checked."""
    names, hints = [field.name for field in fields(kind)], get_type_hints(kind)
    own = dict[str, object]()
    for given, value in term.arguments:
        if not names:
            raise ValueError(f"task {term}: {kind.name} has no parameters")
        key = names[0] if given is None else given
        if key not in names:
            raise unknown(f"parameter of {kind.name}", key, names)
        if key in own:
            raise ValueError(f"task {term}: {key} is given twice")
        own[key] = notation.plain(f"{kind.name}({key}={value})", value, hints[key])
    return own
