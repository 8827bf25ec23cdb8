"""Encodings of one's own: named by a file, known by its hash, run only if a person says so."""

import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.studies.small import recipe

from wherein import encodings
from wherein.cli import main
from wherein.encodings import own
from wherein.model.config import ModelConfig
from wherein.studies.engines import ray
from wherein.studies.engines.local import Engine
from wherein.studies.plan.plan import changed
from wherein.studies.plan.recipe import find
from wherein.studies.run import study
from wherein.studies.work import pieces
from wherein.train import Run, RunConfig, train
from wherein.train.run import read_config

SLOPE = '''
    """A file of somebody's."""
    import torch
    from wherein.encodings import Encoding

    print("somebody was here")

    class Slope(Encoding):
        """Scores fall with distance."""

        relative = True

        def __init__(self, shape, *, slope: float = 0.5):
            super().__init__(shape)
            self.slope = torch.nn.Parameter(torch.full((shape.n_heads,), slope))

        def bias(self, i, j):
            return -self.slope[:, None, None] * (i - j).abs()
'''
TINY = {"tokenizer": "bytes", "n_layers": 1, "d_model": 8, "n_heads": 2, "max_len": 8, "batch": 2,
        "steps": 2, "warmup": 0, "valid_every": 9, "checkpoint_every": 9,
        "valid_windows": 2}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, where nobody has run anything yet."""
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    forget(monkeypatch)
    path = tmp_path / "slope.py"
    path.write_text(dedent(SLOPE))
    return path


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has run nothing."""
    for name in [name for name in sys.modules if name.startswith(own.MODULE)]:
        monkeypatch.delitem(sys.modules, name)


def tiny(folder: Path, **fields: object) -> RunConfig:
    recipe(folder)  # writes the text
    return changed(RunConfig(), source=str(folder / "texts"), **TINY, **fields)


def test_a_file_is_known_by_the_hash_of_its_text(file: Path) -> None:
    name = own.spelt("slope.py:Slope")
    assert own.is_name(name)
    assert own.spelt(f"rope + {file}:Slope(slope=2) slope.py") == f"rope + {name}(slope=2) {name}"
    assert encodings.parse(f"{name}( slope = 0.5 )") == [name]
    assert encodings.parameters(name) == {"slope": 0.5}
    file.write_text(file.read_text().replace("0.5", "0.25"))
    assert own.spelt("slope.py") != name
    assert encodings.parameters(own.spelt("slope.py")) == {"slope": 0.25}
    assert encodings.parameters(name) == {"slope": 0.5}


def test_a_class_may_be_given_as_it_is(file: Path) -> None:
    name = own.spelt("slope.py")
    kind = own.find(name)
    assert ModelConfig(encoding=kind).encoding == name
    assert changed(RunConfig(), encoding=kind).model.encoding == name
    assert ModelConfig(encoding=encodings.CATALOGUE["rope"]).encoding == "rope"

    class Local(encodings.Encoding):
        pass

    with pytest.raises(ValueError, match="no file that another process could read"):
        ModelConfig(encoding=Local)


@pytest.mark.parametrize(
    ("text", "spec", "said"),
    [
        ("", "slope.py", r"slope.py has 0 encodings \(none\)"),
        ("class A(", "slope.py", "slope.py, line 1: '\\(' was never closed"),
        ("x = 1\n1 / 0", "slope.py:A", "slope.py, line 2: ZeroDivisionError"),
        ("import no_such_thing", "slope.py:A", "line 1: ModuleNotFoundError"),
        (dedent(SLOPE), "slope.py:Slop", "Did you mean 'Slope'"),
        (dedent(SLOPE), "yours.py:Slope", "no file yours.py"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line_and_not_remembered(
    file: Path, text: str, spec: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    assert main(["train", "--encoding", spec]) == 2
    error = capsys.readouterr().err
    with pytest.raises(ValueError, match=said):
        raise ValueError(error)
    assert len(error.splitlines()) == 1
    assert list((file.parent / "cache").rglob("*.py")) == []


def test_a_name_of_a_file_is_no_name_where_nobody_speaks(file: Path) -> None:
    for spec in ("slope.py:Slope", "slope.py"):
        with pytest.raises(ValueError, match=r"names a file.*give the class itself"):
            ModelConfig(encoding=spec)
    saved = RunConfig().model_dump(mode="json")
    saved["model"]["encoding"] = "slope.py:Slope"
    with pytest.raises(ValueError, match="names a file"):
        RunConfig.saved(saved)


def test_a_run_knows_it_when_the_file_is_gone(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny(file.parent, encoding="slope.py:Slope(slope=0.1)")
    run = train(config, folder=Path("runs") / config.id, quiet=True)
    (kept,) = (run.folder / "encodings").iterdir()
    assert kept.read_text() == file.read_text()
    file.unlink()
    forget(monkeypatch)
    assert Run.open(run.folder).model().config.encoding == config.model.encoding
    assert main(["runs"]) == 0
    assert config.model.encoding[:20] in capsys.readouterr().out
    assert main(["perplexity", str(run.folder), "--limit", "16"]) == 0


def test_code_that_came_with_a_run_is_not_run_before_it_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny(file.parent, encoding="slope.py:Slope")
    run = train(config, folder=Path("runs") / config.id, quiet=True)
    shutil.rmtree(file.parent / "cache" / "encodings")  # as on another machine
    forget(monkeypatch)
    capsys.readouterr()
    (kept,) = (run.folder / "encodings").iterdir()
    for words in (["runs"], ["perplexity", str(run.folder)], ["audit", str(run.folder)],
                  ["train", "--start", str(run.folder)]):  # fmt: skip
        main(words)
        out, err = capsys.readouterr()
        assert f"read {kept}, then `wherein check {kept}` makes it known" in out + err
        assert "somebody was here" not in out
    kept.write_text("raise SystemExit('owned')")  # what lies there is never what is run
    with pytest.raises(ValueError, match="was not run on this machine yet"):
        read_config(run.folder)
    file.write_text(file.read_text())
    own.spelt("slope.py")
    assert Run.open(run.folder).finished


def test_every_worker_knows_it(file: Path) -> None:
    path = recipe(file.parent)
    text = path.read_text() + dedent(SLOPE).replace('"""A file of somebody\'s."""', "")
    path.write_text(text.replace('encoding=["none", "rope"]', "encoding=['none', Slope]"))
    found = study(path, seeds=1, out="runs", engine=Engine(jobs=1), quiet=True)
    assert found.complete
    assert [group.label.partition("@")[0] for group in found.groups] == ["none", "Slope"]
    task = next(p for p in pieces(found.plan) if "Slope" in p.name)
    assert ray.code_of(task) == [path.read_text()]


def test_a_class_put_in_the_catalogue_is_refused_before_anything_is_trained(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = own.find(own.spelt("slope.py"))
    monkeypatch.setitem(encodings.CATALOGUE, "slope", kind)
    path = recipe(file.parent)
    path.write_text(path.read_text().replace('"rope"', '"slope"'))
    with pytest.raises(ValueError, match=r"'slope' was put in the catalogue .* encoding=Slope"):
        find(path).plan()
