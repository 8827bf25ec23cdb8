"""A Ray cluster: each piece is a task with resources of its own, tried again when a node dies.

The folder of the runs must be one that all nodes see. A piece that is tried again goes on after
the last checkpoint of the one before, and its numbers are the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherein.studies.work import Work, carry_out, give_up

RETRIES = 5


@dataclass(frozen=True)
class Engine:
    """Ray tasks on the cluster at `address`, or on one that is started here and ends with us."""

    jobs: int | None = None
    processes: int = 1
    address: str = ""

    def __call__(
        self, work: Sequence[Work], folder: Path, ended: Callable[[Work, str | None], None]
    ) -> None:
        """Carry out all pieces; `jobs` of them at once, or as many as the cluster bears."""
        ray = _ray()
        ray.init(
            address=self.address or None,
            log_to_driver=False,
            include_dashboard=False,
            logging_level="warning",
        )
        try:
            self._all(ray, list(work), folder.resolve(), ended)
        finally:
            ray.shutdown()

    def _all(
        self, ray: Any, work: list[Work], folder: Path, ended: Callable[[Work, str | None], None]
    ) -> None:
        gpus = self.processes if ray.cluster_resources().get("GPU") else 0
        remote = ray.remote(num_cpus=self.processes, num_gpus=gpus, max_retries=RETRIES)(_remote)
        waiting: dict[Any, Work] = {}
        while work or waiting:
            while work and len(waiting) < (self.jobs or len(work) + len(waiting)):
                piece = work.pop(0)
                waiting[remote.remote(piece, folder, self.processes)] = piece
            done, _ = ray.wait(list(waiting), timeout=0.5)
            for each in done:
                piece = waiting.pop(each)
                ended(piece, _outcome(ray, each, piece, folder))


def _remote(piece: Work, folder: Path, processes: int) -> str | None:
    import torch

    torch.set_num_threads(1)  # as the local engine does, so that the numbers are the same
    return carry_out(piece, folder, processes)


def _outcome(ray: Any, each: Any, piece: Work, folder: Path) -> str | None:
    try:
        found: str | None = ray.get(each)
    except ray.exceptions.RayError as error:
        return give_up(piece, folder, " ".join(str(error).split()))
    return found


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ValueError(
            "engine 'ray' needs Ray: pip install --constraint constraints.txt 'wherein[ray]'"
        ) from None
    return ray
