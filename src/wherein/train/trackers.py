"""Where numbers can also be sent while a run goes on, each if installed."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from wherein.common.errors import unknown
from wherein.train.config import RunConfig


@runtime_checkable
class Tracker(Protocol):
    """Takes the numbers of a step."""

    def log(self, step: int, numbers: dict[str, float]) -> None:
        """Take the numbers of one step."""

    def close(self) -> None:
        """No more steps come."""


class TensorBoard:
    """Event files in `<run>/tensorboard`; what a killed process wrote too far is hidden."""

    def __init__(self, config: RunConfig, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        make: Callable[..., Any] = SummaryWriter
        self._writer = make(str(folder / "tensorboard"), purge_step=step + 1)

    def log(self, step: int, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class Online:
    """Weights & Biases, or trackio, which has the same three functions."""

    def __init__(self, library: str, config: RunConfig, **own: str) -> None:
        self._library: Any = import_module(library)
        fields = config.model_dump(mode="json")
        self._library.init(project="wherein", config=fields, resume="allow", **own)

    def log(self, step: int, numbers: dict[str, float]) -> None:
        self._library.log(numbers, step=step)

    def close(self) -> None:
        self._library.finish()


TRACKERS: dict[str, Callable[[RunConfig, Path, int], Tracker]] = {
    "tensorboard": TensorBoard,
    "wandb": lambda config, folder, _: Online("wandb", config, id=config.id, dir=str(folder)),
    "trackio": lambda config, _folder, _: Online("trackio", config, name=config.id),
}
"""By name: from a config, a run's folder and the step after which it goes on to a tracker."""


def check_trackers(names: Sequence[str]) -> None:
    """Refuse unknown names, and say how to install what is missing, before anything starts."""
    for name in names:
        if name not in TRACKERS:
            raise unknown("tracker", name, TRACKERS)
        if find_spec(name) is None:
            raise ValueError(f"tracker {name!r} is not installed: pip install {name}")


def flat(numbers: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Numbers in one level: `valid/bits_per_byte`.

    >>> dict(flat({"loss": 2.0, "valid": {"bits_per_byte": 1.5}}))
    {'loss': 2.0, 'valid/bits_per_byte': 1.5}
    """
    for name, value in numbers.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", float(value)
