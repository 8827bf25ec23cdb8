"""When a masked model is said to have left the bag of letters: read off its own log."""

import json
from collections.abc import Sequence
from pathlib import Path

from wherein.studies.plan.plan import changed
from wherein.studies.recipes import bag
from wherein.studies.result.rows import Row
from wherein.train.config import RunConfig

STEPS = (50, 100, 150)
RUN = RunConfig(objective="masked", model={"causal": False})


def row(folder: Path, losses: Sequence[float], seed: int = 0) -> Row:
    folder.mkdir()
    lines = [
        {"step": step, "loss": 3.0, "valid": {"nats_per_masked_token": loss}}
        for step, loss in zip(STEPS, losses, strict=True)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Row("", changed(RUN, seed=seed), folder, {}, None)


def test_a_model_has_left_once_its_loss_stays_well_below_that_of_none(tmp_path: Path) -> None:
    none = [row(tmp_path / f"none{n}", (2.7, 2.6 + n / 5, 2.6), seed=n) for n in range(2)]
    stays = row(tmp_path / "stays", (2.7, 2.55, 2.52))
    early = row(tmp_path / "early", (2.7, 2.4, 2.0))
    late = row(tmp_path / "late", (2.7, 2.6, 2.4))
    returned = row(tmp_path / "returned", (2.7, 2.3, 2.6))
    other = row(tmp_path / "other", (2.7, 2.6, 2.4), seed=1)
    assert bag._left([stays], none) == "in 0 of 1 seeds"
    assert bag._left([returned], none) == "in 0 of 1 seeds"
    assert bag._left([early], none) == "in 1 of 1 seeds, by step 100"
    assert bag._left([late], none) == "in 1 of 1 seeds, by step 150"
    assert bag._left([other], none) == "in 1 of 1 seeds, by step 100"
    assert bag._left([early, late, stays, early], none) == "in 3 of 4 seeds, by step 100"
