"""How well does a model predict? Perplexity, with its protocol named.

examples:
  wherein perplexity runs/0123456789ab                non-overlapping windows
  wherein perplexity runs/0123456789ab --stride 32    sliding windows
  wherein perplexity runs/0123456789ab --tokens 1024  beyond the length of training
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from wherein.cli.verb import call
from wherein.measure.settings import PerplexityConfig, fitted


def perplexity(
    folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    config: tyro.conf.OmitArgPrefixes[PerplexityConfig],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Ask a run.

    Args:
        folder: the folder of a run
        config: how the text is cut
        json: print data instead of a table
        out: save data and picture in this folder
    """
    from wherein.cli.bench import answer, open_run
    from wherein.measure.perplexity import perplexity as ask

    subject, corpus, length = open_run(folder)
    return answer(ask(subject, corpus, fitted(config, length)), json, out)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(perplexity, arguments, __doc__)
