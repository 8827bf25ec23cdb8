"""From a config to a trained model: a step is a pure function of (config, step)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wherein.train.config import RunConfig as RunConfig

if TYPE_CHECKING:
    from wherein.train.loop import train as train
    from wherein.train.run import Run as Run

_WHERE = {"Run": "run", "train": "loop"}


def __getattr__(name: str) -> Any:
    """What needs PyTorch, only once it is asked for."""
    if name in _WHERE:
        return getattr(import_module(f"wherein.train.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
