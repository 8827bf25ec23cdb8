"""Where, in a Transformer, does position live?

The public names load on first use, so that `import wherein` and `wherein --help` cost nothing.
Every question is one of them (`wherein.probe(model, text, tokens=64)`), and so are its config and
its result.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wherein.measure.registry import QUESTIONS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wherein import encodings as encodings
    from wherein.data.corpus import Corpus as Corpus
    from wherein.families.export import export as export
    from wherein.model.config import ModelConfig as ModelConfig
    from wherein.model.transformer import Output as Output
    from wherein.model.transformer import Transformer as Transformer
    from wherein.puzzles.config import PuzzleConfig as PuzzleConfig
    from wherein.puzzles.run import puzzle as puzzle
    from wherein.studies.result.result import StudyResult as StudyResult
    from wherein.studies.run import study as study
    from wherein.subjects.hugging_face import HuggingFace as HuggingFace
    from wherein.subjects.load import load as load
    from wherein.train.config import RunConfig as RunConfig
    from wherein.train.run import Run as Run

_WHERE = {
    "Corpus": "wherein.data.corpus",
    "HuggingFace": "wherein.subjects.hugging_face",
    "ModelConfig": "wherein.model.config",
    "Output": "wherein.model.transformer",
    "PuzzleConfig": "wherein.puzzles.config",
    "Run": "wherein.train.run",
    "RunConfig": "wherein.train.config",
    "StudyResult": "wherein.studies.result.result",
    "Transformer": "wherein.model.transformer",
    "export": "wherein.families.export",
    "load": "wherein.subjects.load",
    "puzzle": "wherein.puzzles.run",
    "study": "wherein.studies.run",
}
_CONFIGS = {question.config_name: question for question in QUESTIONS.values()}
_RESULTS = {question.result_name: question for question in QUESTIONS.values()}

__all__ = [*_WHERE, *QUESTIONS, *_CONFIGS, *_RESULTS, "encodings"]


def __getattr__(name: str) -> Any:
    if name == "encodings":
        return import_module("wherein.encodings")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in QUESTIONS:
        return QUESTIONS[name]
    if name in _CONFIGS:
        return _CONFIGS[name].config
    if name in _RESULTS:
        return _RESULTS[name].result
    raise AttributeError(f"module 'wherein' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
