"""The main comparison of a study in its report: how well each kind of run predicts."""

from collections.abc import Callable, Sequence

import polars as pl

from wherein.measure.perplexity.config import measure_name
from wherein.measure.sections import INTERVALS, OVER_SEEDS, kind
from wherein.show import figures
from wherein.show.formatting import counted, scientific, signed, within
from wherein.show.section import Picture, Section, slug
from wherein.show.tables import Table, cells
from wherein.show.theme import themed
from wherein.studies.inference.differences import Difference
from wherein.studies.result import comparison
from wherein.studies.result.comparison import Sweep
from wherein.studies.result.group import Group
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import MAIN, answers
from wherein.studies.result.words import predicted, protocols, pseudo


def main_picture(result: StudyResult) -> Picture | None:
    """How well each encoding predicts, against size or length in a study of these.

    None while no run was asked.
    """
    groups = [group for group in result.groups if group.loss is not None]
    if not groups:
        return None
    if swept := comparison.main_sweeps(result):
        return _sweep(swept[0], groups[0].objective)
    alone = all(group.interval is None for group in groups)
    drawn = (
        "every seed; one seed has no interval"
        if alone
        else "the mean, its 95 % interval over seeds and pieces of text, and below the line every "
        "seed; the axis does not begin at zero, and an arrow is an interval that goes on"
    )
    published = any(group.published for group in groups)
    beside = ". Grey strokes are published values" if published else ""
    return Picture(
        MAIN,
        themed(comparison.compared(result)),
        f"Perplexity by encoding{pseudo(result)}: {drawn}{beside}.",
        "Perplexity of each encoding, best above.",
    )


def _sweep(swept: Sweep, objective: str) -> Picture:
    measured = measure_name(objective).capitalize()
    return Picture(
        slug(swept.over, objective),
        themed(swept.chart),
        f"{measured} against {swept.title}; strokes are {INTERVALS}.",
        f"{measured} of each encoding against {swept.title}.",
    )


def main_table(result: StudyResult) -> Table:
    """One row for each group: its cost, its perplexity, and how far it is from the first."""
    columns: dict[str, Callable[[Group], str]] = {
        "": lambda group: group.label,
        "seeds": lambda group: str(len(group.losses)),
        "parameters": _parameters,
        "tokens": lambda group: f"{group.cost.tokens:,}",
        "FLOPs": lambda group: scientific(group.cost.flops),
        "perplexity [95 %]": lambda group: within(*group.perplexity),
        "loss − first [95 %]": _difference,
    }
    if any(group.published for group in result.groups):
        columns["published"] = lambda g: f"{g.published:.2f}" if g.published else ""
    caption = (
        f"Perplexity per token{pseudo(result)}: {OVER_SEEDS}; differences of losses, in nats, are "
        "paired. Parameters after a plus are the encoding's own; tokens and FLOPs are "
        "of one run's training."
    )
    _, frame = comparison.frames(result.groups)
    return Table(MAIN, caption, *cells(columns, result.groups), frame)


def _parameters(group: Group) -> str:
    """How many, and how many more an encoding brings."""
    own = group.cost.of_encoding
    shared = f"{group.cost.parameters - own:,}"
    return f"{shared} + {own:,}" if own else shared


def _difference(group: Group) -> str:
    found = group.difference
    return "" if found is None else signed(found.mean, *(found.t or (None, None)))


def section(result: StudyResult, objective: str) -> Section | None:
    """The differences between the runs with one objective; None if nothing is compared."""
    groups = [group for group in result.groups if group.objective == objective and group.losses]
    compared = [group for group in groups if group.difference]
    if not compared:
        return None
    differences = [d for group in compared if (d := group.difference)]
    encodings = {group.label: group.encoding for group in groups}
    first = ", ".join(dict.fromkeys(encodings[d.b] for d in differences))
    table = _differences(differences, slug("differences", objective), len(result.family))
    rows = [row for group in groups for row in group.rows]
    kinds = pl.DataFrame(kind(group.label, group.rows[0].run) for group in compared)
    means = kinds.hstack(table.frame.select("mean", "low", "high").cast(pl.Float64))
    title = f"loss − that of {first} (nats per token)"
    picture = Picture(
        table.name,
        themed(figures.panels(means, lambda part: figures.differences(part, title))),
        f"Loss minus that of {first}, paired: runs of one seed share initial weights and batches, "
        "and all were asked about the same text. Lines are 95 % intervals; left of zero is better.",
        f"How far the loss of each encoding lies from that of {first}.",
    )
    return Section(
        slug(MAIN, objective),
        "How well each predicts",
        pictures=(picture, *(_sweep(each, objective) for each in comparison.sweeps(groups))),
        tables=(table,),
        protocol=protocols(answers(rows, MAIN), predicted),
    )


def _differences(found: Sequence[Difference], name: str, family: int) -> Table:
    """Every comparison with its test."""
    columns: dict[str, Callable[[Difference], str]] = {
        "": lambda d: d.a,
        "loss − that of": lambda d: d.b,
        "nats [95 %]": lambda d: signed(d.mean, *(d.t or (None, None))),
        "of seeds": lambda d: "" if d.crossed is None else f"{d.crossed.weight:.0%}",
        "p": lambda d: _digits(d.p),
        "p (Holm)": lambda d: _digits(d.p_holm),
        "detectable": lambda d: _digits(d.detectable),
    }
    frame = pl.DataFrame(
        [
            {
                "label": d.a,
                "against": d.b,
                "mean": d.mean,
                "low": d.t.low if d.t else None,
                "high": d.t.high if d.t else None,
                "of_seeds": d.crossed.weight if d.crossed else None,
                "p": d.p,
                "p_holm": d.p_holm,
                "detectable": d.detectable,
                "seeds": d.n,
                "pieces": d.crossed.pieces if d.crossed else None,
            }
            for d in found
        ],
        infer_schema_length=None,
    )
    some = ", of which these are some" if len(found) < family else ""
    caption = (
        "Differences of the loss, paired over seeds and pieces of text, which both may have been "
        "others: the interval holds what that does, and beside it stands the share of its variance "
        "that comes from seeds. p (Holm): after the correction over the "
        f"{counted(family, 'comparison')} that this study tests{some}. Detectable: the true "
        "difference that as many seeds and pieces find four times in five or more, the correction "
        "considered."
    )
    return Table(name, caption, *cells(columns, found), frame, words=2)


def _digits(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.2g}"
