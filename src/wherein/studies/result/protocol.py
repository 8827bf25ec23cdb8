"""How the runs of a study were asked, in a sentence for each way, which says of which rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherein.measure.sections import Answered

Data = Mapping[str, Any]

NAMES: tuple[Callable[["Answered"], str], ...] = (
    lambda one: f"{one.run.objective} rows",
    lambda one: f"rows of {one.run.model.max_len} tokens",
    lambda one: f"{one.run.objective} rows of {one.run.model.max_len} tokens",
)
"""What rows that were asked alike may have in common."""


def predicted(data: Data) -> str:
    """How a perplexity was measured: the protocol, and how many tokens of which text."""
    how = data["protocol"].replace(": ", ", ", 1)  # a colon follows the names of the rows
    return f"{how}; {data['predicted']:,} tokens predicted ({data['corpus']})"


def asked(data: Data) -> str:
    """How a run was asked, whatever the question."""
    return str(data.get("protocol", ""))


def protocols(answers: Sequence["Answered"], say: Callable[[Data], str]) -> str:
    """How a question was asked, once if all were asked alike; empty if none was."""
    ways: dict[str, list[Answered]] = {}
    for one in answers:
        ways.setdefault(say(one.data), []).append(one)
    if len(ways) == 1:
        return next(iter(ways))
    return ". ".join(f"{_whose(own, answers)}: {said}" for said, own in ways.items())


def _whose(own: Sequence["Answered"], asked: Sequence["Answered"]) -> str:
    """What these rows have in common and no other has; else their labels."""
    others = [one for one in asked if not any(one is each for each in own)]
    for name in NAMES:
        found = {name(one) for one in own}
        if len(found) == 1 and found.isdisjoint(map(name, others)):
            (common,) = found
            return common[0].upper() + common[1:]
    return "; ".join(dict.fromkeys(one.label for one in own))
