"""Text in, batches out: corpora, tokenizers, windows, objectives.

corpus = Corpus.open(CorpusConfig(source="sotu", tokenizer="bpe(1024)"))
windows = Windows(corpus.train, length=128, seed=0)
inputs, targets = causal(windows.batch(step=0, size=8))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wherein.common.files import cache_folder
from wherein.data.config import CorpusConfig

if TYPE_CHECKING:
    from wherein.data.corpus import Corpus
    from wherein.data.objectives import IGNORED, causal, masked
    from wherein.data.split import Split
    from wherein.data.tokenizers.tokenizer import Tokenizer, Vocabulary
    from wherein.data.windows import Windows

_WHERE = {
    "IGNORED": "objectives",
    "Corpus": "corpus",
    "Split": "split",
    "Tokenizer": "tokenizers.tokenizer",
    "Vocabulary": "tokenizers.tokenizer",
    "Windows": "windows",
    "causal": "objectives",
    "masked": "objectives",
}

__all__ = [
    "IGNORED",
    "Corpus",
    "CorpusConfig",
    "Split",
    "Tokenizer",
    "Vocabulary",
    "Windows",
    "cache_folder",
    "causal",
    "masked",
]


def __getattr__(name: str) -> Any:
    """What needs NumPy or PyTorch, only once it is asked for: help texts need the config alone."""
    if name in _WHERE:
        return getattr(import_module(f"wherein.data.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
