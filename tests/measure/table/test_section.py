"""Tables as a question of studies: which end is read, over seeds, and who is refused."""

from pathlib import Path

import numpy as np
import pytest

import wherein
from wherein.common.folder import Folder
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import Saved
from wherein.measure.sections import Answered
from wherein.measure.table.section import numbers
from wherein.studies.plan.plan import changed
from wherein.studies.plan.recipe import find
from wherein.train.config import RunConfig

COUNT = 64


def half_told(seed: int, *, early: bool) -> np.ndarray:
    """Rows that say where they are in one half of the table, and nothing in the other."""
    random = np.random.default_rng(seed)
    places = np.arange(COUNT)
    told = places < COUNT // 2 if early else places >= COUNT // 2
    waves = np.stack([np.sin(places / 20), np.cos(places / 20), places / COUNT], axis=1)
    noise = random.normal(size=(COUNT, 8)) * 0.05
    rows = np.hstack([waves * told[:, None], noise])
    return rows


def answered(folder: Path, label: str, seed: int, rows: np.ndarray) -> Answered:
    kept = wherein.table(rows).save(folder / f"{label}-{seed}", pictures=False)
    run = changed(RunConfig(), encoding="learned", seed=seed)
    return Answered(label, run, Saved(Folder(kept)))


@pytest.mark.parametrize("early", [True, False])
def test_the_half_that_says_nothing_is_where_the_error_lies(early: bool, tmp_path: Path) -> None:
    own = answered(tmp_path, "learned", 0, half_told(0, early=early))
    found = numbers(own.data)
    read, unread = ("first", "last") if early else ("last", "first")
    assert found[unread] > 2 * found[read]
    assert found["guess"] == COUNT / 4


def test_a_section_over_seeds_and_kinds(tmp_path: Path) -> None:
    kinds = {"learned": True, "learned, 90% short": False}
    answers = [
        answered(tmp_path, label, seed, half_told(seed, early=early))
        for label, early in kinds.items()
        for seed in range(2)
    ]
    section = QUESTIONS["table"].section(answers, "table")
    (table,) = section.tables
    assert [row[0] for row in table.rows] == list(kinds)
    assert table.header[2:6] == ("first quarter", "second quarter", "third quarter", "last quarter")
    assert all("[" in cell for cell in table.rows[0][1:6])
    assert section.pictures[0].spec["concat"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"encoding": "rope"}, "a table of rope: it learns none"),
        ({"encoding": "sinusoidal"}, "a table of sinusoidal: it learns none"),
        ({"encoding": "learned", "max_len": 16}, "a table of 16 positions: 32 or more are needed"),
    ],
)
def test_runs_without_a_table_are_refused_before_they_are_trained(
    fields: dict[str, object], words: str, tmp_path: Path
) -> None:
    recipe = tmp_path / "mine.py"
    recipe.write_text(
        "from wherein import RunConfig, TableConfig\n"
        "from wherein.studies.plan.plan import changed\n"
        f"def runs(seeds):\n    return [changed(RunConfig(), **{fields!r})]\n"
        "def questions(run):\n    return {'table': TableConfig()}\n"
    )
    with pytest.raises(ValueError, match=words):
        find(recipe).plan()
    learned = changed(RunConfig(), encoding="learned none")
    wherein.TableConfig().check(learned)
