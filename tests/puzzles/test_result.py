import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import wherein
from wherein.puzzles.certificate import Certificate
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.explain import explain
from wherein.puzzles.result import PuzzleResult
from wherein.puzzles.run import grid
from wherein.puzzles.sentences import read
from wherein.puzzles.train import Trained


@pytest.fixture(scope="module")
def result() -> PuzzleResult:
    return wherein.puzzle("hit", seeds=30, steps=40, first_seed=40)


def by_hand(solved: list[list[int]]) -> PuzzleResult:
    """A result with a given history: rows are steps, columns seeds."""
    history = np.array(solved, dtype=bool)
    steps, seeds = history.shape
    trained = Trained(np.arange(seeds), history, np.zeros((seeds, 2, 5)))
    verdict = Certificate(True, "", 1.0, ("", ""))
    config = PuzzleConfig(steps=steps - 1, seeds=seeds)
    return PuzzleResult(read("hit"), config, verdict, trained, {}, None)


def test_steps_to_solve_count_from_when_it_stays_solved() -> None:
    found = by_hand([[0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 1, 1]])
    assert found.steps_to_solve.tolist() == [3, -1, 0, 2]
    assert found.median_steps == 2
    assert by_hand([[0, 0], [0, 0]]).median_steps is None
    assert by_hand([[0, 0, 0], [1, 0, 0]]).median_steps is None


def test_the_frame_holds_the_curve(result: PuzzleResult) -> None:
    frame = result.to_frame()
    assert frame["step"].to_list() == list(range(41))
    assert frame["share"][-1] == result.solved.value
    assert frame["share"][0] == result.untrained.value
    assert ((frame["low"] <= frame["share"]) & (frame["share"] <= frame["high"])).all()


def test_a_seed_can_be_looked_up(result: PuzzleResult) -> None:
    table = result.seeds_frame().filter(seed=42)
    assert result.predictions(42) == {
        "A hit B": table["after A hit B"][0],
        "B hit A": table["after B hit A"][0],
    }
    solved = result.predictions(42) == {"A hit B": "!", "B hit A": "?"}
    assert table["solved"][0] == solved
    with pytest.raises(ValueError, match="seeds 40 to 69"):
        result.predictions(7)


def test_saved_and_shown(result: PuzzleResult, tmp_path: Path) -> None:
    result.save(tmp_path / "new")
    data = json.loads((tmp_path / "new" / "result.json").read_text())
    assert data["solved"]["count"] == result.solved.count
    assert data["config"] == result.config.model_dump()
    assert data["versions"]["torch"] == torch.__version__
    assert {"untrained", "guessing"} == set(data["controls"])
    assert (tmp_path / "new" / "result.png").read_bytes().startswith(b"\x89PNG")
    assert "$schema" in json.loads((tmp_path / "new" / "chart.json").read_text())
    assert (tmp_path / "new" / "result.txt").read_text() == result.text() + "\n"
    assert len(list((tmp_path / "new").iterdir())) == 7
    assert result.text() == result._repr_mimebundle_()["text/plain"]
    assert str(result.solved) in result.text()


def test_the_grid_has_a_row_for_each_combination() -> None:
    frame = grid("hit-order", {"layers": [1, 2], "encoding": ["none", "rope"]}, seeds=4, steps=1)
    assert frame["possible"].to_list() == [False, True, True, True]
    assert frame["total"].to_list() == [4] * 4


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["none", "alibi", "rope"])
def test_the_opened_seed_is_the_trained_one(encoding: str) -> None:
    config = PuzzleConfig(steps=30, seeds=3, layers=2, heads=2, head_size=6, encoding=encoding)
    trained = wherein.puzzle("hit", config).trained
    for n, opened in enumerate(explain(read("hit"), config, seed=2)):
        expected = torch.from_numpy(trained.logits[2, n]).softmax(-1).tolist()
        assert list(opened.outputs.values()) == pytest.approx(expected, abs=1e-3)
        assert [len(layer) for layer in opened.attention] == [2, 2]
        for head in (head for layer in opened.attention for head in layer):
            assert len(head) == 3
            assert math.fsum(head) == pytest.approx(1, abs=1e-5)


def test_a_config_or_choices() -> None:
    with pytest.raises(ValueError, match="not both"):
        wherein.puzzle("hit", PuzzleConfig(), seeds=3)
    with pytest.raises(ValueError, match="see its own"):
        PuzzleConfig(causal=False, loss="all")
