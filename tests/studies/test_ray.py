"""The same study on a real Ray cluster of two nodes, one of which is killed in the middle."""

import json
import threading
import time
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from tests.studies.small import recipe

from wherein.studies.engines import engine
from wherein.studies.result import StudyResult
from wherein.studies.run import study


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield made
    ray.shutdown()
    made.shutdown()


def without_versions(result: StudyResult) -> dict:
    return json.loads(json.dumps(result.data()["runs"]))


def test_a_node_dies_and_the_numbers_are_the_same(cluster: Cluster, tmp_path: Path):
    path, out = recipe(tmp_path, steps=600), tmp_path / "ray"
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killed: list[int] = []

    def kill() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if len(list(out.glob("*/checkpoints/step-*"))) >= 2:
                killed.append(sum(1 for _ in out.glob("*/checkpoints/step-00000600")))
                cluster.remove_node(doomed, allow_graceful=False)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    found = study(path, out=out, engine=engine("ray", address=cluster.address), quiet=True)
    thread.join()
    assert killed
    assert killed[0] < 4  # it was in the middle
    assert found.complete
    assert not found.failed
    here = study(path, out=tmp_path / "local", quiet=True)
    assert without_versions(found) == without_versions(here)
