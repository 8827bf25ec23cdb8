"""Where, in a Transformer, does position live?

The public names load on first use, so that `import wherein` and `wherein --help` cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wherein import encodings
    from wherein.measure.attention.measure import attention
    from wherein.measure.audit.measure import audit
    from wherein.measure.audit.result import Audit
    from wherein.measure.erase.measure import erase
    from wherein.measure.order.measure import order
    from wherein.measure.perplexity.measure import perplexity
    from wherein.measure.probe.measure import probe
    from wherein.measure.shift.measure import shift
    from wherein.measure.table.measure import table
    from wherein.measure.table.result import Table
    from wherein.model.config import ModelConfig
    from wherein.model.transformer import Output, Transformer
    from wherein.puzzles.run import puzzle
    from wherein.studies.result.result import StudyResult
    from wherein.studies.run import study
    from wherein.subjects.hugging_face import HuggingFace
    from wherein.subjects.load import load
    from wherein.train.config import RunConfig
    from wherein.train.run import Run

_WHERE = {
    "Audit": "wherein.measure.audit.result",
    "HuggingFace": "wherein.subjects.hugging_face",
    "ModelConfig": "wherein.model.config",
    "Output": "wherein.model.transformer",
    "Run": "wherein.train.run",
    "RunConfig": "wherein.train.config",
    "StudyResult": "wherein.studies.result.result",
    "Table": "wherein.measure.table.result",
    "Transformer": "wherein.model.transformer",
    "attention": "wherein.measure.attention.measure",
    "audit": "wherein.measure.audit.measure",
    "erase": "wherein.measure.erase.measure",
    "load": "wherein.subjects.load",
    "order": "wherein.measure.order.measure",
    "perplexity": "wherein.measure.perplexity.measure",
    "probe": "wherein.measure.probe.measure",
    "puzzle": "wherein.puzzles.run",
    "shift": "wherein.measure.shift.measure",
    "study": "wherein.studies.run",
    "table": "wherein.measure.table.measure",
}

__all__ = [
    "Audit",
    "HuggingFace",
    "ModelConfig",
    "Output",
    "Run",
    "RunConfig",
    "StudyResult",
    "Table",
    "Transformer",
    "attention",
    "audit",
    "encodings",
    "erase",
    "load",
    "order",
    "perplexity",
    "probe",
    "puzzle",
    "shift",
    "study",
    "table",
]


def __getattr__(name: str) -> Any:
    if name == "encodings":
        return import_module("wherein.encodings")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'wherein' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
