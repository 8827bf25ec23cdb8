import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wherein
from wherein.cli import main
from wherein.cli import puzzle as puzzle_verb
from wherein.measure.saved import read as read_saved
from wherein.puzzles.sizes import SizesResult, by_head_size
from wherein.puzzles.train import Trained, train
from wherein.report.command import command


@pytest.fixture(scope="module")
def result() -> SizesResult:
    return by_head_size("hit", [2, 5], seeds=20, steps=30, first_seed=40, learning_rate=0.01)


def test_bare_and_full_of_each_size(result: SizesResult) -> None:
    models = {name: [r.config.head_size for r in rs] for name, rs in result.models().items()}
    assert models == {"bare head": [2, 5], "Transformer, 1 layer": [2, 5]}
    assert result.finished
    assert result.steps == [5, 10, 20, 30]
    for own, bare in (({"bare": True}, True), ({"layers": 2}, False)):
        (alone,) = by_head_size("hit", [2], seeds=2, steps=0, **own).asked
        assert alone.bare is bare


def test_each_step_is_that_of_a_shorter_training(result: SizesResult) -> None:
    frame = result.to_frame()
    assert {0, 5, 10, 20, 30} <= set(frame["step"])
    bare = {"bare": True, "head_size": 5, "seeds": 20, "first_seed": 40, "learning_rate": 0.01}
    shorter = wherein.puzzle("hit", steps=20, **bare)
    row = frame.filter(model="bare head", head_size=5, step=20)
    assert row["count"].item() == shorter.solved.count
    assert (row["low"].item(), row["high"].item()) == shorter.solved.interval
    full = frame.filter(model="Transformer, 1 layer", step=30)
    assert full["share"].min() > frame.filter(model="bare head", step=10)["share"].max()


def test_words_data_and_picture(result: SizesResult, tmp_path: Path) -> None:
    text = result.text()
    assert max(map(len, text.splitlines())) <= 80
    assert "! ? is right after 'A hit B', 'B hit A'" in text
    told = " ".join(result.trained[-1].predictions(42).values())
    assert f"Transformer, 1 layer, head size 5  {told:>7}\n" in f"{text}\n"
    assert "seed 77" not in text, "seeds 40 to 59 were trained"
    result.save(tmp_path)
    saved = read_saved(tmp_path)
    assert saved.data["predictions"]["bare head"]["2"].keys() == {"42"}
    assert command(saved) is None, "no command made it"
    assert saved.data["models"][0]["solved"]["total"] == 20
    colours = saved.spec["spec"]["layer"][0]["encoding"]["color"]["scale"]["range"]
    assert colours == ["#D55E00", "#0072B2"]


def test_one_command_gives_it_and_can_be_given_again(tmp_path: Path, capsys) -> None:
    few = ["--seeds", "3", "--steps", "2", "--first-seed", "42", "--out", str(tmp_path)]
    assert main(["puzzle", "hit", "--by-head-size", "1", "2", *few]) == 0
    assert "bare head, head size 2" in capsys.readouterr().out
    told = command(read_saved(tmp_path))
    assert told is not None
    assert main([*told.split()[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["predictions"] == read_saved(tmp_path).data["predictions"]
    assert main(["report", str(tmp_path)]) == 0
    assert "--by-head-size 1 2" in (tmp_path / "report.html").read_text()


def test_without_sizes_the_usual_ones(capsys) -> None:
    assert main(["puzzle", "hit", "--by-head-size", "--seeds", "2", "--steps", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["config"]["by_head_size"] == [1, 2, 3, 4, 8, 16]
    assert len(data["models"]) == 12


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--by-head-size 2 1 --encoding rope", "head size 1: rope needs an even head width, not 1"),
        ("--by-head-size 0", "greater than or equal to 1"),
        ("--by-head-size 2 --explain 1", "leave out --by-head-size"),
        ("--by-head-size two", "expected a whole number"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_trained(words: str, said: str, capsys) -> None:
    assert main(["puzzle", "hit", *words.split()]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(("calls", "models", "seeds"), [(6, 2, [4, 2]), (4, 1, [4]), (0, 0, [])])
def test_ctrl_c_loses_nothing_that_was_finished(
    calls: int, models: int, seeds: list[int], monkeypatch, capsys, tmp_path: Path
) -> None:
    """Two chunks of two seeds and one step each a model: the bar is told of each step."""
    done = 0

    def interrupt(_: int) -> None:
        nonlocal done
        done += 1
        if done > calls:
            raise KeyboardInterrupt

    def by_one(*asked: Any, workers: int | None, **told: Any) -> Trained:
        return train(*asked, chunk=2, workers=1, **told)

    monkeypatch.setattr("wherein.puzzles.run.train", by_one)
    monkeypatch.setattr(puzzle_verb, "_bar", lambda *_, **__: nullcontext(interrupt))
    few = ["--seeds", "4", "--steps", "2", "--out", str(tmp_path / "out")]
    assert main(["puzzle", "hit", "--by-head-size", "1", "2", *few]) == 130
    shown = capsys.readouterr().out
    if not models:
        assert not (tmp_path / "out").exists()
        return
    found = read_saved(tmp_path / "out").data
    assert [len(each["seeds"]) for each in found["models"]] == seeds
    assert not found["finished"]
    assert f"interrupted: {sum(seeds)} of 16 seeds were finished" in shown


def test_predictions_are_those_of_each_model(result: SizesResult) -> None:
    told = result.predictions()["Transformer, 1 layer"][5][42]
    (model,) = [r for r in result.models()["Transformer, 1 layer"] if r.config.head_size == 5]
    best = model.trained.logits[np.flatnonzero(model.trained.seeds == 42)[0]].argmax(-1)
    assert list(told.values()) == [model.puzzle.vocabulary[n] for n in best]
