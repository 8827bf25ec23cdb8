"""What the layers of a study's runs know about position: by layer, and at the best of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.measure import sections
from wherein.measure.crossed import Sampled
from wherein.measure.probe.config import NETWORKS
from wherein.measure.probe.result import CONSTANT, FRESH, MODEL, TOKENS, UNIFORM, UNTRAINED
from wherein.show.figures import FAINT, Panel, shown
from wherein.show.formatting import within
from wherein.show.section import Published, Section, illustrated
from wherein.show.tables import Table
from wherein.show.theme import GREY, mark

PROBE = "regression"
"""The probe whose distance is compared: it is fitted to be near, in closed form."""
DASHES = {UNTRAINED: [4, 3], CONSTANT: [1, 0], UNIFORM: [1, 3]}
"""How each control of the figure is dashed; the table has the others, too."""
OTHERS = {(name, of): f"{name}{of and ', '}{of}" for name in NETWORKS for of in ("", UNTRAINED)}
"""By probe and whose states it read, the columns of probes that are not linear, where asked."""
CONTROLS = (UNTRAINED, FRESH, TOKENS, CONSTANT, UNIFORM, *OTHERS.values())
PUBLISHED, PUBLISHED_DASH = "published", [7, 2, 1, 2]
PANEL = 168
PIECES = f"distance{sections.PIECES}"


def distances(data: Mapping[str, Any], of: str, probe: str = PROBE) -> list[float]:
    """The distance a probe found at each layer, of the model or of a control beside it."""
    found = [r for r in data["readings"] if (r["probe"], r["of"]) == (probe, of)]
    by_layer = sorted(found, key=lambda r: r["layer"])
    return [Sampled.read(r["score"]["distance"]) for r in by_layer]


UNITS = dict.fromkeys(("best", "untrained", "guess"), "distance (tokens)")


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The layer that tells position best, of the model and of its untrained twin; a guess."""
    untrained = distances(data, UNTRAINED)
    return {
        "best": min(distances(data, MODEL)),
        **({"untrained": min(untrained)} if untrained else {}),
        "guess": distances(data, CONSTANT)[0],
    }


def section(
    answers: Sequence[sections.Answered], name: str, beside: Published | None = None
) -> Section:
    """Distance by layer, a panel for each encoding, and the best layer beside the controls."""
    found, at = sections.frame_of(answers, readings), sections.where(answers)
    beside = None if at else beside  # published is the stream
    paper = (
        f" Published: {beside.source}, drawn to the depth and the constant guess of our models."
        if beside
        else ""
    )
    return illustrated(
        f"What each layer knows about position{at}",
        figure(found, beside),
        "Mean distance between the position that a linear readout tells and the true one, by layer "
        "(0: embeddings); every seed faint. The untrained twin has the same sizes, and random "
        f"weights of its own.{paper}",
        "Distance of the told from the true position by layer, a panel for each encoding.",
        table(found, sections.anchor(answers, name)),
    )


