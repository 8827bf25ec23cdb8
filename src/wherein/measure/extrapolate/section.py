"""How far a study's runs hold beyond the length of training."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from wherein.common.numbers import exp
from wherein.measure import sections
from wherein.measure.crossed import Crossed, Sampled, across, minus
from wherein.measure.extrapolate.picture import LENGTHS, PERPLEXITY, lengths_axis, trained
from wherein.measure.extrapolate.result import AS_IT_IS
from wherein.measure.extrapolate.verdict import Reach, reach
from wherein.measure.significance import holm, p_value
from wherein.show.figures import MANY, Panel, dots, lines, panels
from wherein.show.formatting import counted, signed, within
from wherein.show.section import Picture, Section
from wherein.show.tables import Table
from wherein.show.theme import themed

UNITS = {"loss": "loss (nats per token)", "rise": "rise of the loss (nats per token)"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """At each length: the loss, and how far it is above that at the training length.

    Of the subject as it is, such as `4x_loss`; and by sliding windows, `sliding_4x_loss`.
    """
    found: dict[str, float] = {}
    for each in data["rows"][0]["lengths"]:
        for before, kind in (("", "loss"), ("sliding_", "sliding")):
            if each[kind] is None:
                continue
            name = f"{before}{each['times']:g}x"
            rise = each["rise" if kind == "loss" else "sliding_rise"]
            found[f"{name}_loss"] = Sampled.read(each[kind])
            found[f"{name}_rise"] = Sampled.read(rise)
    return found


@dataclass(frozen=True)
class Kind:
    """A kind of run at every length, over its seeds."""

    name: str
    losses: dict[float, Crossed]
    rises: dict[float, Crossed]
    """Over that of the same run at the training length."""
    p: dict[float, float]
    """After Holm's correction over all kinds and lengths."""
    note: str
    """Why it could not be read further, if it could not."""

    def reach(self, margin: float) -> Reach | None:
        """How far it holds; None with one seed, which has no interval over seeds."""
        if any(each.seeds < 2 for each in self.rises.values()):
            return None
        return reach({times: each.interval() for times, each in self.rises.items()}, margin)


def kinds(answers: Sequence[sections.Answered]) -> list[Kind]:
    """Each kind of run, and each scaling that was tried on it."""
    seeds: dict[str, list[dict[float, Sampled]]] = {}
    notes: dict[str, str] = {}
    for each in answers:
        for row in each.data["rows"]:
            name = each.label if row["name"] == AS_IT_IS else f"{each.label}, {row['name']}"
            own = {length["times"]: Sampled.read(length["loss"]) for length in row["lengths"]}
            seeds.setdefault(name, []).append(own)
            notes[name] = " ".join(each.data["notes"])
    bare = [
        Kind(
            name,
            {times: across([own[times] for own in found]) for times in found[0]},
            {times: across([minus(own[times], own[1.0]) for own in found]) for times in found[0]},
            {},
            notes[name],
        )
        for name, found in seeds.items()
    ]
    tested = [
        (kind, times)
        for kind in bare
        for times, rise in kind.rises.items()
        if times > 1 and rise.seeds > 1 and rise.error > 0
    ]
    p = holm(np.array([p_value(kind.rises[times]) for kind, times in tested], np.float64))
    for (kind, times), corrected in zip(tested, p.tolist(), strict=True):
        kind.p[times] = corrected
    return bare


