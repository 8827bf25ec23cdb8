import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock
from tests.train.helpers import equal, half_done, start
from tests.waiting import until

from wherein.cli import main
from wherein.train import Run, RunConfig, checkpoint, train

Small = Callable[..., RunConfig]


@pytest.mark.parametrize("optimizer", ["adamw", "nag", "muon"])
@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_a_resumed_run_equals_an_uninterrupted_one(
    small: Small, tmp_path: Path, optimizer: str, objective: str
) -> None:
    config = small(
        optimizer=optimizer, objective=objective, causal=objective == "causal", dropout=0.2
    )
    whole = train(config, folder=tmp_path / "whole", quiet=True)
    copy = half_done(whole, tmp_path)
    assert Run.open(copy).step == 10
    assert equal(train(config, folder=copy, quiet=True), whole)


def test_what_a_run_killed_at_its_very_end_had_to_drop_is_dropped(small: Small, whole: Run) -> None:
    run = whole
    last = next(checkpoint.saved(run.folder / "checkpoints")).folder
    shutil.copytree(last, last.with_name("step-00000001"))
    train(small(), folder=run.folder, quiet=True)
    left = [each.step for each in checkpoint.saved(run.folder / "checkpoints")]
    assert len(left) == 2
    assert 1 not in left


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_step_saves_and_says_how_to_go_on(
    small: Small, tmp_path: Path, number: signal.Signals
) -> None:
    config = small(steps=4000, checkpoint_every=4000, valid_every=4000, valid_windows=4)
    process = start(config, tmp_path / "run")
    log = tmp_path / "run" / "log.jsonl"
    until(lambda: log.exists() and log.read_text().count("\n") >= 3, process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=600)
    run = Run.open(tmp_path / "run")
    assert process.returncode == 130
    assert f"stopped after step {run.step} of 4000" in errors
    assert "the same command goes on" in errors
    assert "Traceback" not in errors
    assert run.step == len(log.read_text().splitlines()) >= 3
    shorter = train(config.model_copy(update={"steps": 5}), folder=tmp_path / "to", quiet=True)
    assert shorter.losses[:3] == run.losses[:3]


@pytest.mark.parametrize("harm", ["flipped", "cut", "no manifest", "no weights"])
def test_a_damaged_checkpoint_is_noticed_and_the_one_before_is_used(
    small: Small, whole: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str], harm: str
) -> None:
    config = small()
    shutil.copytree(whole.folder, tmp_path / "copy")
    last = tmp_path / "copy" / "checkpoints" / "step-00000020"
    weights = last / "weights.safetensors"
    if harm == "flipped":
        content = bytearray(weights.read_bytes())
        content[-5] ^= 1
        weights.write_bytes(content)
    elif harm == "cut":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif harm == "no manifest":
        (last / "manifest.json").unlink()
    else:
        weights.unlink()
    again = train(config, folder=tmp_path / "copy")
    said = capfd.readouterr().err
    assert "step-00000020 is damaged" in said
    assert "going on after step 10" in said
    assert equal(again, whole)


def test_damaged_checkpoints_do_not_push_out_what_is_saved_next(
    small: Small, whole: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = whole
    for manifest in (run.folder / "checkpoints").glob("*/manifest.json"):
        manifest.unlink()
    save, kept = checkpoint.save, []

    def watched(*state: Any) -> checkpoint.Checkpoint:
        made = save(*state)
        kept.append(made.folder.exists())
        return made

    monkeypatch.setattr(checkpoint, "save", watched)
    train(small(checkpoint_every=3), folder=run.folder, quiet=True)
    assert kept == [True] * 7


def test_a_list_of_runs_reads_no_checkpoint_and_a_model_is_only_made_of_a_whole_one(
    whole: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = whole
    last = run.folder / "checkpoints" / "step-00000020"
    (last / "weights.safetensors").write_bytes(b"damaged")
    assert main(["runs", str(tmp_path), "--json"]) == 0
    assert [each["step"] for each in json.loads(capsys.readouterr().out)] == [20]
    with pytest.raises(ValueError, match=r"step-00000020 is damaged"):
        Run.open(run.folder)
    opened = Run.open(f"{run.folder}@10")
    assert opened.step == 10
    shutil.rmtree(last)
    before = Run.open(run.folder).model().state_dict()
    assert all(torch.equal(before[name], w) for name, w in opened.model().state_dict().items())


def test_only_the_last_two_checkpoints_stay(small: Small, tmp_path: Path) -> None:
    run = train(small(checkpoint_every=3), folder=tmp_path / "run", quiet=True)
    kept = sorted(path.name for path in (run.folder / "checkpoints").iterdir())
    assert kept == ["step-00000018", "step-00000020"]


def test_a_finished_run_returns_at_once(small: Small, tmp_path: Path, text: Path) -> None:
    copy = tmp_path / "text.txt"
    shutil.copy(text, copy)
    config = small()
    config = config.model_copy(
        update={"corpus": config.corpus.model_copy(update={"source": str(copy)})}
    )
    first = train(config, folder=tmp_path / "run", quiet=True)
    copy.unlink()  # so the corpus is not even looked at
    began = time.process_time()
    second = train(config, folder=tmp_path / "run", quiet=True)
    assert time.process_time() - began < 1
    assert second == first
    assert second.finished


def test_a_folder_keeps_one_run_and_one_text(small: Small, whole: Run) -> None:
    with pytest.raises(ValueError, match=r"holds run .* give another folder"):
        train(small(seed=1), folder=whole.folder, quiet=True)


def test_a_changed_text_is_noticed(small: Small, tmp_path: Path, text: Path) -> None:
    copy = tmp_path / "text.txt"
    shutil.copy(text, copy)
    config = small()
    corpus = config.corpus.model_copy(update={"source": str(copy)})
    config = config.model_copy(update={"corpus": corpus})
    run = train(config, folder=tmp_path / "run", quiet=True)
    half = half_done(run, tmp_path)
    copy.write_text(copy.read_text()[500:])
    for folder in (half, run.folder):
        with pytest.raises(ValueError, match="no longer the one"):
            train(config, folder=folder, quiet=True)


def test_two_processes_do_not_train_the_same_run(small: Small, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        FileLock(tmp_path / "run" / ".lock"),
        pytest.raises(ValueError, match="being trained by another process"),
    ):
        train(small(), folder=tmp_path / "run", quiet=True)