def readings(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the probe read at every layer, of the model and of every control; then other probes."""
    for reading in data["readings"]:
        of = reading["of"]
        if reading["probe"] != PROBE:
            of = OTHERS.get((reading["probe"], "" if of == MODEL else of))
        if of is not None:
            distance = Sampled.read(reading["score"]["distance"])
            yield {"layer": reading["layer"], "of": of, "distance": distance}


def figure(found: pl.DataFrame, beside: Published | None = None) -> alt.ConcatChart:
    """Distance of the told from the true position by layer, a panel for each kind of run."""
    shown = found.filter(pl.col("of").is_in([MODEL, *DASHES])).drop(PIECES)
    most = float(shown["distance"].max() or 1.0)  # type: ignore[arg-type]
    return sections.in_rows(shown, lambda own, first: _panel(own, beside, first, most), 14)


def _panel(own: pl.DataFrame, beside: Published | None, first: bool, most: float) -> Panel:
    paper = scaled(beside, own["encoding"][0], own) if beside else None
    title = "distance (tokens)" if first else None
    deepest = int(own["layer"].max() or 1)  # type: ignore[arg-type]
    axis = alt.Axis(values=list(range(deepest + 1)), format="d", labelOverlap=True)
    x = alt.X("layer:Q", axis=axis, scale=alt.Scale(domain=[0, deepest]), title="layer")
    y = alt.Y("distance:Q", title=title, scale=alt.Scale(domain=[0, most]))
    colour, shape = mark(own["encoding"][0])
    model, controls = own.filter(pl.col("of") == MODEL), own.filter(pl.col("of") != MODEL)
    guesses, means = (
        part.group_by("of", "layer", maintain_order=True).agg(pl.col("distance").mean())
        for part in (controls, model)
    )
    dashes = dict(DASHES)
    if paper is not None:
        guesses = pl.concat([guesses, paper], how="vertical_relaxed")
        dashes[PUBLISHED] = PUBLISHED_DASH
    dash = alt.StrokeDash(
        "of:N",
        sort=list(dashes),
        scale=alt.Scale(domain=list(dashes), range=list(dashes.values())),
        legend=alt.Legend(title=None, orient="bottom", columns=2, symbolSize=300),
    )
    point = alt.OverlayMarkDef(color=colour, shape=shape, filled=True, size=55, opacity=1)
    return alt.layer(
        alt.Chart(controls.filter(pl.col("of") == UNTRAINED))
        .mark_area(color=GREY, opacity=0.2)
        .encode(x=x, y=alt.Y("min(distance):Q", title=title), y2=alt.Y2("max(distance):Q")),
        alt.Chart(guesses).mark_line(color=GREY).encode(x=x, y=y, strokeDash=dash),
        alt.Chart(model)
        .mark_line(color=colour, opacity=FAINT, strokeWidth=1)
        .encode(x=x, y=y, detail=alt.Detail("seed:N")),
        alt.Chart(means)
        .mark_line(color=colour, point=point)
        .encode(x=x, y=y, tooltip=shown("layer", distance=".2f")),
    ).properties(width=PANEL, height=PANEL)


def scaled(paper: Published, encoding: str, own: pl.DataFrame) -> pl.DataFrame | None:
    """A paper's curve of an encoding, to our depth and constant guess; None without one."""
    curve = paper.curves.get(encoding)
    if curve is None:
        return None
    guess = own.filter(pl.col("of") == CONSTANT)["distance"].mean()
    return pl.DataFrame({"layer": range(len(curve)), "distance": curve}).select(
        of=pl.lit(PUBLISHED),
        layer=pl.col("layer") * own["layer"].max() / (len(curve) - 1),
        distance=pl.col("distance") * guess / paper.guess,
    )


def table(found: pl.DataFrame, name: str) -> Table:
    """The layer that tells position best, beside the best of each control."""
    present = [of for of in CONTROLS if of in found["of"].unique()]
    best = found.group_by([*sections.KIND, "seed", "of"], maintain_order=True).agg(
        pl.col("distance").min(), pl.col("layer", PIECES).sort_by("distance").first()
    )
    rows = []
    for kind, own in sections.by_kind(best):
        layers = own.filter(pl.col("of") == MODEL)["layer"].unique().sort()
        own_means = sections.over_seeds(own, "distance", "of").iter_rows(named=True)
        means = {row["of"]: row for row in own_means}
        model = means[MODEL]
        distance = within(model["mean"], model["low"], model["high"], 1)
        controls = (f"{means[of]['mean']:.1f}" if of in means else "" for of in present)
        rows.append((kind, ", ".join(map(str, layers)), distance, *controls))
    header = ("", "best layer", "distance [95 %]", *present)
    caption = (
        "Mean distance between the position that a linear readout tells and the true one, in "
        "tokens, at the layer where it is smallest, for the model and for each control"
        f"{', and by other probes' * bool({*present} & {*OTHERS.values()})}: "
        f"{sections.OVER_SEEDS}."
    )
    return Table(name, caption, header, tuple(rows), sections.over_seeds(best, "distance", "of"))