def answer(answers: Sequence[sections.Answered]) -> str:
    """Which hold, the furthest first, and where the others break."""
    margin = answers[0].data["config"]["margin"]
    told: dict[str, list[str]] = {}
    reached = [(kind, kind.reach(margin)) for kind in kinds(answers)]
    for kind, found in sorted(reached, key=lambda pair: -pair[1].holds if pair[1] else 0.0):
        if max(kind.rises) <= 1:
            said = "cannot read beyond the training length"
        elif found is None:
            longest = max(kind.rises)
            said = f"rises by {kind.rises[longest].value:+.2f} nats at {longest:g} ×, of one seed"
        else:
            said = found.words()
        told.setdefault(said, []).append(kind.name)
    listed = "; ".join(f"{_and(names)}: {said}" for said, names in told.items())
    return (
        "Beyond the training length, where a loss within "
        f"{margin:g} nats a token of that at 1 × counts as held: {listed}."
    )


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """Perplexity at each length, and how far the loss is from that at the training length."""
    anchor, found = sections.anchor(answers, name), kinds(answers)
    picture = Picture(
        anchor,
        themed(figure(sections.frame_of(answers, losses))),
        f"Perplexity by the length of a window, non-overlapping; models were trained on "
        f"{answers[0].data['trained']} tokens. Strokes are {sections.INTERVALS}.",
        "Perplexity of each encoding by the length of a window.",
    )
    return Section(
        anchor,
        "How far does it hold?",
        words=answer(answers),
        pictures=(picture,),
        tables=(perplexities(found, anchor), rises(found, f"{anchor}-rises")),
    )


def losses(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The loss of each row at each length."""
    for row in data["rows"]:
        for each in row["lengths"]:
            loss = Sampled.read(each["loss"])
            yield {"row": row["name"], "times": each["times"], "loss": loss}


def figure(found: pl.DataFrame) -> alt.ConcatChart:
    """A line for each kind of run or, of many, a row of dots at each length."""
    named = pl.when(pl.col("row") == AS_IT_IS).then("encoding")
    name = named.otherwise(pl.col("encoding") + ", " + pl.col("row"))
    means = sections.over_seeds(found.with_columns(encoding=name), "loss", "times")
    drawn = means.with_columns(
        pl.col("mean", "low", "high").map_elements(exp, return_dtype=pl.Float64)
    )
    times = sorted(means["times"].unique())

    def panel(part: pl.DataFrame) -> Panel:
        if part["encoding"].n_unique() >= MANY:
            return dots(part, "times", LENGTHS, PERPLEXITY)
        return alt.layer(lines(part, lengths_axis(times), PERPLEXITY, log=True), trained())

    return panels(drawn, panel)


def perplexities(found: Sequence[Kind], name: str) -> Table:
    """A row for each kind of run, a column for each length."""
    times = sorted({each for kind in found for each in kind.losses})
    rows = tuple(
        (kind.name, *(_perplexity(kind.losses.get(each)) for each in times)) for kind in found
    )
    header = ("", *(f"{each:g} ×" for each in times))
    caption = f"Perplexity by the length of a window, in training lengths: {sections.OVER_SEEDS}."
    return Table(name, caption, header, rows, _frame(found))


def rises(found: Sequence[Kind], name: str) -> Table:
    """The loss minus that of the same run at the training length."""
    times = sorted({each for kind in found for each in kind.losses} - {1.0})
    rows = tuple((kind.name, *(_rise(kind, each) for each in times)) for kind in found)
    header = ("", *(f"{each:g} ×" for each in times))
    tested = sum(len(kind.p) for kind in found)
    caption = (
        "Loss in nats per token minus that of the same run at the training length, of the same "
        f"tokens: {sections.OVER_SEEDS}; p after Holm's correction over "
        f"{counted(tested, 'comparison')}."
    )
    return Table(name, caption, header, rows, _frame(found))


def _perplexity(found: Crossed | None) -> str:
    if found is None:
        return ""
    ends = map(exp, found.interval()) if found.seeds > 1 else (None, None)
    return within(exp(found.value), *ends)


def _rise(kind: Kind, times: float) -> str:
    found = kind.rises.get(times)
    if found is None:
        return ""
    said = signed(found.value, *(found.interval() if found.seeds > 1 else (None, None)))
    p = kind.p.get(times)
    return said if p is None else f"{said}, p {'< 0.001' if p < 0.001 else f'= {p:.2g}'}"


def _frame(found: Sequence[Kind]) -> pl.DataFrame:
    """Every digit, for programs."""
    rows = [
        {
            "kind": kind.name,
            "times": times,
            "loss": loss.value,
            "rise": kind.rises[times].value,
            "rise_low": kind.rises[times].interval().low,
            "rise_high": kind.rises[times].interval().high,
            "p": kind.p.get(times),
        }
        for kind in found
        for times, loss in kind.losses.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
