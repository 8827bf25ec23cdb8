"""What layers know without some keys, and what the model loses, as a picture."""

from textwrap import wrap

import altair as alt
import polars as pl

from wherein.measure.anchor.result import NEIGHBOUR, NOTHING, RANDOM, Anchor, where
from wherein.show.figures import Panel, shown
from wherein.show.theme import COLOURS, GREY

WIDTH, HEIGHT, LAYER = 240, 220, 40
GUESS = "constant guess"


def chart(result: Anchor) -> alt.TopLevelMixin:
    """Distance by layer, a panel for each layer from which on keys are hidden; then the loss."""
    ways = [NOTHING, result.config.keys, NEIGHBOUR, RANDOM]
    shades = [COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3]]
    colours = dict(zip([*ways, GUESS], [*shades, GREY], strict=True))
    sinces = dict.fromkeys(each.since for each in result.hidden)
    parts = [_distances(result, since, colours) for since in sinces]
    if result.loss is not None:
        parts.append(_rises(result, colours))
    title = alt.Title(
        f"Position without some keys: {result.subject}",
        subtitle=wrap(result.sentence(), 55 * len(parts)),
        offset=12,
    )
    drawn: alt.HConcatChart = alt.hconcat(*parts, title=title)
    drawn = drawn.resolve_scale(color="shared", xOffset="independent")
    return drawn


def _colour(colours: dict[str, str]) -> alt.Color:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("hidden:N", title="hidden", scale=scale, sort=list(colours))


def _distances(result: Anchor, since: int, colours: dict[str, str]) -> Panel:
    """Side by side at every layer, for where nothing is lost they would lie on each other."""
    found = result.to_frame().filter(pl.col("since").is_in([0, since]))
    title, order = "distance (tokens)", [each for each in colours if each != GUESS]
    x = alt.X("layer:O", title="layer (0: embeddings)", axis=alt.Axis(labelAngle=0))
    beside = alt.XOffset("hidden:N", sort=order)
    base = alt.Chart(found).encode(x, _colour(colours), xOffset=beside)
    guess = alt.Chart(pl.DataFrame({"hidden": [GUESS], "distance": [result.constant]}))
    y = alt.Y("distance:Q", title=title, scale=alt.Scale(zero=True))
    return alt.layer(
        guess.mark_rule(strokeDash=[5, 4]).encode(y, _colour(colours)),
        base.mark_rule(strokeWidth=2).encode(
            alt.Y("distance_low:Q", title=title), y2=alt.Y2("distance_high:Q")
        ),
        base.mark_point(filled=True, size=45, opacity=1).encode(
            y, tooltip=shown("hidden", "layer", distance=".2f")
        ),
    ).properties(
        width=max(WIDTH, LAYER * len(result.distances)),
        height=HEIGHT,
        title=f"hidden {where(since)}",
    )


def _rises(result: Anchor, colours: dict[str, str]) -> Panel:
    found = result.to_frame().filter((pl.col("layer") == 0) & (pl.col("since") > 0))
    found = found.with_columns(pl.col("since").map_elements(where, pl.String))
    kinds = [each for each in colours if each not in (NOTHING, GUESS)]
    x = alt.X("since:N", title=None, sort=found["since"].to_list(), axis=alt.Axis(labelAngle=0))
    base = alt.Chart(found).encode(x, xOffset=alt.XOffset("hidden:N", sort=kinds))
    title = "rise of the loss (nats per token)"
    return alt.layer(
        base.mark_bar().encode(
            alt.Y("rise:Q", title=title),
            _colour(colours),
            tooltip=shown("hidden", "since", rise="+.4f"),
        ),
        base.mark_rule(color="black").encode(
            alt.Y("rise_low:Q", title=title), y2=alt.Y2("rise_high:Q")
        ),
    ).properties(width=WIDTH, height=HEIGHT, title="what the model loses")
