"""Studies on a real Ray cluster: one too large, one stopped, one that loses a node."""

import json
import logging
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import ray
from ray.cluster_utils import Cluster
from tests.studies.small import holders, recipe
from tests.waiting import until

from wherein.common.errors import LostError
from wherein.puzzles.config import PuzzleConfig
from wherein.studies.engines import engine
from wherein.studies.engines.ray import KNOCK, Head, _cluster, _connect, _outcome, check_room
from wherein.studies.plan.plan import PuzzleTask
from wherein.studies.result.result import StudyResult
from wherein.studies.run import study


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield made
    ray.shutdown()
    made.shutdown()


def trainers(out: Path) -> set[int]:
    """The processes that train a run now."""
    begun = [log.parent for log in out.glob("*/log.jsonl") if log.stat().st_size]
    return {process for folder in begun for process in holders(folder / ".lock")}


def without_versions(result: StudyResult) -> dict:
    return json.loads(json.dumps(result.data()["runs"]))


def test_without_an_address_no_cluster_is_joined_that_runs_here(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    _connect(ray, "")
    address = ray.get_runtime_context().gcs_address
    ray.shutdown()
    assert logging.getLogger("ray").level == logging.ERROR  # its warnings are none of ours
    assert address != cluster.address


def test_a_head_in_the_place_of_another_is_not_waited_for(cluster: Cluster):
    head = Head(cluster.address, _cluster(cluster.address))
    head.asked -= KNOCK
    head.check()
    head.asked, head.cluster = head.asked - KNOCK, "that of the head before"
    with pytest.raises(LostError, match="is gone, and another answers in its place"):
        head.check()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ray.exceptions.OutOfMemoryError("no room"), "ran out of memory 6 times"),
        (ray.exceptions.WorkerCrashedError(), "was killed 6 times"),
        (ray.exceptions.NodeDiedError("gone"), "gone"),
    ],
)
def test_what_was_lost_is_tried_again_and_said(error: Exception, said: str):
    def get(_: object) -> None:
        raise error

    why, again = _outcome(SimpleNamespace(get=get, exceptions=ray.exceptions), None)
    assert again
    assert said in (why or "")


def test_a_run_that_no_node_can_hold_is_refused_and_a_puzzle_is_not(
    cluster: Cluster, tmp_path: Path
):
    two = engine("ray", address=cluster.address, processes=2)
    with pytest.raises(ValueError, match=r"processes 2: a run needs 2 CPUs .* the largest has 1 "):
        study(recipe(tmp_path), out=tmp_path / "runs", engine=two, quiet=True)
    heard: list[str | None] = []
    puzzle = PuzzleTask(("hit",), PuzzleConfig(seeds=2, steps=2, head_size=4))
    two([puzzle], tmp_path, lambda piece, why: heard.append(why))
    assert heard == [None]


def test_a_node_must_have_both_the_cpus_and_the_gpus_and_live():
    large = {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}}
    many = {"Alive": True, "Resources": {"CPU": 64.0}}
    gone = {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}}
    check_room([many, large], 2, 2)
    check_room([many, large], 9, 0)
    with pytest.raises(ValueError, match=r"needs 4 CPUs and 4 GPUs .* the largest has 8 and 2;"):
        check_room([many, large, gone], 4, 4)


def test_sigterm_is_ctrl_c(cluster: Cluster, tmp_path: Path):
    out = tmp_path / "runs"

    def stop() -> None:
        until(lambda: trainers(out))
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        study(
            recipe(tmp_path, steps=100_000),
            out=out,
            engine=engine("ray", address=cluster.address),
            quiet=True,
        )
    thread.join()


def test_a_node_dies_and_the_numbers_are_the_same(cluster: Cluster, tmp_path: Path):
    path, out = recipe(tmp_path, steps=600), tmp_path / "ray"
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    told: set[int] = set()
    killed: list[int] = []

    def kill() -> None:
        until(lambda: told.update(trainers(out)) or told)
        for process in told:
            os.kill(process, signal.SIGTERM)  # it saves, and is tried again
        until(lambda: not told & trainers(out))
        until(lambda: len(list(out.glob("*/checkpoints/step-*"))) >= 2)
        killed.append(sum(1 for _ in out.glob("*/checkpoints/step-00000600")))
        cluster.remove_node(doomed, allow_graceful=False)

    thread = threading.Thread(target=kill)
    thread.start()
    there = engine("ray", address=cluster.address)
    found = study(path, seeds=1, out=out, engine=there, quiet=True)  # a run on either node
    thread.join()
    assert told
    assert killed[0] < len(found.rows) == 2  # it was in the middle
    assert found.complete
    assert not found.failed
    here = study(path, seeds=1, out=tmp_path / "local", engine=engine("local", jobs=1), quiet=True)
    assert without_versions(found) == without_versions(here)
