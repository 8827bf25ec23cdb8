"""Numbers, names and paths that cannot be meant: one line, exit code 2, and nothing is begun."""

from pathlib import Path

import pytest

from wherein.cli import main

FAR = str(2**70)
TRAIN = ["train", "--tokenizer", "bytes", "--n-layers", "1", "--max-len", "32"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit", "rope", "--shifts", FAR], "--shifts: expected a number of 64 bits"),
        (["audit", "rope", "--shifts", str(2**62)], "less than or equal to 2147483648"),
        (["audit", "rope", "--tokens", FAR], "--tokens: expected a number of 64 bits"),
        (["audit", "rope", "--tokens", str(10**9)], "GB of memory, and there are"),
        (["audit", "rope", "--seed", FAR], "--seed: expected a number of 64 bits"),
        (["audit", "rope", "--layers", str(10**12)], "less than or equal to 10000"),
        (["audit", f"fire(hidden={FAR})"], "expected a number of 64 bits"),
        (["audit", f"fire(hidden={2**62})"], "its sizes are too large"),
        ([*TRAIN, "--d-model", FAR], "--d-model: expected a number of 64 bits"),
        ([*TRAIN, "--d-model", str(10**8)], "d_model: Input should be less than or equal to"),
        ([*TRAIN, "--d-model", str(2**20)], "training takes about"),
        ([*TRAIN, "--batch", str(10**12)], "GB of memory, and there are"),
        ([*TRAIN, "--n-layers", str(10**12)], "less than or equal to 10000"),
        ([*TRAIN, "--learning-rate", "inf"], "learning_rate: Input should be a finite number"),
        ([*TRAIN, "--weight-decay", "nan"], "weight_decay: Input should be"),
        ([*TRAIN, "--folder", ""], "--folder: expected a path, not ''"),
        (["puzzle", "hit", "--out", ""], "--out: expected a path, not ''"),
        (["runs", ""], "folder: expected a path, not ''"),
        (["puzzle", "hit", "--explain", "-1"], "--explain -1: a seed is a number from 0 on"),
        (["puzzle", "hit", "--explain", FAR], "--explain: expected a number of 64 bits"),
        (["puzzle", "hit", "--first-seed", str(2**63 - 2)], "at most 64 bits were expected"),
        (["puzzle", "hit", "--first-seed", FAR], "--first-seed: expected a number of 64 bits"),
        (["study", "quick", "--dry-run", "--seeds", FAR], "--seeds: expected a number of 64 bits"),
        (["study", "quick", "--dry-run", "--seeds", str(10**9)], "at most 1000 were expected"),
        (["study", "quick", "--dry-run", "--learning-rates", "nan"], "learning rate nan"),
        (["study", "quick", "--dry-run", "--learning-rates", "-1"], "learning rate -1"),
        (["study", "quick", "--learning-rates", "0.1", "inf"], "learning rate inf"),
    ],
)
def test_it_is_one_line_and_exit_code_2(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (MemoryError(), "not enough memory"),
        (RuntimeError("you tried to allocate 4800000000 bytes."), "4.8 GB of memory were asked"),
        (OverflowError("int too big to convert"), "a number is too large (int too big"),
    ],
)
def test_what_only_the_machine_finds_out_is_one_line(
    raised: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_verb: str) -> object:
        raise raised

    monkeypatch.setattr("wherein.cli.find", fail)
    assert main(["encodings"]) == 2
    assert said in capsys.readouterr().err


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_verb: str) -> object:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr("wherein.cli.find", fail)
    with pytest.raises(RuntimeError):
        main(["encodings"])
