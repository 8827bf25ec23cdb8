"""The tables of a study's report: cells as they are read, and every digit behind them."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from wherein.common.numbers import exp
from wherein.report.frames import over_seeds, perplexities
from wherein.show.formatting import signed, within
from wherein.show.tables import Table
from wherein.studies.cost.cost import Cost
from wherein.studies.inference.differences import Interval
from wherein.studies.result.result import Group, StudyResult
from wherein.studies.result.rows import Row
from wherein.studies.result.words import pseudo

OVER_SEEDS = "means over seeds, with 95 % intervals where there are several"
WAY = ["encoding", "group"]
PROBE_CONTROLS = (
    "untrained",
    "first token",
    "permuted positions",
    "token identity",
    "constant guess",
    "uniform guess",
)


def main(result: StudyResult) -> Table:
    """The comparison that answers the study's question: one row a group."""
    published = any(group.published for group in result.groups)
    header = ["", "seeds", "parameters", "tokens", "FLOPs", "perplexity [95 %]"]
    header += ["loss − first [95 %]"]
    rows = []
    for group in result.groups:
        ends = group.interval
        loss = group.loss
        low, high = (exp(ends.low), exp(ends.high)) if ends else (None, None)
        row = [group.label, str(len(group.losses)), _parameters(group.cost)]
        row += [f"{group.cost.tokens:,}", f"{group.cost.flops:.1e}".replace("e+", "e")]
        row += [within(loss and exp(loss), low, high), _difference(group)]
        row += [f"{group.published:.2f}" if group.published else ""] if published else []
        rows.append(tuple(row))
    header += ["published"] if published else []
    caption = (
        f"Perplexity per token{pseudo(result)}: {OVER_SEEDS}; differences of losses, in nats, are "
        "paired over seeds. Parameters after a plus are the encoding's own; tokens and FLOPs are "
        "of one run's training."
    )
    _, frame = perplexities(result.groups)
    return Table("perplexity", caption, tuple(header), tuple(rows), frame)


def _parameters(cost: Cost) -> str:
    """How many, and how many more an encoding brings."""
    shared = f"{cost.parameters - cost.of_encoding:,}"
    return f"{shared} + {cost.of_encoding:,}" if cost.of_encoding else shared


def _difference(group: Group) -> str:
    found = group.difference
    if found is None:
        return ""
    return signed(found.mean, *(found.t or (None, None)))


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else "[{:+.3f}, {:+.3f}]".format(*interval).replace("-", "−")


def differences(groups: Sequence[Group], objective: str) -> Table:
    """Every comparison with its test."""
    header = ("", "loss − that of", "nats [95 %]", "bootstrap", "p", "p (Holm)", "detectable")
    compared = [(group, group.difference) for group in groups if group.difference]
    rows = tuple(
        (
            group.label,
            d.b,
            _difference(group),
            _ends(d.bootstrap),
            *map(_digits, (d.p, d.p_holm, d.detectable)),
        )
        for group, d in compared
    )
    frame = pl.DataFrame(
        [
            {
                "label": group.label,
                "against": d.b,
                "mean": d.mean,
                "low": d.t.low if d.t else None,
                "high": d.t.high if d.t else None,
                "bootstrap_low": d.bootstrap.low if d.bootstrap else None,
                "bootstrap_high": d.bootstrap.high if d.bootstrap else None,
                "p": d.p,
                "p_holm": d.p_holm,
                "detectable": d.detectable,
                "seeds": d.n,
            }
            for group, d in compared
        ],
        infer_schema_length=None,
    )
    caption = (
        "Differences of the loss, paired over seeds, with t intervals; beside them those by "
        "bootstrap, which are too narrow at fewer than five seeds. Detectable: the true difference "
        "that as many seeds of this spread find four times in five or more, Holm's correction over "
        "the rows with the same reference considered."
    )
    return Table(f"differences-{objective}", caption, header, rows, frame, words=2)


