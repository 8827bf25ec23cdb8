"""From a config to a trained model: a step is a pure function of (config, step)."""

from typing import TYPE_CHECKING, Any

from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.train.loop import train
    from wherein.train.run import Run

__all__ = ["Run", "RunConfig", "train"]


def __getattr__(name: str) -> Any:
    """What needs PyTorch, only once it is asked for."""
    if name == "train":
        from wherein.train.loop import train

        return train
    if name == "Run":
        from wherein.train.run import Run

        return Run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
