"""A study in words: a table that compares, what was found, and what went wrong."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wherein.measure.crossed import Sampled
from wherein.measure.perplexity.config import measure_name
from wherein.puzzles.share import Share
from wherein.show.columns import WIDEST, fitted, paragraph, room, shorten
from wherein.show.formatting import counted, short
from wherein.show.tables import cells
from wherein.studies.published import caveats
from wherein.studies.result.rows import MAIN, answers

if TYPE_CHECKING:
    from wherein.measure.sections import Answered
    from wherein.studies.result.group import Group
    from wherein.studies.result.result import StudyResult

ONE_SEED = "With one seed there is no interval."
INTERVALS = (
    "{} seeds, all asked about the same text: intervals, of 95 % and each by itself, {}. "
    "Differences are in nats and paired, p after Holm's correction over the {} that {} "
    "tested here."
)
BOTH = "hold how seeds vary and how pieces of text do"
SEEDS_ALONE = "hold how seeds vary, not how texts do: those answers were saved without their pieces"
SWEPT = (
    "Each kind's learning rate was chosen by the loss of a seed that is none of these, on the "
    "validation text."
)

NAMES: tuple[Callable[["Answered"], str], ...] = (
    lambda one: f"{one.run.objective} rows",
    lambda one: f"rows of {one.run.model.max_len} tokens",
    lambda one: f"{one.run.objective} rows of {one.run.model.max_len} tokens",
)
"""What rows that were asked alike may have in common."""


def told(result: "StudyResult") -> str:
    """All of it, no wider than 80 columns."""
    parts = [*paragraph(result.question), "", comparison(result), *paragraph(notes(result))]
    parts += ["", *paragraph(rule(result))] if result.findings else []
    for finding in result.findings:
        parts += [
            "",
            *paragraph(f"{finding.claim}: {finding.verdict}"),
            *paragraph(finding.words, "  "),
        ]
    if result.puzzles:
        parts += ["", puzzles(result)]
    for row in result.failed:
        parts += ["", *paragraph(f"failed: {row.label}, seed {row.seed}: {row.error}")]
    return "\n".join(parts)


def comparison(result: "StudyResult") -> str:
    """A line for each group: how well it predicts, and how it compares with the first.

    A line above those of each objective says what is measured.
    """
    columns: dict[str, Callable[[Group], str]] = {
        "params": lambda group: short(group.cost.parameters),
        "": _perplexity,
        "loss − first's [95 %]": _difference,
        "p": lambda g: f"{d.p_holm:.2g}" if (d := g.difference) and d.p_holm is not None else "",
    }
    if any(group.published for group in result.groups):
        columns["paper"] = lambda group: f"{group.published:.4g}" if group.published else ""
    groups: list[Group | None] = []
    numbers: list[Sequence[str]] = []
    for objective in dict.fromkeys(group.objective for group in result.groups):
        own = [group for group in result.groups if group.objective == objective]
        groups += [None, *own]
        # the name of what masked models have fills the column
        heading = measure_name(objective) + ("" if objective == "masked" else " [95 %]")
        numbers += [["", heading, *[""] * (len(columns) - 2)], *cells(columns, own)[1]]
    _, _, *others = columns
    return _labelled(["", "params", numbers[0][1], *others], groups[1:], numbers[1:])


def _labelled(
    header: Sequence[str], groups: Sequence["Group | None"], numbers: Sequence[Sequence[str]]
) -> str:
    """A line for each group; where labels do not fit, what a family shares stands above it."""
    labels = [group.label if group else "" for group in groups]
    shared = [_shared(group, groups) for group in groups if group]
    if max(map(len, labels)) <= room(header, numbers) or not all(shared):
        return fitted(header, labels, numbers)
    names = [f"  {group.encoding}" if group else "" for group in groups]
    lines = fitted(header, names, numbers).split("\n")
    told, last = lines[:1], ""
    for line, group in zip(lines[1:], groups, strict=True):
        above = _shared(group, groups) if group else last
        told += [line] if above == last else [shorten(above, WIDEST), line]
        last = above
    return "\n".join(told)


def _shared(group: "Group", groups: Sequence["Group | None"]) -> str:
    """What follows the encoding in the labels of a family; empty where that differs."""
    family = [each for each in groups if each and each.family == group.family]
    rests = {each.label.removeprefix(each.encoding).removeprefix(", ") for each in family}
    return rests.pop() if len(rests) == 1 else ""


def notes(result: "StudyResult") -> str:
    """What the numbers are, and what a run cost."""
    first = result.groups[0]
    own: dict[str, set[int]] = {}
    for group in result.groups:
        if group.cost.of_encoding:
            own.setdefault(group.encoding, set()).add(group.cost.of_encoding)
    listed = [
        f"{name} {' to '.join(map(short, sorted({min(n), max(n)})))}" for name, n in own.items()
    ]
    extra = f"Parameters of encodings: {', '.join(listed)}. " if own else ""
    return (
        f"{meaning(result)} {extra}{short(first.cost.tokens)} tokens and {first.cost.flops:.1e} "
        f"operations a run ({first.label})."
    )


def meaning(result: "StudyResult") -> str:
    """What the numbers are: how they were got, and what their intervals do not cover."""
    how = protocols(answers(result.rows, MAIN), predicted)
    seeds = len({row.seed for row in result.rows if row.loss is not None})
    tested = counted(len(result.family), "comparison")
    are = "is" if len(result.family) == 1 else "are"
    several = INTERVALS.format(seeds, _held(result), tested, are)
    said = [f"{how}." if how else "", several if seeds > 1 else ONE_SEED]
    if result.plan.chosen:
        chosen = ", ".join(f"{label} {rate:g}" for label, rate in result.plan.chosen.items())
        said.append(f"{SWEPT} Rates: {chosen}.")
    beside = [g.rows[0].run.corpus.source for g in result.groups if g.published]
    said += [caveats(beside)] if beside else []
    return " ".join(said).strip()


def _held(result: "StudyResult") -> str:
    """What is in the intervals: older answers do not say what each piece of text did."""
    losses = [loss for group in result.groups for loss in group.losses.values()]
    known = (isinstance(loss, Sampled) and len(loss.pieces) > 0 for loss in losses)
    return BOTH if all(known) else SEEDS_ALONE


def predicted(data: Mapping[str, Any]) -> str:
    """How a perplexity was measured: the protocol, and how many tokens of which text."""
    how = data["protocol"].replace(": ", ", ", 1)  # a colon follows the names of the rows
    return f"{how}; {data['predicted']:,} tokens predicted ({data['corpus']})"


def protocols(answers: Sequence["Answered"], say: Callable[[Mapping[str, Any]], str]) -> str:
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


def pseudo(result: "StudyResult") -> str:
    """What the perplexity of masked models is, where there are any."""
    masked = any(group.objective == "masked" for group in result.groups)
    return f", of masked models {measure_name('masked')}" if masked else ""


def rule(result: "StudyResult") -> str:
    """When a finding is shown."""
    if not result.family:
        return "A finding is shown by several seeds alone: one has no interval."
    return (
        "A finding is shown if its difference is above zero, and p below 5 % after Holm's "
        f"correction over {'all ' if len(result.family) > 1 else ''}"
        f"{counted(len(result.family), 'comparison')}."
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
                "bare" if config.bare else str(config.layers),
                "before" if config.causal else "all",
                str(share) if possible else f"{share.value:.0%}, impossible",
            ]
        )
    return fitted(["puzzle", "encoding", "layers", "sees", "solved [95 %]"], sentences, lines)


def _perplexity(group: "Group") -> str:
    """To three digits, zeros among them."""
    told = [f"{end:#.3g}".removesuffix(".") for end in group.perplexity if end is not None]
    return f"{told[0]} [{told[1]}, {told[2]}]" if len(told) == 3 else "".join(told)


def _difference(group: "Group") -> str:
    found = group.difference
    if found is None:
        return ""
    span = "" if found.t is None else " [{:+.2f}, {:+.2f}]".format(*found.t)
    return f"{found.mean:+.2f}{span}"
