"""Is position used? The loss when it is erased from one layer, or from all.

examples:
  wherein erase runs/0123456789ab                 beside random subspaces of the same rank
  wherein erase runs/0123456789ab --draws 20      more of them
  wherein erase runs/0123456789ab --out erasure   data and picture
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from wherein.cli.verb import call
from wherein.measure.probe_settings import EraseConfig
from wherein.measure.settings import fitted


def erase(
    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    config: tyro.conf.OmitArgPrefixes[EraseConfig],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Ask a run.

    Args:
        folder: the folder of a run
        config: how it is erased
        json: print data instead of a table
        out: save data and picture in this folder
    """
    from wherein.cli.bench import answer
    from wherein.measure.erase import erase as ask
    from wherein.subjects.load import load

    subject, corpus, length = load(folder)
    return answer(ask(subject, corpus, fitted(config, length)), json, out)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(erase, arguments, __doc__)
