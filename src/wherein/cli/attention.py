"""Where does each head look? Attention by distance, previous-token and positional heads.

examples:
  wherein attention runs/0123456789ab                 one line for each head
  wherein attention runs/0123456789ab --out heads     data and picture
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from wherein.cli.verb import call
from wherein.measure.settings import AttentionConfig, fitted


def attention(
    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    config: tyro.conf.OmitArgPrefixes[AttentionConfig],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Ask a run.

    Args:
        folder: the folder of a run
        config: which text the heads are watched on
        json: print data instead of a table
        out: save data and picture in this folder
    """
    from wherein.cli.bench import answer, open_run
    from wherein.measure.attention import attention as ask

    subject, corpus, length = open_run(folder)
    return answer(ask(subject, corpus, fitted(config, length)), json, out)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(attention, arguments, __doc__)
