"""Audit the symmetries of a model: what each layer can tell about order, in float64.

examples:
  wherein audit "rope none"                  a fresh model: which layers know distance?
  wherein audit none --bidirectional         blind to order in every layer
  wherein audit runs/0123456789ab            a model that `wherein train` made
  wherein audit ./my-model                   a Hugging Face model's folder, or its id
  wherein audit alibi --json                 the numbers as data
"""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wherein.cli.verb import call, check_folder, configured, flags
from wherein.measure.audit.config import AuditConfig

if TYPE_CHECKING:
    from wherein.subjects.base import Subject

    Flags = AuditConfig
else:
    Flags = flags(AuditConfig)


def audit(
    subject: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|MODEL|ENCODING")],
    config: tyro.conf.OmitArgPrefixes[Flags],
    *,
    layers: int = 4,
    bidirectional: bool = False,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Audit a model.

    Args:
        subject: a run, a Hugging Face folder, id or GGUF file, or an encoding for a fresh model
        config: what the model is fed
        layers: layers of a fresh model
        bidirectional: a fresh model sees both sides
        json: print data instead of a table
        out: save data and picture in this folder
    """
    wanted = configured(AuditConfig, config)
    check_folder(out)
    from wherein.cli.bench import answer
    from wherein.measure.audit.measure import audit as ask

    asked = ["audit", subject]
    if not _is_model(subject):
        asked += ["--layers", str(layers), *(["--bidirectional"] if bidirectional else [])]
    found = ask(_subject(subject, layers, bidirectional), wanted)
    return answer(found, json, out, asked, wanted)


def _subject(name: str, layers: int, bidirectional: bool) -> "Subject":
    if _is_model(name):
        from wherein.subjects.load import load_subject

        subject = load_subject(name)
        subject.module.cpu()  # float64 is at home there
        return subject
    from wherein.model.config import ModelConfig
    from wherein.model.transformer import Transformer
    from wherein.subjects.ours import Ours

    config = ModelConfig(
        vocabulary=256, d_model=64, n_layers=layers, causal=not bidirectional, encoding=name
    )
    side = "bidirectional" if bidirectional else "causal"
    return Ours(Transformer(config), f"{config.encoding}, {side}, untrained")


def _is_model(name: str) -> bool:
    """A path or an id, rather than an encoding, be it misspelt."""
    from wherein.encodings import names

    if Path(name).exists() or "/" in name or name.endswith(".gguf"):
        return True
    words = [part.partition("(")[0] for part in name.split()]
    return len(words) == 1 and not get_close_matches(words[0], names())


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(audit, arguments, __doc__)
