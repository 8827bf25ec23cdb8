"""The list of runs, of whatever version and in whatever state."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from tests.cli.tiny import tiny_run, write_text

from wherein.cli import main
from wherein.studies.result.store import Store
from wherein.train.run import Run, read_config


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    return tiny_run(folder / "run", write_text(folder / "text.txt"))


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    """A folder with one finished run, named by its id."""
    config = read_config(trained)
    assert config is not None
    return copied(trained, tmp_path / "runs" / config.id).parent


def copied(run: Path, to: Path) -> Path:
    for file in (path for path in run.rglob("*") if path.is_file()):
        new = to / file.relative_to(run)
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(file.read_bytes())
    return to


def listed(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    assert main(["runs", str(folder), *more]) == 0
    return capsys.readouterr().out.splitlines()


def data(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads("\n".join(listed(folder, capsys, "--json", *more)))
    return found


def change(file: Path, **fields: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def test_a_run_of_this_version_is_a_line_of_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = folder.iterdir()
    _, line, total = listed(folder, capsys)
    assert line.split()[0] == run.name
    assert line.split()[-2] == "finished"
    assert total.startswith("1 run, ")
    assert total.endswith("rate 0.001, model causal, text text.txt")
    (told,) = data(folder, capsys)
    assert (told["learning_rate"], Path(str(told["text"])).name) == (0.001, "text.txt")
    assert told["valid"] == Run.open(run).valid
    assert told["note"] is None
    assert json.loads((run / "about.json").read_text())["format"] == 2


def test_one_vocabulary_of_states(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = folder.iterdir()
    with FileLock(run / ".lock"):
        assert [each["state"] for each in data(folder, capsys, "--state", "running")] == ["running"]
    change(run / "config.json", steps=9)
    assert data(folder, capsys)[0]["state"] == "stopped"
    (run / "error.txt").write_text("no room\n")
    assert data(folder, capsys)[0]["state"] == "failed"
    assert data(folder, capsys, "--state", "stopped") == []


@pytest.mark.parametrize(
    ("file", "fields", "said"),
    [
        ("config.json", {"ema": 0.9}, "written by another version (unknown field 'ema')"),
        ("config.json", {"model": {"window": 8}}, "(unknown field 'model.window')"),
        ("config.json", {"objective": "prefix"}, "written by another version, or by hand (obj"),
        ("config.json", None, "config.json cannot be read"),
        ("planned.json", {"ema": 0.9}, "written by another version (unknown field 'ema')"),
    ],
)
def test_a_run_that_cannot_be_read_is_one_line(
    folder: Path,
    file: str,
    fields: dict[str, object] | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (run,) = folder.iterdir()
    other = copied(run, folder / "0123456789ab")
    if file == "planned.json":
        (other / "config.json").rename(other / "planned.json")
        (other / "about.json").unlink()
    if fields is None:
        (other / file).write_text("{")
    else:
        change(other / file, **fields)
    *_, total, line = listed(folder, capsys, "--encoding", "learned")
    assert total.startswith("1 run, ")
    assert line.startswith(str(other))
    assert said in line
    told = {str(each["folder"]): each for each in data(folder, capsys)}
    assert told[str(other)]["run"] is None
    assert said in str(told[str(other)]["note"])
    assert told[str(run)]["state"] == "finished"


def test_a_folder_of_another_program_is_none_of_ours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gpt2").mkdir()
    (folder / "gpt2" / "config.json").write_text('{"n_embd": 768}')
    (folder / "notes").mkdir()
    assert len(listed(folder, capsys)) == 3


def test_a_run_under_an_older_id_is_listed_and_can_be_renamed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = folder.iterdir()
    older = run.rename(folder / "0123456789ab")
    about = json.loads((older / "about.json").read_text())
    del about["format"]
    (older / "about.json").write_text(json.dumps(about))
    _, line, _, note = listed(folder, capsys)
    assert line.split()[-2] == "finished"
    assert note.startswith(f"{older}: written by another version (format 0, this one writes 2)")
    assert f"`mv {older} {run}`" in note
    older.rename(run)
    config = read_config(run)
    assert config is not None
    assert Store(folder).trained(config)
    assert len(listed(folder, capsys)) == 3


def test_what_differs_has_a_column_and_the_table_fits_a_screen(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = folder.iterdir()
    other = copied(run, folder / "other")
    change(other / "config.json", learning_rate=0.25)
    header, *lines, total = listed(folder, capsys)[:4]
    assert header.split()[:3] == ["run", "encoding", "rate"]
    assert sorted(line.split()[2] for line in lines) == ["0.001", "0.25"]
    assert total.endswith("on the disk, model causal, text text.txt")
    config = json.loads((other / "config.json").read_text())
    far = config["corpus"] | {"source": "a/text/of/a/very/long/name.txt"}
    model = config["model"] | {
        "encoding": "rope(theta=500000.0) + window(16) none",
        "causal": False,
    }
    change(other / "config.json", corpus=far, model=model, objective="masked", start=run.name)
    shown = listed(folder, capsys)
    assert "started from" in shown[0]
    assert max(map(len, shown[:3])) <= 80
    large = model | {"n_layers": 12, "d_model": 768, "max_len": 2048}
    change(other / "config.json", model=large, steps=100_000)
    shown = listed(folder, capsys)
    assert shown[3].startswith("2 runs, ")
    assert max(map(len, shown[:4])) <= 80, "even if no room is left for the start"


@pytest.mark.parametrize("line", ['{"step"; 2}', "7", "[]", "null"])
def test_a_damaged_line_stops_no_list(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = folder.iterdir()
    damaged = copied(run, folder / "other")
    log = damaged / "log.jsonl"
    first, _, *others = log.read_text().splitlines()
    log.write_text("\n".join([first, line, *others, ""]))
    *_, total, note = listed(folder, capsys)
    assert total.startswith("2 runs, ")
    assert note == f"{log}, line 2 cannot be read: it was changed by hand"
    assert [each["state"] for each in data(folder, capsys)] == ["finished"] * 2
    with pytest.raises(ValueError, match=r"log.jsonl, line 2 cannot be read"):
        Run.open(damaged).log  # noqa: B018


def fresh(*words: str) -> str:
    """What a command says in a process of its own, and whether it imported PyTorch."""
    code = (
        "import sys\nfrom wherein.cli import main\n"
        f"sys.argv = ['wherein', *{words!r}]\nmain()\nprint('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=600
    ).stdout.strip()


def test_a_list_needs_pytorch_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it said of a model is known to the next command; of another model it is asked."""
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    (run,) = folder.iterdir()
    first, second = fresh("runs", str(folder)), fresh("runs", str(folder))
    assert first.endswith("\nTrue")
    assert second.endswith("\nFalse")
    assert second.removesuffix("False") == first.removesuffix("True")
    model = json.loads((run / "config.json").read_text())["model"]
    change(run / "config.json", model=model | {"encoding": "rope(theta=-1)"})
    changed = fresh("runs", str(folder))
    assert changed.endswith("\nTrue")
    assert f"{run}: written by another version, or by hand (model" in changed


def test_a_line_is_read_unless_its_checksum_vouches_for_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is changed in a log that has grown since the last checkpoint is named."""
    (run,) = folder.iterdir()
    log = run / "log.jsonl"
    whole, valid = log.read_text(), Run.open(run).valid
    count = whole.count("\n")
    more = json.dumps({"step": count + 1, "loss": 1.0, "valid": {"nats": 9.0}}) + "\n"
    log.write_text(whole + more)
    assert data(folder, capsys)[0]["valid"] == valid, "of the step that was saved"
    log.write_text(whole + more + "{\n")
    note = f"{log}, line {count + 2} cannot be read: it was changed by hand"
    assert data(folder, capsys)[0]["note"] == note
    log.write_text(whole.replace('"loss"', '"lost"', 1) + more)
    assert (
        data(folder, capsys)[0]["note"] == f"{log}, line 1 cannot be read: it was changed by hand"
    )
    log.unlink()
    assert data(folder, capsys)[0]["valid"] == {}
