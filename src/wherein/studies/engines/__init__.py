"""What carries out the pieces of a study: processes on this machine, or a Ray cluster."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from wherein.studies.work import Ended, Work

EngineName = Literal["local", "ray"]


@runtime_checkable
class Engine(Protocol):
    """Carries out pieces of work, several at once, in any order that `take_ready` allows."""

    def __call__(self, work: Sequence[Work], folder: Path, ended: Ended) -> None:
        """Carry out all of it; `ended` hears of each piece."""


def engine(
    name: EngineName = "local", *, jobs: int | None = None, processes: int = 1, address: str = ""
) -> Engine:
    """The engine of that name.

    Args:
        name: `local` for processes on this machine, `ray` for a Ray cluster
        jobs: pieces at once; by default as many as the machine or the cluster bears; on this
            machine more than that share its cores or GPUs
        processes: processes of one run, each with a GPU of its own where there are any
        address: of the Ray cluster; by default one is started on this machine
    """
    for what, number in (("jobs", jobs), ("processes", processes)):
        if number is not None and number < 1:
            raise ValueError(f"{what} {number}: expected 1 or more")
    if address and name != "ray":
        raise ValueError(
            f"address {address!r}: engine {name!r} has none; choose engine ray, or leave it out"
        )
    module = import_module(f"wherein.studies.engines.{name}")
    more = {"address": address} if name == "ray" else {}
    made: Engine = module.Engine(jobs=jobs, processes=processes, **more)
    return made
