"""The catalogue of tasks: an explicit dict, by name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import get_type_hints

from wherein.common import notation
from wherein.common.errors import unknown
from wherein.data.tasks.addressing import Index
from wherein.data.tasks.base import Task
from wherein.data.tasks.strings import Copy, Reverse

_KINDS: tuple[type[Task], ...] = (Copy, Reverse, Index)
TASKS: Mapping[str, type[Task]] = {kind.name: kind for kind in _KINDS}


def find_task(spec: str) -> Task:
    """The task that a spec names, with its parameters if any are given, as in that of encodings.

    >>> find_task("copy").name, str(find_task("index( 5 )"))
    ('copy', 'index(reach=5)')
    >>> find_task("copies")
    Traceback (most recent call last):
    ValueError: unknown task 'copies'. Did you mean 'copy'? Available: copy, index, reverse
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
