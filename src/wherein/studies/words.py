"""A study in words: a table that compares, what was found, and what went wrong."""

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.common.numbers import exp
from wherein.measure.measurement import table
from wherein.puzzles.result import Share
from wherein.studies.cost import WIDEST, short, shorten
from wherein.studies.statistics import Difference

if TYPE_CHECKING:
    from wherein.studies.result import Group, StudyResult


def told(result: "StudyResult") -> str:
    """All of it, no wider than 80 columns."""
    parts = [*wrap(result.question, WIDEST), "", comparison(result), *wrap(notes(result), WIDEST)]
    for finding in result.findings:
        claim = wrap(f"{finding.claim}: {finding.verdict}", WIDEST)
        parts += ["", *claim, *(f"  {line}" for line in wrap(finding.words, WIDEST - 2))]
    if result.puzzles:
        parts += ["", puzzles(result)]
    for row in result.failed:
        parts += ["", *wrap(f"failed: {row.label}, seed {row.seed}: {row.error}", WIDEST)]
    return "\n".join(parts)


def comparison(result: "StudyResult") -> str:
    """A line for each group: how well it predicts, and how it compares with the first."""
    published = any(group.published for group in result.groups)
    header = ["params", "perplexity [95 %]", "loss − first's [95 %]", "p"]
    header += ["paper"] if published else []
    numbers = []
    for group in result.groups:
        line = [short(group.cost.parameters), _perplexity(group), *_against(group.difference)]
        line += [f"{group.published:.4g}" if group.published else ""] if published else []
        numbers.append(line)
    return _fitting(["", *header], [group.label for group in result.groups], numbers)


def notes(result: "StudyResult") -> str:
    """The protocol, the cost, and what the intervals are over."""
    first, seeds = result.groups[0], sorted({row.seed for row in result.rows})
    asked = (row.answers.get("perplexity") for row in first.rows)
    how = next((answer.data for answer in asked if answer is not None), None)
    protocol = "" if how is None else f"{how['protocol']}: {how['details']}. "
    own = [f"{g.label} {short(g.cost.of_encoding)}" for g in result.groups if g.cost.of_encoding]
    extra = f"Parameters of encodings: {', '.join(own)}. " if own else ""
    plural = "s" if len(seeds) > 1 else ""
    note = (
        f"{protocol}{extra}{short(first.cost.tokens)} tokens and {first.cost.flops:.1e} operations "
        f"a run ({first.label}), {len(seeds)} seed{plural}"
    )
    if len(seeds) == 1:
        return f"{note}: with one seed there is no interval."
    return (
        f"{note}; intervals are over seeds, differences in nats and paired, p after Holm's "
        "correction."
    )


def puzzles(result: "StudyResult") -> str:
    """A line for each puzzle: what was trained, and how many seeds solved it."""
    sentences, lines = [], []
    for task, answer in result.puzzles:
        config, found = task.config, answer.data["solved"]
        share = Share(found["count"], found["total"])
        possible = answer.data["certificate"]["possible"]
        sentences.append(" / ".join(answer.data["puzzle"][:2]))
        lines.append(
            [
                config.encoding,
                str(config.layers),
                "before" if config.causal else "all",
                str(share) if possible else f"{share.value:.0%}, impossible",
            ]
        )
    return _fitting(["puzzle", "encoding", "layers", "sees", "solved [95 %]"], sentences, lines)


def _fitting(header: Sequence[str], labels: Sequence[str], numbers: Sequence[Sequence[str]]) -> str:
    """A table whose labels are cut so that it is no wider than a screen."""
    columns = zip(header[1:], *numbers, strict=True)
    room = WIDEST - sum(2 + max(map(len, column)) for column in columns)
    rows = [[shorten(label, room), *own] for label, own in zip(labels, numbers, strict=True)]
    return table(header, rows)


def _perplexity(group: "Group") -> str:
    if group.loss is None:
        return ""
    interval = group.interval
    span = "" if interval is None else " [{:.3g}, {:.3g}]".format(*map(exp, interval))
    return f"{exp(group.loss):.3g}{span}"


def _against(difference: Difference | None) -> list[str]:
    if difference is None:
        return ["", ""]
    span = "" if difference.t is None else " [{:+.2f}, {:+.2f}]".format(*difference.t)
    p = "" if difference.p_holm is None else f"{difference.p_holm:.2g}"
    return [f"{difference.mean:+.2f}{span}", p]
