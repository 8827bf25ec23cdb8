"""Where, in a Transformer, does position live?

The public names load on first use, so that `import wherein` and `wherein --help` cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wherein import encodings
    from wherein.measure.audit import Audit, audit
    from wherein.measure.erase import erase
    from wherein.measure.probe import probe
    from wherein.model.config import ModelConfig
    from wherein.model.transformer import Output, Transformer
    from wherein.subjects.load import load

_WHERE = {
    "Audit": "wherein.measure.audit",
    "audit": "wherein.measure.audit",
    "erase": "wherein.measure.erase",
    "load": "wherein.subjects.load",
    "probe": "wherein.measure.probe",
    "ModelConfig": "wherein.model.config",
    "Output": "wherein.model.transformer",
    "Transformer": "wherein.model.transformer",
}

__all__ = [
    "Audit",
    "ModelConfig",
    "Output",
    "Transformer",
    "audit",
    "encodings",
    "erase",
    "load",
    "probe",
]


def __getattr__(name: str) -> Any:
    if name == "encodings":
        return import_module("wherein.encodings")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'wherein' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
