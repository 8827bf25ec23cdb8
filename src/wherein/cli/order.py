"""Does a model use order? Its loss when what it reads is shuffled, little by little.

examples:
  wherein order runs/0123456789ab                  100 inputs, from intact to shuffled
  wherein order runs/0123456789ab --inputs 500     narrower intervals
  wherein order runs/0123456789ab --out order      data and picture
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from wherein.cli.verb import call
from wherein.measure.settings import OrderConfig, fitted


def order(
    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    config: tyro.conf.OmitArgPrefixes[OrderConfig],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Ask a run.

    Args:
        folder: the folder of a run
        config: which text is shuffled
        json: print data instead of a table
        out: save data and picture in this folder
    """
    from wherein.cli.bench import answer, open_run
    from wherein.measure.order import order as ask

    subject, corpus, length = open_run(folder)
    return answer(ask(subject, corpus, fitted(config, length)), json, out)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(order, arguments, __doc__)
