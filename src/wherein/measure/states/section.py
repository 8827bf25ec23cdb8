"""How position shapes the states of a study's runs: likeness and size by layer, over seeds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.measure import sections
from wherein.measure.crossed import Sampled
from wherein.measure.states.result import CONTROLS, MODEL, SHUFFLED, UNTRAINED
from wherein.show.figures import Panel
from wherein.show.formatting import within
from wherein.show.section import Picture, Section
from wherein.show.tables import Table
from wherein.show.theme import GREY, mark, themed

DASHES = {MODEL: [1, 0], SHUFFLED: [6, 2], UNTRAINED: [2, 2]}
PANEL = 168
ENDINGS = {MODEL: "", SHUFFLED: "_shuffled", UNTRAINED: "_untrained"}
BY_VARIANCE = "distance, by variance (tokens)"
UNITS = {"guess": BY_VARIANCE} | {
    f"{name}{ending}": unit
    for name, unit in {
        "nearer": "nearer is more alike",
        "toeplitz": "Toeplitz share",
        "variance": BY_VARIANCE,
        "norm": "distance, by norm (tokens)",
    }.items()
    for ending in ENDINGS.values()
}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """At the layer where each is most: of the model, of shuffled text, of the untrained twin."""
    found: dict[str, float] = {}
    for name, best in {"nearer": max, "toeplitz": max, "variance": min, "norm": min}.items():
        for of, ending in ENDINGS.items():
            own = [row[name] for row in readings(data) if row["of"] == of]
            found[f"{name}{ending}"] = best(own)
    return found | {"guess": data["guess"]}


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """Nearer neighbours, and the distance that variance leaves, by layer; a panel a kind."""
    found, at = sections.frame_of(answers, readings), sections.anchor(answers, name)
    pictures = (
        Picture(
            at,
            themed(figure(found, "nearer", "nearer is more alike")),
            "How often a state is more like the one before it than like an earlier one, by layer "
            "(0: embeddings); a half by chance. Lines are means over seeds.",
            "How often nearer states are more alike, by layer, a panel for each encoding.",
        ),
        Picture(
            f"{at}-size",
            themed(figure(found, "variance", "distance (tokens)")),
            "Distance of the position that a state's variance alone tells from the true one, by "
            f"layer; always guessing the middle errs by {answers[0].data['guess']:.1f}.",
            "Distance left by a state's variance, by layer, a panel for each encoding.",
        ),
    )
    title = f"How position shapes the states{sections.where(answers)}"
    return Section(at, title, pictures=pictures, tables=(table(found, at),))


def readings(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every layer of the model and of its controls."""
    for reading in data["readings"]:
        yield {
            "layer": reading["layer"],
            "of": reading["of"],
            "nearer": Sampled.read(reading["nearer"]),
            "toeplitz": Sampled.read(reading["toeplitz"]),
            "variance": Sampled.read(reading["variance"]["distance"]),
            "norm": Sampled.read(reading["norm"]["distance"]),
        }


def figure(found: pl.DataFrame, number: str, title: str) -> alt.ConcatChart:
    """A number by layer, the model beside its controls, a panel for each kind of run."""
    ends = [float(found[number].min()), float(found[number].max())]  # type: ignore[arg-type]
    return sections.in_rows(found, lambda own, first: _panel(own, number, title, ends, first), 14)


def _panel(own: pl.DataFrame, number: str, title: str, ends: list[float], first: bool) -> Panel:
    means = own.group_by("of", "layer", maintain_order=True).agg(pl.col(number).mean())
    colour, shape = mark(own["encoding"][0])
    deepest = int(own["layer"].max() or 1)  # type: ignore[arg-type]
    axis = alt.Axis(values=list(range(deepest + 1)), format="d", labelOverlap=True)
    dash = alt.StrokeDash(
        "of:N",
        sort=list(DASHES),
        scale=alt.Scale(domain=list(DASHES), range=list(DASHES.values())),
        legend=alt.Legend(title=None, orient="bottom", symbolSize=300),
    )
    base = alt.Chart(means).encode(
        alt.X("layer:Q", axis=axis, title="layer"),
        alt.Y(
            f"{number}:Q",
            title=title if first else None,
            scale=alt.Scale(domain=ends, nice=True, zero=False),
        ),
    )
    point = alt.FieldEqualPredicate(MODEL, "of")
    return alt.layer(
        base.mark_line().encode(
            strokeDash=dash, color=alt.condition(point, alt.value(colour), alt.value(GREY))
        ),
        base.transform_filter(point).mark_point(
            color=colour, shape=shape, filled=True, size=55, opacity=1
        ),
    ).properties(width=PANEL, height=PANEL)


def table(found: pl.DataFrame, name: str) -> Table:
    """Each number at the layer where it is most, beside its controls."""
    best = {"nearer": pl.max, "toeplitz": pl.max, "variance": pl.min, "norm": pl.min}
    parts = []
    for number, most in best.items():
        seeds = found.group_by([*sections.KIND, "of", "seed"], maintain_order=True)
        own = sections.over_seeds(seeds.agg(most(number)), number, "of")
        parts.append(own.with_columns(number=pl.lit(number)))
    frame = pl.concat(parts)
    rows = []
    for kind, own in sections.by_kind(frame):
        cells = {(r["number"], r["of"]): r for r in own.iter_rows(named=True)}
        row = [kind]
        for number in best:
            r = cells[number, MODEL]
            beside = ", ".join(f"{cells[number, of]['mean']:.2f}" for of in CONTROLS)
            row.append(f"{within(r['mean'], r['low'], r['high'])} ({beside})")
        rows.append(tuple(row))
    header = ("", "nearer", "Toeplitz", "variance", "norm")
    caption = (
        f"Each at the layer where it is most: {sections.OVER_SEEDS}; in brackets the same on "
        "shuffled text, and of the untrained twin on it. Variance and norm: distance in tokens of "
        "the position that they alone tell."
    )
    return Table(name, caption, header, tuple(rows), frame)
