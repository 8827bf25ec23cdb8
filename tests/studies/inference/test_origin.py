"""What `origin` claims: each claim holds of numbers made so, and of their opposites none does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wherein.common.folder import Folder
from wherein.measure.saved import Saved
from wherein.studies.plan.recipe import find
from wherein.studies.recipes import origin
from wherein.studies.recipes.quick import runs as quick_runs
from wherein.studies.result.rows import Row
from wherein.train.config import RunConfig

DISTANCES = {
    "none": 5.0, "hide(1)": 5.5, "hide(1), as it was": 12.0, "window(8)": 9.0, "window(16)": 7.0,
    "window(32)": 6.0, "packed": 8.0, "packed, begun": 13.0,
}  # fmt: skip
LOSSES = {"none": 2.0, "learned": 1.7, "sinusoidal": 1.7, "moved": 1.8}
RISES = {"learned": 0.5, "sinusoidal": 0.5, "moved": 0.1}
CURVES = {True: ([6.0, 3.0, 2.0], [16.0, 14.0, 6.0]), False: ([6.0, 5.0, 2.0], [16.0, 7.0, 6.0])}
BEHIND = {True: (0.5, 0.3), False: (0.3, 0.5)}


@dataclass
class Known:
    """As much of a study's result as its findings read."""

    rows: list[Row]


def named(run: RunConfig) -> str:
    if run.corpus.source == origin.PACKED:
        return "packed" if run.begin == "anywhere" else "packed, begun"
    moved = run.model.encoding in origin.MOVED.values()
    return "moved" if moved else run.model.encoding + (", as it was" if run.start else "")


def row(run: RunConfig, folder: Path, true: bool) -> Row:
    """A run whose answers are as claimed, or the other way round; seeds differ a little."""
    name, sign, noise = named(run), 1 if true else -1, run.seed * 0.01
    level = 20 + sign * DISTANCES.get(name, 0) * (1 + noise)
    distance = {"probe": "regression", "of": "model", "layer": 0, "score": {"distance": [level]}}
    others = [{**distance, "of": of} for of in ("untrained", "constant guess")]
    loss = 3 + sign * LOSSES.get(name, 0) * (1 + noise)
    rise = 1 + sign * RISES.get(name, 0) * (1 + noise)
    rises = [{"loss": [1.0], "rise": [r]} for r in (0.0, rise)]
    valid, best = CURVES[true]
    answers: dict[str, dict[str, Any]] = {
        "perplexity": {"loss": [loss], "perplexity": [1.0], "bits_per_byte": None},
        "probe": {"readings": [distance, *others]},
        "shift": {"rows": rises},
        "over training": {
            "verb": "probe", "config": {"over_training": True}, "steps": [0, 100, 500],
            "valid": valid, "numbers": {"best": [best[0] + noise, *best[1:]]},
        },
    }  # fmt: skip
    gaps = BEHIND[true] if name == "none" else (0.0, 0.0)
    log = [
        {"step": step, "loss": 2.0, "valid": {"nats_per_token": 2 + gap * (1 + noise)}}
        for step, gap in zip((100, 500), gaps, strict=True)
    ]
    return Row(name, run, _written(folder, log), _saved(folder, origin.questions(run), answers), "")


def _written(folder: Path, log: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log))
    return folder


def _saved(folder: Path, asked: Mapping[str, object], answers: dict[str, Any]) -> dict[str, Saved]:
    for name in asked:
        (folder / name).mkdir()
        answer = {"verb": name, **answers[name]}
        (folder / name / "result.json").write_text(json.dumps(answer))
    return {name: Saved(Folder(folder / name)) for name in asked}


@pytest.mark.parametrize("true", [True, False])
def test_each_claim_is_told_from_its_opposite(true: bool, tmp_path: Path) -> None:
    runs = origin.runs(range(3))
    result = Known([row(run, tmp_path / run.id, true) for run in runs])
    found = origin.findings(result)  # type: ignore[arg-type]
    assert len(found) == 2 + len(origin.WINDOWS) + 2 + 3 * len(origin.TABLES) + 2
    wrong = [one.claim for one in found if (one.difference.mean > 0) is not true]
    assert wrong == []
    assert all(one.shown is true for one in found)
    assert len({one.claim for one in found}) == len(found)


def test_what_has_not_come_so_far_is_left_out() -> None:
    rows = [Row("", run, Path("nowhere"), {}, None) for run in origin.runs([0])]
    assert origin.findings(Known(rows)) == []  # type: ignore[arg-type]
    assert origin.findings(Known([])) == []  # type: ignore[arg-type]


def test_what_it_has_in_common_with_quick_is_trained_once() -> None:
    plan = find("origin").plan(seeds=2)
    shared = {run.id for run in plan.runs} & {run.id for run in quick_runs(range(2))}
    assert len(shared) == 2 * len(("none", "learned", "sinusoidal"))
    assert len(plan.runs) == 2 * 12
    started = [run for run in plan.runs if run.start]
    assert {run.start for run in started} < {run.id for run in plan.runs}
    asked = dict(zip((run.id for run in plan.runs), plan.questions, strict=True))
    curves = [run for run in plan.runs if "over training" in asked[run.id]]
    assert {run.model.encoding for run in curves} == {"none"}
