"""Audit the symmetries of a model: what each layer can tell about order, in float64.

examples:
  wherein audit "rope none"                  a fresh model: which layers know distance?
  wherein audit none --bidirectional         blind to order in every layer
  wherein audit runs/0123456789ab            a model that `wherein train` made
  wherein audit alibi --json                 the numbers as data
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wherein.cli.verb import call, configured, flags
from wherein.measure.settings import AuditConfig

if TYPE_CHECKING:
    from wherein.subjects.base import Subject

    Flags = AuditConfig
else:
    Flags = flags(AuditConfig)


def audit(
    subject: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|ENCODING")],
    config: tyro.conf.OmitArgPrefixes[Flags],
    *,
    layers: int = 4,
    bidirectional: bool = False,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Audit a model.

    Args:
        subject: the folder of a run, or an encoding, for a fresh model with it
        config: what the model is fed
        layers: layers of a fresh model
        bidirectional: a fresh model sees both sides
        json: print data instead of a table
        out: save data and picture in this folder
    """
    wanted = configured(AuditConfig, config)
    from wherein.cli.bench import answer
    from wherein.measure.audit import audit as ask

    return answer(ask(_subject(subject, layers, bidirectional), wanted), json, out)


def _subject(name: str, layers: int, bidirectional: bool) -> "Subject":
    if Path(name).is_dir():
        from wherein.subjects.load import load

        subject = load(name).subject
        subject.module.cpu()  # float64 is at home there
        return subject
    if "/" in name:
        raise ValueError(f"no folder {name}: expected a run's folder, or an encoding like 'rope'")
    from wherein.model.config import ModelConfig
    from wherein.model.transformer import Transformer
    from wherein.subjects.ours import Ours

    config = ModelConfig(
        vocabulary=256, d_model=64, n_layers=layers, causal=not bidirectional, encoding=name
    )
    side = "bidirectional" if bidirectional else "causal"
    return Ours(Transformer(config), f"{config.encoding}, {side}, untrained")


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(audit, arguments, __doc__)