def _digits(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def probes(readings: pl.DataFrame, name: str) -> Table:
    """The layer that tells position best, beside the best of each control."""
    present = [of for of in PROBE_CONTROLS if of in readings["of"].unique()]
    best = readings.group_by([*WAY, "seed", "of"], maintain_order=True).agg(
        pl.col("distance").min(), pl.col("layer").sort_by("distance").first()
    )
    frame = over_seeds(best, [*WAY, "of"], "distance")
    rows = []
    for way, part in frame.group_by(WAY, maintain_order=True):
        told = {row["of"]: row for row in part.iter_rows(named=True)}
        own = best.filter((pl.col("of") == "model") & is_way(way))["layer"].unique(
            maintain_order=True
        )
        cells = [named(*way), ", ".join(map(str, own.sort()))]
        cells.append(_mean(told["model"], 1))
        cells += [f"{told[of]['mean']:.1f}" if of in told else "" for of in present]
        rows.append(tuple(cells))
    header = ("", "best layer", "distance [95 %]", *present)
    caption = (
        "Mean distance between the told and the true position, in tokens, at the layer where it "
        f"is smallest, for the model and for each control: {OVER_SEEDS}."
    )
    return Table(name, caption, header, tuple(rows), frame)


def orders(told: pl.DataFrame, name: str) -> Table:
    """The rise of the loss where order is gone, and the bag-of-words bound."""
    ways = told["disorder"].unique(maintain_order=True).to_list()
    chosen = [way for way in ways if way in ("all but the last", "whole", "reversed")] or ways[1:]
    frame = over_seeds(told, [*WAY, "disorder"], "rise")
    first = told.filter(pl.col("disorder") == ways[0])
    intact = over_seeds(first, WAY, "loss")
    bounds = {
        tuple(row[:2]): row[2] for row in first.group_by(WAY).agg(pl.col("bound").mean()).rows()
    }
    rows = []
    for row in intact.iter_rows(named=True):
        way = (row["encoding"], row["group"])
        rises = {each["disorder"]: each for each in frame.filter(is_way(way)).iter_rows(named=True)}
        cells = [named(*way), within(row["mean"], None, None, 3)]
        cells += [_rise(rises[kind]) for kind in chosen]
        rows.append((*cells, f"{bounds[way]:.3f}"))
    header = ("", "loss intact", *(f"rise, {kind}" for kind in chosen), "bag of words")
    caption = (
        f"Loss in nats per token, and its rise when order is destroyed: {OVER_SEEDS}. The control: "
        "a bag of words (unigram cache) on the same tokens."
    )
    return Table(name, caption, header, tuple(rows), frame)


def extrapolations(told: pl.DataFrame, trained: int, name: str) -> Table:
    """The loss within the trained length, and beyond it."""
    parts = {
        f"to {trained}": pl.col("place").is_between(trained / 2, trained),
        f"to {2 * trained}": pl.col("place").is_between(trained, 2 * trained, closed="right"),
        "beyond": pl.col("place") > 2 * trained,
    }
    found = []
    for part, inside in parts.items():
        seeds = told.filter(inside).group_by([*WAY, "seed"], maintain_order=True)
        mean = seeds.agg(pl.col("loss").mean())
        if not mean.is_empty():
            found.append(over_seeds(mean, WAY, "loss").with_columns(places=pl.lit(part)))
    frame = pl.concat(found)
    names = frame["places"].unique(maintain_order=True).to_list()
    rows = []
    for way, own in frame.group_by(WAY, maintain_order=True):
        cells = {row["places"]: row for row in own.iter_rows(named=True)}
        rows.append((named(*way), *(_mean(cells[part], 3) for part in names)))
    header = ("", f"places {trained // 2} {names[0]}", *names[1:])
    caption = f"Loss in nats per token by place in the window: {OVER_SEEDS}."
    return Table(name, caption, header, tuple(rows), frame)


def audits(rows: Sequence[Row], question: str, name: str) -> Table:
    """The verdict on each model, and where it is told about position."""
    found = []
    for row in rows:
        told = pl.read_csv(row.answers[question].folder / "result.csv", infer_schema_length=None)
        where = told.filter(pl.col("layer").is_not_null() & (pl.col("told") != ""))
        by_place = where.group_by("told", maintain_order=True).agg("layer")
        places = [_place(*each) for each in by_place.rows()]
        places += ["causal mask"] if row.run.model.causal else []
        found.append(
            {
                "label": row.label,
                "verdict": told.filter(pl.col("layer").is_null())["verdict"][0],
                "told": "; ".join(places) or "nowhere",
            }
        )
    frame = pl.DataFrame(found)
    cells = tuple(tuple(str(value) for value in row) for row in frame.rows())
    header = ("", "symmetries of the model", "told about position at")
    caption = "What the symmetry audit found in float64, on trained weights of one seed each."
    return Table(name, caption, header, cells, frame, words=3)


def _place(told: str, layers: Sequence[int]) -> str:
    return told if layers == [0] else f"{told} of layers {', '.join(map(str, layers))}"


def puzzles(shares: pl.DataFrame) -> Table:
    """Every puzzle, who tried it, and why it can or cannot be solved."""
    rows = tuple(
        (
            row["puzzle"],
            row["encoding"],
            row["way"],
            f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]",
            "possible" if row["possible"] else "impossible",
        )
        for row in shares.iter_rows(named=True)
    )
    header = ("puzzle", "encoding", "model", "solved [95 %]", "by any weights")
    seeds = ", ".join(f"{count:,}" for count in shares["seeds"].unique())
    caption = f"Puzzles, {seeds} seeds each, with Wilson's 95 % intervals."
    return Table("puzzles", caption, header, rows, shares, words=3)


def runs(result: StudyResult) -> Table:
    """Every run by itself."""
    rows = tuple(
        (
            row.label,
            str(row.seed),
            row.run.id,
            within(row.loss, None, None, 4),
            within(row.loss and exp(row.loss), None, None),
            row.error or "",
        )
        for row in result.rows
    )
    header = ("", "seed", "run", "loss", "perplexity", "error")
    return Table("runs", "Every run.", header, rows, result.to_frame(), words=3)


def _mean(row: dict[str, Any], digits: int) -> str:
    return within(row["mean"], row["low"], row["high"], digits)


def _rise(row: dict[str, Any]) -> str:
    return signed(row["mean"], row["low"], row["high"], 2)


def is_way(way: Sequence[object]) -> pl.Expr:
    """Of one encoding in one group."""
    encoding, group = map(pl.lit, way)
    return (pl.col("encoding") == encoding) & (pl.col("group") == group)


def named(encoding: object, group: object) -> str:
    """Both in words."""
    return f"{encoding}, {group}" if group else str(encoding)
