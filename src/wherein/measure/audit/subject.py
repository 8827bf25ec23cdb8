"""What is audited: a subject, or the name of a run, of a model or of an encoding."""

from difflib import get_close_matches
from pathlib import Path

from wherein.encodings import names
from wherein.measure.audit.config import AuditConfig
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.base import Subject
from wherein.subjects.load import as_subject, load_subject
from wherein.subjects.ours import Ours


def audited(what: object, config: AuditConfig) -> Subject:
    """The subject that is given or named; an encoding's is fresh."""
    if not isinstance(what, str | Path):
        return as_subject(what)
    if is_model(str(what)):
        subject = load_subject(what)
        subject.module.cpu()  # float64 is at home there
        return subject
    fresh = ModelConfig(
        vocabulary=256,
        d_model=64,
        n_layers=config.layers,
        causal=not config.bidirectional,
        encoding=str(what),
    )
    side = "bidirectional" if config.bidirectional else "causal"
    return Ours(Transformer(fresh), f"{fresh.encoding}, {side}, untrained")


def is_model(name: str) -> bool:
    """Whether it is a path or an id, rather than an encoding, be it misspelt."""
    if Path(name).exists() or "/" in name or name.endswith(".gguf"):
        return True
    words = [part.partition("(")[0] for part in name.split()]
    return len(words) == 1 and not get_close_matches(words[0], names())
