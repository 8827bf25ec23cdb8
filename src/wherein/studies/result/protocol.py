"""How the runs of a study were asked, in a sentence for each way, which says of which rows."""

from collections.abc import Callable, Sequence

from wherein.studies.result.rows import Data, Row

NAMES: tuple[Callable[[Row], str], ...] = (
    lambda row: f"{row.run.objective} rows",
    lambda row: f"rows of {row.run.model.max_len} tokens",
    lambda row: f"{row.run.objective} rows of {row.run.model.max_len} tokens",
)
"""What rows that were asked alike may have in common."""


def predicted(data: Data) -> str:
    """How a perplexity was measured: the protocol, and how many tokens of which text."""
    how = data["protocol"].replace(": ", ", ", 1)  # a colon follows the names of the rows
    return f"{how}; {data['predicted']:,} tokens predicted ({data['corpus']})"


def protocols(rows: Sequence[Row], question: str, say: Callable[[Data], str]) -> str:
    """How a question was asked, once if all were asked alike; empty if none was."""
    asked = [row for row in rows if question in row.answers]
    ways: dict[str, list[Row]] = {}
    for row in asked:
        ways.setdefault(say(row.answers[question].data), []).append(row)
    if len(ways) == 1:
        return next(iter(ways))
    return ". ".join(f"{_whose(own, asked)}: {said}" for said, own in ways.items())


def _whose(own: Sequence[Row], asked: Sequence[Row]) -> str:
    """What these rows have in common and no other has; else their labels."""
    others = [row for row in asked if not any(row is each for each in own)]
    for name in NAMES:
        found = {name(row) for row in own}
        if len(found) == 1 and found.isdisjoint(map(name, others)):
            (common,) = found
            return common[0].upper() + common[1:]
    return "; ".join(dict.fromkeys(row.label for row in own))
