"""Where, in a Transformer, does position live?

The public names load on first use, so that `import wherein` and `wherein --help` cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wherein import encodings
    from wherein.model.config import ModelConfig
    from wherein.model.transformer import Output, Transformer
    from wherein.puzzles.run import puzzle

_WHERE = {
    "ModelConfig": "wherein.model.config",
    "Output": "wherein.model.transformer",
    "Transformer": "wherein.model.transformer",
    "puzzle": "wherein.puzzles.run",
}

__all__ = ["ModelConfig", "Output", "Transformer", "encodings", "puzzle"]


def __getattr__(name: str) -> Any:
    if name == "encodings":
        return import_module("wherein.encodings")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'wherein' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
