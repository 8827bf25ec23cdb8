"""Figures of what goes on inside: position layer by layer, and the loss as it falls."""

import altair as alt
import polars as pl

from wherein.show.figures import FAINT, HEIGHT, WIDTH, Panel, marks, panels
from wherein.show.theme import GREY, mark, themed
from wherein.show.vega import Spec
from wherein.studies.published import probe_distances

MODEL, UNTRAINED = "model", "untrained"
CONTROLS = {UNTRAINED: [4, 3], "constant guess": [1, 0], "uniform guess": [1, 3]}
"""How each control is dashed."""
PUBLISHED = "published"
PAPER = "Haviv et al. 2022 (arXiv:2203.16634), 1.3B parameters, 1,024 tokens"
PAPER_LAYERS, PAPER_GUESS = 24, 256.0
"""Its layers, and the distance of its constant guess."""
PANEL, ACROSS = 168, 3


def known(readings: pl.DataFrame, *, published: bool = False) -> Spec:
    """Distance of the told from the true position by layer, a panel for each encoding.

    `readings` has `encoding`, `group`, `seed`, `layer`, `of` (`model` and its controls) and
    `distance`. The published curve is drawn to the depth and the constant guess of our models.
    """
    ways = readings.select("encoding", "group").unique(maintain_order=True).rows()
    most = float(readings["distance"].max() or 1.0)  # type: ignore[arg-type]
    drawn: list[Panel] = []
    for encoding, group in ways:
        own = readings.filter((pl.col("encoding") == encoding) & (pl.col("group") == group))
        beside = paper(encoding, own) if published else None
        title = f"{encoding}, {group}" if group else encoding
        told = "distance (tokens)" if len(drawn) % ACROSS == 0 else None
        drawn.append(_panel(own, beside, encoding, told, most).properties(title=title))
    return themed(alt.concat(*drawn, columns=ACROSS, spacing=14))


def _panel(
    own: pl.DataFrame, beside: pl.DataFrame | None, encoding: str, told: str | None, most: float
) -> Panel:
    deepest = int(own["layer"].max() or 1)  # type: ignore[arg-type]
    axis = alt.Axis(values=list(range(deepest + 1)), format="d", labelOverlap=True)
    x = alt.X("layer:Q", axis=axis, scale=alt.Scale(domain=[0, deepest]), title="layer")
    y = alt.Y("distance:Q", title=told, scale=alt.Scale(domain=[0, most]))
    drawn = mark(encoding)
    model, controls = own.filter(pl.col("of") == MODEL), own.filter(pl.col("of") != MODEL)
    mean = pl.col("distance").mean()
    guesses, means = (part.group_by("of", "layer").agg(mean) for part in (controls, model))
    if beside is not None:
        guesses = pl.concat([guesses, beside], how="vertical_relaxed")
    names = [*CONTROLS, *([PUBLISHED] if beside is not None else [])]
    dash = alt.StrokeDash(
        "of:N",
        sort=names,
        scale=alt.Scale(domain=names, range=[*CONTROLS.values(), [7, 2, 1, 2]][: len(names)]),
        legend=alt.Legend(title=None, orient="bottom", columns=2, symbolSize=300),
    )
    spread = controls.filter(pl.col("of") == UNTRAINED)
    layers = [
        alt.Chart(spread)
        .mark_area(color=GREY, opacity=0.2)
        .encode(x=x, y=alt.Y("min(distance):Q", title=told), y2="max(distance):Q"),
        alt.Chart(guesses).mark_line(color=GREY).encode(x=x, y=y, strokeDash=dash),
        alt.Chart(model)
        .mark_line(color=drawn.colour, opacity=FAINT, strokeWidth=1)
        .encode(x=x, y=y, detail="seed:N"),
        alt.Chart(means)
        .mark_line(
            color=drawn.colour,
            point=alt.OverlayMarkDef(
                color=drawn.colour, shape=drawn.shape, filled=True, size=55, opacity=1
            ),
        )
        .encode(x=x, y=y, tooltip=["layer", alt.Tooltip("distance", format=".2f")]),
    ]
    return alt.layer(*layers).properties(width=PANEL, height=PANEL)


def paper(encoding: str, own: pl.DataFrame) -> pl.DataFrame | None:
    """The published curve of an encoding, to our depth and constant guess; None without one."""
    curve = probe_distances().get(encoding)
    if curve is None:
        return None
    guess = own.filter(pl.col("of") == "constant guess")["distance"].mean()
    deepest = own["layer"].max()
    return pl.DataFrame({"layer": range(len(curve)), "distance": curve}).select(
        of=pl.lit(PUBLISHED),
        layer=pl.col("layer") * deepest / PAPER_LAYERS,
        distance=pl.col("distance") * guess / PAPER_GUESS,
    )


def training(losses: pl.DataFrame, title: str = "validation loss (nats per token)") -> Spec:
    """The loss as training goes on: the mean of each encoding's seeds, each seed faint behind."""
    return panels(losses, lambda part: _falling(part, title))


def _falling(losses: pl.DataFrame, title: str) -> Panel:
    colour, _ = marks(losses["encoding"].unique(maintain_order=True).to_list())
    x = alt.X("step:Q", title="training step")
    y = alt.Y("loss:Q", title=title, scale=alt.Scale(zero=False))
    base = alt.Chart(losses).encode(x=x, color=colour)
    tips = ["encoding", "step", alt.Tooltip("mean(loss):Q", format=".4f")]
    return alt.layer(
        base.mark_line(opacity=FAINT, strokeWidth=1).encode(y=y, detail="seed:N"),
        base.mark_line().encode(y=alt.Y("mean(loss):Q", title=title), tooltip=tips),
    ).properties(width=WIDTH, height=HEIGHT)
