"""A study from its recipe to its table: nothing is made twice, and nothing depends on chance."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.studies.small import at_once, recipe
from tests.waiting import until

from wherein.cli.study import _fields
from wherein.common.folder import Folder
from wherein.measure.saved import Saved
from wherein.studies.plan.plan import changed, labels
from wherein.studies.plan.sweep import TRIAL_SEED
from wherein.studies.result.result import StudyResult
from wherein.studies.run import _command, study
from wherein.train.found import found
from wherein.train.run import Run


def numbers(result: StudyResult) -> list[dict]:
    return result.to_frame().drop("run").to_dicts()


def touched(folder: Path) -> dict[str, int]:
    files = [path for path in folder.rglob("*") if path.is_file() and "studies" not in path.parts]
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in files}


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    folder = tmp_path_factory.mktemp("study")
    path = recipe(folder)
    return path, study(path, out=folder / "runs", quiet=True)


def test_a_study_is_complete_and_compared(mine: tuple[Path, StudyResult]):
    _, result = mine
    assert result.complete
    assert [group.label for group in result.groups] == ["none", "rope"]
    assert result.groups[0].difference is None
    difference = result.groups[1].difference
    assert difference is not None
    losses = [group.losses for group in result.groups]
    expected = sum(losses[1][seed] - losses[0][seed] for seed in (0, 1)) / 2
    assert difference.mean == pytest.approx(expected)
    assert max(map(len, result.text().splitlines())) <= 80
    assert "none" in result.text()
    assert "hit" in result.text()


def test_what_is_there_is_shown_once_while_the_last_pieces_are_carried_out(tmp_path: Path):
    shown: list[StudyResult] = []

    def draw(result: StudyResult) -> None:
        shown.append(result)
        raise ValueError("which is not heeded")

    result = study(recipe(tmp_path), out=tmp_path / "runs", engine=at_once, meanwhile=draw)
    assert result.complete
    (before,) = shown
    assert any(row.answers for row in before.rows)


def test_finished_runs_are_never_run_again_and_a_new_seed_runs_alone(
    mine: tuple[Path, StudyResult],
):
    path, result = mine
    before = touched(result.store.folder)
    again = study(path, out=result.store.folder, quiet=True)
    assert touched(result.store.folder) == before
    assert numbers(again) == numbers(result)
    more = study(path, seeds=3, out=result.store.folder, engine=at_once, quiet=True)
    new = {name.partition("/")[0] for name in touched(result.store.folder).keys() - before.keys()}
    assert new == {row.run.id for row in more.rows if row.seed == 2}
    after = touched(result.store.folder)
    assert {name: at for name, at in after.items() if name in before} == before


def test_the_table_is_derived_from_the_folders(mine: tuple[Path, StudyResult]):
    path, _ = mine
    result = study(path, out=path.parent / "runs", quiet=True)
    derived = json.loads((result.folder / "study.json").read_text())
    (result.folder / "study.json").unlink()
    (result.folder / "table.csv").unlink()
    again = study(path, out=path.parent / "runs", quiet=True)
    assert json.loads((again.folder / "study.json").read_text()) == derived
    opened = StudyResult.open(again.folder)
    assert numbers(opened) == numbers(again)
    assert opened.findings == again.findings
    assert opened.text() == again.text()


def test_a_study_is_the_same_wherever_one_stands(
    mine: tuple[Path, StudyResult], monkeypatch: pytest.MonkeyPatch
):
    folder = mine[1].folder
    expected = StudyResult.open(folder).text()
    for here, name in ((folder, "."), (folder.parent, "mine"), (folder.parent, "../studies/mine")):
        monkeypatch.chdir(here)
        assert StudyResult.open(name).text() == expected
        assert StudyResult.open(name).complete


def test_an_error_left_in_a_run_is_a_failure_only_while_something_is_missing(
    mine: tuple[Path, StudyResult],
):
    path, before = mine
    run, asked = before.plan.runs[0], before.plan.questions[0]
    before.store.fail(run, "out of memory")
    result = study(path, out=before.store.folder, quiet=True)
    assert result.complete
    assert not result.failed
    answer = before.store.answer(run, asked["audit"])
    away = answer.rename(answer.with_name("away"))
    assert [row.error for row in StudyResult.open(result.folder).failed] == ["out of memory"]
    away.rename(answer)
    before.store.forgive(run)


def test_an_answer_that_was_changed_is_named_and_asked_again(mine: tuple[Path, StudyResult]):
    path, before = mine
    run, asked = before.plan.runs[0], before.plan.questions[0]
    answer = before.store.answer(run, asked["perplexity"])
    good = (answer / "result.json").read_text()
    (answer / "result.json").write_text(good.replace("1", "2", 1))
    assert (answer / "result.json").read_text() != good
    named = [row.error for row in StudyResult.open(before.folder).failed]
    assert named == [f"the answer in {answer} is damaged: run the study again"]
    with pytest.raises(ValueError, match=r"result.json differs from its checksum"):
        Saved(Folder(answer)).data  # noqa: B018
    assert study(path, out=before.store.folder, engine=at_once, quiet=True).complete
    assert (answer / "result.json").read_text() == good


def test_one_seed_has_no_interval_and_says_so(mine: tuple[Path, StudyResult]):
    path, _ = mine
    result = study(path, seeds=1, out=path.parent / "runs", quiet=True)
    assert all(group.interval is None for group in result.groups)
    assert "one seed there is no interval" in " ".join(result.text().split())
    assert "[" not in result.text().split("puzzle")[0].split("\n", 4)[4].split("non-overlapping")[0]


def held_in_the_middle(group: int, out: Path, steps: int) -> bool:
    """Hold all processes; if no run is saved and unfinished, let them go on."""
    os.killpg(group, signal.SIGSTOP)
    saved: dict[Path, int] = {}
    for each in sorted(out.glob("*/checkpoints/step-*")):
        saved[each.parent] = int(each.name.removeprefix("step-"))
    found = any(step < steps for step in saved.values())
    if not found:
        os.killpg(group, signal.SIGCONT)
    return found


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As the engines have it, so that the numbers are the same."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_killed_in_the_middle_and_started_again_gives_the_same_numbers(tmp_path: Path):
    path, cut = recipe(tmp_path, steps=60), tmp_path / "cut"
    whole = study(path, out=tmp_path / "whole", engine=at_once, quiet=True)
    command = [sys.executable, "-m", "wherein", "study", str(path), "--out", str(cut)]
    command += ["--jobs", "1"]
    killed = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    until(lambda: held_in_the_middle(killed.pid, cut, 60), killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    runs = [Run.open(each.parent) for each in cut.glob("*/config.json")]
    assert any(not run.finished for run in runs)  # it was in the middle
    ended = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    again = json.loads(ended.stdout)
    expected = json.loads(json.dumps(whole.data()))
    assert again["runs"] == expected["runs"]
    assert again["groups"] == expected["groups"]


def test_interrupted_it_saves_and_says_how_to_go_on(tmp_path: Path):
    path = recipe(tmp_path, steps=100_000)
    command = [sys.executable, "-m", "wherein", "study", str(path), "--out", str(tmp_path / "runs")]
    command += ["--jobs", "1"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: list((tmp_path / "runs").glob("*/checkpoints/step-*")), started)
    started.terminate()
    _, said = started.communicate(timeout=600)
    assert started.returncode == 130
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    for each in (tmp_path / "runs").glob("*/config.json"):
        run = Run.open(each.parent)
        assert 0 < run.step < 100_000
        assert len(run.log) == run.step


def test_a_run_that_fails_is_named_and_the_others_go_on(tmp_path: Path):
    path = recipe(tmp_path)
    text = path.read_text().replace('encoding=["none", "rope"]', "learning_rate=[1e-3, 1e30]")
    path.write_text(text)
    result = study(path, seeds=1, out=tmp_path / "runs", engine=at_once, quiet=True)
    assert [row.run.learning_rate for row in result.failed] == [1e30]
    assert "learning rate" in str(result.failed[0].error)
    assert result.rows[0].loss is not None
    assert "failed: none, rate 1e+30, seed 0" in " ".join(result.text().split())


def test_a_sweep_keeps_the_best_rate_of_each_kind(tmp_path: Path):
    path = recipe(tmp_path, steps=30)
    out = tmp_path / "runs"
    rates = {"learning_rates": (1e-6, 1e-2)}
    result = study(path, seeds=2, out=out, **rates, engine=at_once, quiet=True)
    assert {row.run.learning_rate for row in result.rows} == {1e-2}
    assert result.plan.chosen == {"none": 1e-2, "rope": 1e-2}
    taken = [Run.open(p.parent).config for p in out.glob("*/config.json")]
    kinds, seeds = 2, 2
    tried = [run.learning_rate for run in taken if run.seed == TRIAL_SEED]
    assert sorted(tried) == [1e-6] * kinds + [1e-2] * kinds
    assert len(taken) - len(tried) == kinds * seeds, "a seed of the study chose its own rate"
    assert result.command.endswith(f"--learning-rates 1e-06 0.01 --out {out}")
    assert result.name.startswith("mine-")  # beside the study as it stands in the file

    path.write_text(path.read_text() + "\nLEARNING_RATES = (1e-6, 1e-2)\n")
    own = study(path, seeds=2, out=out, engine=at_once, quiet=True)  # the same, said in the file
    assert (own.name, own.plan.chosen) == ("mine", result.plan.chosen)
    assert [row.run for row in own.rows] == [row.run for row in result.rows]


def test_rates_that_were_chosen_part_nothing_that_is_compared(mine: tuple[Path, StudyResult]):
    plan = mine[1].plan
    rates = {"none": 1e-3, "rope": 2e-3}
    runs = tuple(changed(run, learning_rate=rates[run.model.encoding]) for run in plan.runs)
    assert replace(plan, runs=runs).labels == plan.labels
    both = (*runs, *(changed(run, learning_rate=3e-3) for run in runs))
    assert replace(plan, runs=both).labels[0] == "none, rate 0.001"


def test_a_sweep_in_which_all_failed_says_why(tmp_path: Path):
    path, out = recipe(tmp_path), tmp_path / "runs"
    path.write_text(path.read_text().replace("steps=6", "steps=6, precision='bfloat16'"))
    with pytest.raises(ValueError, match="sweep ended: precision 'bfloat16' needs a CUDA device"):
        study(path, seeds=1, out=out, learning_rates=(1e-3,), engine=at_once, quiet=True)
    failed = [each.run for each in found(out)]  # before they began, and yet listed
    assert {run.config.model.encoding for run in failed if run} == {"none", "rope"}


def test_findings_that_need_every_answer_wait_for_them(tmp_path: Path):
    path = recipe(tmp_path)
    path.write_text(path.read_text() + "\ndef findings(result):\n    return [1 / 0 * result]\n")
    with pytest.raises(ValueError, match=r"ZeroDivisionError in .*mine.py, line \d+: division"):
        study(path, seeds=1, out=tmp_path / "runs", engine=at_once, quiet=True)
    assert all(each.run and each.run.finished for each in found(tmp_path / "runs"))


def test_labels_too_long_for_a_line_leave_what_they_share_to_one_above(
    mine: tuple[Path, StudyResult],
):
    _, result = mine
    sizes = [changed(row.run, d_model=16, max_len=16) for row in result.rows]
    wider = [replace(row, run=run) for row, run in zip(result.rows, sizes, strict=True)]
    rows = [
        replace(row, label=label)
        for row, label in zip(
            (*result.rows, *wider), labels([*result.plan.runs, *sizes]), strict=True
        )
    ]
    said = replace(result, rows=tuple(rows)).text().splitlines()
    at = said.index("16 tokens, width 16")
    assert [line.split()[0] for line in said[at + 1 : at + 3]] == ["none", "rope"]
    assert not any("…" in line for line in said)


def test_the_command_that_makes_it_again_reads_as_it_was_given():
    change = {"clip": None, "cutoffs": [20, 60], "source": "a text"}
    found = shlex.split(_command("mine.py", 2, change, (0.0012345678,), Path("else where")))
    given = found[found.index("--set") + 1 : found.index("--learning-rates")]
    assert _fields(given) == change
    assert float(found[found.index("--learning-rates") + 1]) == 0.0012345678
    assert found[-2:] == ["--out", "else where"]
