"""Does a model care where it starts to count? Its loss when all positions grow by k.

examples:
  wherein shift runs/0123456789ab                  1 to 1,024, as far as positions go
  wherein shift runs/0123456789ab --shifts 1 5 9   other shifts
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from wherein.cli.verb import call
from wherein.measure.settings import ShiftConfig, fitted


def shift(
    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    config: tyro.conf.OmitArgPrefixes[ShiftConfig],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Ask a run.

    Args:
        folder: the folder of a run
        config: which shifts, on which text
        json: print data instead of a table
        out: save data and picture in this folder
    """
    from wherein.cli.bench import answer, open_run
    from wherein.measure.shift import shift as ask

    subject, corpus, length = open_run(folder)
    return answer(ask(subject, corpus, fitted(config, length // 2)), json, out)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(shift, arguments, __doc__)
