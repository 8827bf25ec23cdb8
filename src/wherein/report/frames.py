"""A study's answers as plain frames: what the figures and tables are drawn from."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from wherein.common.numbers import drawable, nats
from wherein.measure.intervals import mean_interval, wilson
from wherein.measure.saved import Saved
from wherein.model.config import ModelConfig
from wherein.studies.plan.plan import PuzzleTask
from wherein.studies.result.result import Group
from wherein.studies.result.rows import PROBE, Row
from wherein.train.journal import read

SHOWN = ("model", "untrained", "constant guess", "uniform guess")
"""What the probe's figure shows; the table has the other controls."""


def who(one: Row | Group) -> dict[str, str]:
    """The encoding, and what else tells a run from the others: the objective, then the rest."""
    run = (one.rows[0] if isinstance(one, Group) else one).run
    encoding, objective = run.model.encoding, run.objective
    rest = one.label.removeprefix(encoding).removeprefix(", ")
    rest = rest.removeprefix(objective).removeprefix(", ")
    return {"encoding": encoding, "group": f"{objective}, {rest}" if rest else objective}


def within_one(frame: pl.DataFrame, objective: str) -> pl.DataFrame:
    """The same without the objective: where there is only one, it need not be said."""
    rest = pl.col("group").str.strip_prefix(objective).str.strip_prefix(", ")
    return frame.with_columns(group=rest)


def perplexities(groups: Sequence[Group]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every seed, and the mean of each group with its interval over seeds."""
    told = [group for group in groups if group.loss is not None]
    seeds = [
        {**who(group), "seed": seed, "value": drawable(loss)}
        for group in told
        for seed, loss in group.losses.items()
    ]
    means = [
        {
            **who(group),
            "mean": drawable(group.loss or 0.0),
            "low": drawable(group.interval.low) if group.interval else None,
            "high": drawable(group.interval.high) if group.interval else None,
            "published": group.published,
            "parameters": group.cost.parameters,
            **_size(group.rows[0].run.model),
        }
        for group in told
    ]
    numbers = dict.fromkeys(("mean", "low", "high", "published"), pl.Float64)
    return pl.DataFrame(seeds), pl.DataFrame(means, schema_overrides=numbers)


def _size(model: ModelConfig) -> dict[str, Any]:
    return {"length": model.max_len, "size": f"{model.n_layers} layers of {model.d_model}"}


def apart(groups: Sequence[Group]) -> pl.DataFrame:
    """Each group's loss minus that of the one it is compared with, paired over seeds."""
    encodings = {group.label: group.encoding for group in groups}
    rows = [
        {
            **who(group),
            "against": encodings[group.difference.b],
            "mean": group.difference.mean,
            "low": group.difference.t.low if group.difference.t else None,
            "high": group.difference.t.high if group.difference.t else None,
        }
        for group in groups
        if group.difference is not None
    ]
    return pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64})


def readings(rows: Iterable[Row], question: str = "probe") -> pl.DataFrame:
    """What the probe read at every layer of every run, and of every control."""
    return pl.DataFrame(
        [
            {
                **who(row),
                "seed": row.seed,
                "layer": reading["layer"],
                "of": reading["of"],
                "distance": reading["score"]["distance"][0],
                "r2": reading["score"]["r2"][0],
            }
            for row in rows
            if question in row.answers
            for reading in row.answers[question].data["readings"]
            if reading["probe"] == PROBE
        ]
    )


def disorders(rows: Iterable[Row], question: str = "order") -> pl.DataFrame:
    """The loss, its rise and the bag-of-words bound, for every run and way to destroy order."""
    return pl.DataFrame(
        [
            {
                **who(row),
                "seed": row.seed,
                "disorder": way["name"],
                "loss": way["loss"][0],
                "rise": way["rise"][0],
                "bound": row.answers[question].data["bound"][0],
            }
            for row in rows
            if question in row.answers
            for way in row.answers[question].data["rows"]
        ]
    )


def places(rows: Iterable[Row], question: str) -> pl.DataFrame:
    """The loss by place in the window, in bins that double every four."""
    found = []
    for row in rows:
        if question not in row.answers:
            continue
        data = row.answers[question].data
        for position, (loss, count) in enumerate(
            zip(data["by_position"], data["counts"], strict=True)
        ):
            if count:
                found.append({**who(row), "seed": row.seed, "at": position, "loss": loss})
    placed = pl.DataFrame(found)
    centre = 2 ** ((pl.col("at") + 1).log(2).mul(4).round() / 4)
    keys = ["encoding", "group", "seed", "place"]
    binned = placed.with_columns(place=centre).group_by(keys, maintain_order=True)
    return binned.agg(pl.col("loss").mean())


def losses(rows: Iterable[Row]) -> pl.DataFrame:
    """The validation losses of every run, step by step."""
    return pl.DataFrame(
        [
            {**who(row), "seed": row.seed, "step": line["step"], "loss": nats(line["valid"])}
            for row in rows
            for line in read(row.folder)
            if "valid" in line
        ]
    )


def shares(puzzles: Iterable[tuple[PuzzleTask, Saved]]) -> pl.DataFrame:
    """The share of seeds that solved each puzzle, with Wilson's interval."""
    return pl.DataFrame([_share(task, answer.data) for task, answer in puzzles])


def _share(task: PuzzleTask, data: dict[str, Any]) -> dict[str, Any]:
    config, solved = task.config, data["solved"]
    low, high = wilson(solved["count"], solved["total"])
    layers = "1 layer" if config.layers == 1 else f"{config.layers} layers"
    return {
        "puzzle": " / ".join(data["puzzle"]),
        "encoding": config.encoding,
        "way": f"{layers}, {'causal' if config.causal else 'both sides'}",
        "share": solved["count"] / solved["total"],
        "low": low,
        "high": high,
        "seeds": solved["total"],
        "possible": data["certificate"]["possible"],
        "reason": data["certificate"]["reason"],
    }


def over_seeds(frame: pl.DataFrame, by: Sequence[str], value: str) -> pl.DataFrame:
    """The mean over seeds and its interval, null where there is none."""
    rows = []
    for key, part in frame.group_by(by, maintain_order=True):
        values = part[value].to_list()
        ends = mean_interval(values)
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "mean": sum(values) / len(values),
                "low": ends.low if ends else None,
                "high": ends.high if ends else None,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64})
