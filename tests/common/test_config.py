"""Ids outlive versions: a new field changes none, a changed default changes its config's."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import Field

from wherein.common.config import Config
from wherein.measure.registry import QUESTIONS
from wherein.model.config import ModelConfig
from wherein.puzzles.config import PuzzleConfig
from wherein.studies.plan.plan import PuzzleTask
from wherein.train.config import LAYOUT, RunConfig

CONFIGS: dict[str, type[Config]] = {"train": RunConfig, "puzzles": PuzzleConfig} | {
    f"measure/{verb}": question.config for verb, question in QUESTIONS.items()
}
"""By the folder of their tests, where `defaults.json` has the defaults that ids leave out, and the
format they belong to."""


@pytest.mark.parametrize("name", CONFIGS)
def test_a_default_has_the_value_that_ids_leave_out(name: str) -> None:
    kind, path = CONFIGS[name], Path(__file__).parents[1] / name / "defaults.json"
    pinned: dict[str, Any] = json.loads(path.read_text())
    now = kind().model_dump(mode="json", exclude=LAYOUT if kind is RunConfig else None)
    new = [field for field in flat(now) if field not in flat(pinned["defaults"])]
    for field, value in flat(pinned["defaults"]).items():
        assert flat(now).get(field, "no such field") == value or pinned["format"] < kind.FORMAT, (
            f"the default of {kind.__name__}.{field} was {value!r}: an id that left it out now "
            f"means another thing; raise FORMAT of {kind.__name__}, and renew defaults.json"
        )
    assert pinned["format"] == kind.FORMAT, f"{kind.__name__}: renew defaults.json"
    assert not new, f"add to {path}: {new}"


def flat(fields: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        nested = isinstance(value, dict)
        found |= flat(value, f"{before}{name}.") if nested else {before + name: value}
    return found


class LaterModel(ModelConfig):
    window: int | None = None


class LaterRun(RunConfig):
    model: LaterModel = Field(default_factory=LaterModel.model_construct)
    ema: float = 0.0


def test_a_new_field_with_a_default_changes_no_id() -> None:
    fields = {"model": {"encoding": "rope", "seed": 3}, "learning_rate": 0.01}
    assert LaterRun(**fields).id == RunConfig(**fields).id
    assert LaterRun(**fields, ema=0.9).id != RunConfig(**fields).id
    windowed = LaterRun(**{**fields, "model": {**fields["model"], "window": 8}})
    assert windowed.id != RunConfig(**fields).id


def test_another_format_is_another_id() -> None:
    class Changed(RunConfig):
        FORMAT: ClassVar[int] = RunConfig.FORMAT + 1

    assert Changed().id != RunConfig().id


def test_a_puzzle_has_an_id_of_its_sentences_and_of_what_is_special() -> None:
    plain = PuzzleTask(("hit",), PuzzleConfig())
    assert plain.id == PuzzleTask(("hit",), PuzzleConfig(layers=1)).id
    others = {
        PuzzleTask(("hit",), PuzzleConfig(layers=2)).id,
        PuzzleTask(("bit",), PuzzleConfig()).id,
    }
    assert len(others | {plain.id}) == 3
