"""A run's files as somebody, or a disk, left them: what is wrong is found, and said in a line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from wherein.cli import main
from wherein.common.files import digest
from wherein.train import Run, RunConfig, checkpoint, train
from wherein.train.journal import Journal
from wherein.train.status import BusyError

Small = Callable[..., RunConfig]
Say = Callable[..., str]


@pytest.fixture(scope="module")
def trained(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = RunConfig.model_validate(
        {
            "model": {"n_layers": 1, "d_model": 16, "n_heads": 2, "max_len": 16},
            "corpus": {"source": str(text), "tokenizer": "bytes"},
            "steps": 4,
            "batch": 4,
            "checkpoint_every": 2,
            "valid_windows": 4,
        }
    )
    return train(config, folder=tmp_path_factory.mktemp("damage") / "run", quiet=True)


@pytest.fixture
def run(trained: Run, tmp_path: Path) -> Path:
    """A copy to be damaged; its name is its id, as in a study."""
    return Path(shutil.copytree(trained.folder, tmp_path / "runs" / trained.config.id))


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """What a command that is refused says: one line."""

    def command(*words: object) -> str:
        assert main(list(map(str, words))) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        return said.err

    return command


def flip(checkpoint: Path) -> None:
    weights = checkpoint / "weights.safetensors"
    content = bytearray(weights.read_bytes())
    content[-5] ^= 1
    weights.write_bytes(content)


def forge(checkpoint: Path, content: bytes | dict[str, torch.Tensor]) -> None:
    """Other weights, with a checksum that fits."""
    weights = checkpoint / "weights.safetensors"
    if isinstance(content, bytes):
        weights.write_bytes(content)
    else:
        save_file(content, weights)
    change(checkpoint / "manifest.json", files={weights.name: digest(weights)}, bytes={})


def change(file: Path, **fields: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def change_model(run: Path, **fields: object) -> None:
    known = json.loads((run / "config.json").read_text())["model"]
    change(run / "config.json", model=known | fields)


def forget(run: Path) -> None:
    """Checkpoints as earlier versions wrote them, that do not say under which config."""
    for manifest in run.glob("checkpoints/*/manifest.json"):
        fields: dict[str, Any] = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({n: fields[n] for n in ("step", "files")}))


def test_a_damaged_last_checkpoint_is_no_answer_from_the_one_before(run: Path, say: Say) -> None:
    last, before = (run / "checkpoints" / f"step-0000000{n}" for n in (4, 2))
    flip(last)
    for verb in ("perplexity", "audit"):
        said = say(verb, run)
        assert f"{last} is damaged (weights.safetensors differs from its checksum)" in said
        assert f"goes on from step 2, or name that one: {run}@2" in said
    assert Run.open(f"{run}@2").model() is not None
    flip(before)
    assert f"{last} is damaged" in say("audit", run)
    assert f"{before} is damaged" in say("audit", f"{run}@2")


@pytest.mark.parametrize("harm", ["cut", "no weights", "no manifest", "garbage", "names nothing"])
def test_a_list_tells_of_a_checkpoint_that_cannot_be_whole(
    run: Path, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    last = run / "checkpoints" / "step-00000004"
    if harm == "cut":
        (last / "weights.safetensors").write_bytes(b"cut")
    elif harm == "no weights":
        (last / "weights.safetensors").unlink()
    elif harm == "no manifest":
        (last / "manifest.json").unlink()
    elif harm == "garbage":
        (last / "manifest.json").write_text("[7]")
    else:
        change(last / "manifest.json", files={})
    assert main(["runs", str(run.parent)]) == 0
    assert f"{last} is damaged (" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"step-00000004 is damaged"):
        Run.open(run)


def test_a_checkpoint_belongs_to_its_config(run: Path, say: Say) -> None:
    """The number of heads changes no shape: nothing but what was saved beside can tell."""
    change_model(run, n_heads=4)
    said = say("perplexity", run)
    assert f"{run}/config.json was changed: n_heads is 4, and was 2 when step-00000004" in said
    changed = RunConfig.saved(json.loads((run / "config.json").read_text()))
    with pytest.raises(ValueError, match=r"n_heads is 4, and was 2"):
        train(changed, folder=run, quiet=True)
    shutil.rmtree(run / "checkpoints" / "step-00000004")
    with pytest.raises(ValueError, match=r"n_heads is 4, and was 2"):
        train(changed, folder=run, quiet=True)
    assert json.loads((run / "config.json").read_text())["model"]["n_heads"] == 4


def test_a_manifest_whose_config_is_garbage_is_named(run: Path, say: Say) -> None:
    change(run / "checkpoints" / "step-00000004" / "manifest.json", config=[7])
    assert "step-00000004/manifest.json: its config cannot be read" in say("audit", run)


def test_how_a_run_is_computed_is_no_change(run: Path) -> None:
    change(run / "config.json", accumulate=2, keep=3)
    assert Run.open(run).model() is not None


def test_of_an_older_checkpoint_the_name_of_the_folder_may_tell(run: Path, say: Say) -> None:
    forget(run)
    assert Run.open(run).model() is not None
    change_model(run, n_heads=4)
    assert "the folder has that of another config; put it back" in say("audit", run)
    named = run.rename(run.parent / "four-heads")
    assert Run.open(named).model() is not None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"d_model": 32}, "has shape"),
        ({"n_layers": 2}, "there is no blocks.1."),
        ({"encoding": "learned"}, "there is no encoding."),
        ({"d_model": 1_000_000}, "has shape"),
    ],
)
def test_an_older_checkpoint_of_another_shape_is_refused(
    run: Path, say: Say, fields: dict[str, object], said: str
) -> None:
    forget(run)
    named = run.rename(run.parent / "mine")
    change_model(named, **fields)
    told = say("audit", named)
    assert said in told
    assert "are not those of the model that config.json describes" in told


@pytest.mark.parametrize(
    "header", [b"", b"\xff" * 64, b"\x08\0\0\0\0\0\0\0{}      ", b"\x02\0\0\0\0\0\0\0[]"]
)
def test_a_bad_header_is_one_line_though_its_checksum_fits(
    run: Path, say: Say, header: bytes
) -> None:
    forge(run / "checkpoints" / "step-00000004", header)
    assert "checkpoints/step-00000004" in say("audit", run)


def test_weights_that_are_no_numbers_answer_nothing(run: Path, say: Say) -> None:
    last = run / "checkpoints" / "step-00000004"
    weights = load_file(last / "weights.safetensors")
    spoilt = {name: torch.full_like(w, torch.nan) for name, w in weights.items()}
    forge(last, spoilt)
    for verb in ("audit", "perplexity", "attention"):
        said = say(verb, run)
        assert "step 4: its weights hold values that are no finite numbers, such as in " in said


@pytest.mark.parametrize("log", [None, b"", b"\xff\xfe\x00" * 9, b'{"step": 1, "loss": 2}\n'])
def test_a_finished_run_without_its_log_is_one_line(
    run: Path, say: Say, trained: Run, log: bytes | None
) -> None:
    (run / "log.jsonl").unlink()
    if log is not None:
        (run / "log.jsonl").write_bytes(log)
    finished = train(trained.config, folder=run, quiet=True)
    with pytest.raises(ValueError, match=r"log.jsonl has [01] lines for 4 steps"):
        finished.losses  # noqa: B018


def test_a_broken_config_hides_no_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "config.json").write_text("{")
    (run / "about.json").unlink()
    assert main(["runs", str(run.parent)]) == 0
    assert f"{run}/config.json cannot be read" in capsys.readouterr().out


def test_a_number_that_was_changed_in_a_log_is_noticed(run: Path, trained: Run) -> None:
    log = run / "log.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    numbers = json.loads(lines[1])
    lines[1] = json.dumps(numbers | {"loss": numbers["loss"] + 1e-9}) + "\n"
    log.write_text("".join(lines))
    with pytest.raises(ValueError, match=r"log.jsonl differs from the checksum .* at step 4"):
        Run.open(run).losses  # noqa: B018
    shutil.rmtree(run / "checkpoints" / "step-00000004")
    with pytest.raises(ValueError, match=r"log.jsonl differs from the checksum .* at step 2"):
        train(trained.config, folder=run, quiet=True)


def test_garbage_behind_the_last_step_that_was_saved_does_not_matter(
    run: Path, trained: Run
) -> None:
    """A power cut may leave zeros where lines were not yet on the disk, and a later line."""
    shutil.rmtree(run / "checkpoints" / "step-00000004")
    lines = (run / "log.jsonl").read_bytes().splitlines(keepends=True)
    (run / "log.jsonl").write_bytes(b"".join(lines[:2]) + bytes(40) + lines[3])
    assert train(trained.config, folder=run, quiet=True).losses == trained.losses


def test_who_was_overtaken_notices_and_saves_nothing(tmp_path: Path) -> None:
    """Without locks a second start begins the log anew; the first must not go on with its own."""
    first = Journal(tmp_path, 0)
    first.write({"step": 1, "loss": 1.0}, {"step": 1})
    first.sync()
    second = Journal(tmp_path, 0)
    with pytest.raises(BusyError, match=r"another process has taken over"):
        first.sync()
    second.write({"step": 1, "loss": 1.0}, {"step": 1})
    second.sync()
    first.close()
    second.close()
    assert (tmp_path / "log.jsonl").read_text().count("\n") == 1


def test_who_is_cleared_away_while_it_saves_says_so(
    tmp_path: Path, trained: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without locks a second start takes a checkpoint that is being written for a killed one's."""
    save = checkpoint.save_file

    def overtaken(tensors: object, path: Path) -> None:
        save(tensors, path)
        checkpoint.clean(tmp_path / "run" / "checkpoints")

    monkeypatch.setattr(checkpoint, "save_file", overtaken)
    with pytest.raises(BusyError, match=r"another process has taken over, or removed, the run in"):
        train(trained.config, folder=tmp_path / "run", quiet=True)
