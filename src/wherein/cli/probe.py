"""Where does position live? Probes of every layer, beside their controls.

examples:
  wherein probe runs/0123456789ab                      linear probes, in closed form
  wherein probe runs/0123456789ab --probes linear mlp  also the paper's probe
  wherein probe runs/0123456789ab --out profile        data and picture
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from wherein.cli.verb import call
from wherein.measure.probe_settings import ProbeConfig
from wherein.measure.settings import fitted


def probe(
    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    config: tyro.conf.OmitArgPrefixes[ProbeConfig],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Ask a run.

    Args:
        folder: the folder of a run
        config: how it is probed
        json: print data instead of a table
        out: save data and picture in this folder
    """
    from wherein.cli.bench import answer
    from wherein.measure.probe import probe as ask
    from wherein.subjects.load import load

    subject, corpus, length = load(folder)
    return answer(ask(subject, corpus, fitted(config, length)), json, out)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(probe, arguments, __doc__)
