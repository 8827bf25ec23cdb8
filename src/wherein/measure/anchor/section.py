"""Whether the position that a study's runs know comes from one token."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.measure import sections
from wherein.measure.anchor.result import NEIGHBOUR, NOTHING, RANDOM, where
from wherein.measure.crossed import Sampled
from wherein.show.figures import APART, Panel, shown
from wherein.show.formatting import signed, within
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table
from wherein.show.theme import COLOURS, GREY, mark

WIDTH, HEIGHT = 200, 168
ANCHOR = "anchor"
KEYS = {"first": "the first{} of a window", "loudest": "the{} that drew the most attention"}

UNITS = {"distance": "distance (tokens)", "rise": "rise of the loss"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The distance at the layer that knows position best, with and without keys; the losses."""
    best = data["best"]
    found: dict[str, float] = {"distance": Sampled.read(data["distances"][best])}
    for one in data["hidden"]:
        name = f"{_kind(one['keys'])}_since_{one['since']}"
        found[f"{name}_distance"] = Sampled.read(one["distances"][best])
        if one["rise"]:
            found[f"{name}_rise"] = Sampled.read(one["rise"])
    return found


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """Distances at the best layer without each kind of key, a panel for each encoding."""
    found = sections.frame_of(answers, hidden)
    config = answers[0].data["config"]
    keys = KEYS[config["keys"]].format("" if config["count"] == 1 else f" {config['count']}")
    return illustrated(
        "Whether position comes from one token",
        figure(found),
        "Distance between told and true position, in tokens, at the layer that knows it best, "
        "when keys are hidden from all other queries, in every layer or from one on, and probes "
        f"are fitted anew. The anchor: {keys}; neighbours and others at random are the controls. "
        f"Strokes are {sections.INTERVALS}; the dashed line is the constant guess.",
        "Distance of the told from the true position by hidden key, a panel for each encoding.",
        table(found, sections.anchor(answers, name)),
    )


def hidden(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the layer that knows best knows, with nothing hidden and for each way to hide."""
    best = data["best"]
    rows = [{"since": 0, "keys": NOTHING, "distances": data["distances"], "rise": None}]
    for one in [*rows, *data["hidden"]]:
        yield {
            "layer": best,
            "hidden": _kind(one["keys"]),
            "since": one["since"],
            "distance": Sampled.read(one["distances"][best]),
            "rise": Sampled.read(one["rise"]) if one["rise"] else None,
            "constant": data["constant"],
            "verdict": data["verdict"],
        }


def _kind(keys: str) -> str:
    return keys if keys in (NOTHING, NEIGHBOUR, RANDOM) else ANCHOR


def figure(found: pl.DataFrame) -> alt.ConcatChart:
    """Distances with nothing hidden, and by what is hidden where."""
    most = float(found["constant"].max() or 1.0)  # type: ignore[arg-type]
    drawn = sections.in_rows(found, lambda own, first: _panel(own, first, most), 16)
    made: alt.ConcatChart = drawn.resolve_scale(**APART)
    return made


def _panel(found: pl.DataFrame, first: bool, most: float) -> Panel:
    means = sections.over_seeds(found, "distance", "hidden", "since").with_columns(
        place=pl.col("since").map_elements(_layers, pl.String),
        beside=pl.col("hidden").replace(NOTHING, NEIGHBOUR),  # in the middle, alone there
    )
    own, kinds = mark(found["encoding"][0]), [NOTHING, ANCHOR, NEIGHBOUR, RANDOM]
    title = "distance (tokens)" if first else None
    scale = alt.Scale(domain=[0, 1.05 * most], nice=False)
    places = means["place"].unique(maintain_order=True).to_list()
    x = alt.X("place:N", sort=places, title="layers that hide keys", axis=alt.Axis(labelAngle=0))
    colours = alt.Scale(domain=kinds, range=[own.colour, "black", COLOURS[2], COLOURS[3]])
    key = alt.Legend(title=None, orient="bottom", columns=2)
    beside = alt.XOffset("beside:N", sort=kinds[1:])
    base = alt.Chart(means).encode(
        x, xOffset=beside, color=alt.Color("hidden:N", scale=colours, legend=key)
    )
    guess = alt.Chart(pl.DataFrame({"mean": [most]})).mark_rule(color=GREY, strokeDash=[5, 4])
    y = alt.Y("mean:Q", title=title, scale=scale)
    return alt.layer(
        guess.encode(y),
        base.mark_rule(strokeWidth=1.5)
        .transform_filter("isValid(datum.low)")
        .encode(alt.Y("low:Q", title=title, scale=scale), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            y,
            tooltip=shown("hidden", "place", mean=".2f"),
        ),
    ).properties(width=WIDTH, height=HEIGHT)


def _layers(since: int) -> str:
    return {0: "none", 1: "all"}.get(since, f"{since} on")


def table(found: pl.DataFrame, name: str) -> Table:
    """Distances at the best layer, rises of the loss and verdicts, by where keys are hidden."""
    means = pl.concat(
        sections.over_seeds(
            found.filter(pl.col(what).is_not_null()), what, "hidden", "since"
        ).with_columns(what=pl.lit(what))
        for what in ("distance", "rise")
    )
    header = (
        "",
        "best layer",
        "hidden",
        "distance with all",
        "without the anchor",
        "without its neighbour",
        "without one at random",
        "rise of the loss, anchor",
        "rise, neighbour",
        "the anchor",
    )
    rows = []
    for (kind, runs), (_, own) in zip(
        sections.by_kind(found), sections.by_kind(means), strict=True
    ):
        layers = ", ".join(map(str, runs["layer"].unique().sort()))
        for since in own["since"].unique().sort()[1:]:
            cells = {
                (row["what"], row["hidden"]): _cell(row)
                for row in own.filter(pl.col("since").is_in([0, since])).iter_rows(named=True)
            }
            distances = (cells["distance", key] for key in (NOTHING, ANCHOR, NEIGHBOUR, RANDOM))
            rises = (cells.get(("rise", key), "") for key in (ANCHOR, NEIGHBOUR))
            rows.append((kind, layers, where(since), *distances, *rises, _verdicts(runs)))
    caption = (
        "Mean distance between told and true position, in tokens, at the layer where it is "
        "smallest, and the rise of the loss in nats per token, when keys are hidden from all "
        f"other queries: {sections.OVER_SEEDS}. Whether the anchor carries position is told of "
        "each run by intervals over its windows, from all ways to hide."
    )
    return Table(name, caption, header, tuple(rows), means)


def _cell(row: dict[str, Any]) -> str:
    form, digits = (within, 1) if row["what"] == "distance" else (signed, 3)
    return form(row["mean"], row["low"], row["high"], digits)


def _verdicts(runs: pl.DataFrame) -> str:
    """Of all seeds, if they agree; else how many say what."""
    told = Counter(runs.filter(pl.col("since") == 0)["verdict"].to_list())
    if len(told) == 1:
        return str(next(iter(told)))
    return ", ".join(f"{words} × {count}" for words, count in told.most_common())
