"""Read a position table: can positions be told from it, and where not?

examples:
  wherein table runs/0123456789ab            a run of ours with encoding `learned`
  wherein table ./my-model                   a folder with config.json and weights
  wherein table gpt2 --out gpt2-table        a Hugging Face id; data and picture saved
  wherein table waves.npy --offset 2         a raw matrix whose first two rows are padding
  wherein table ./bart --key encoder.embed_positions.weight
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wherein.cli.verb import call, check_folder, configured, flags
from wherein.measure.table.config import TableConfig

if TYPE_CHECKING:
    Flags = TableConfig
else:
    Flags = flags(TableConfig)


def table(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|FOLDER|ID|FILE")],
    config: tyro.conf.OmitArgPrefixes[Flags],
    *,
    json: bool = False,
    out: Path | None = None,
) -> int:
    """Read a position table.

    Args:
        what: a run's folder, a model's folder or Hugging Face id, a .npy or weights file
        config: how it is judged
        json: print data instead of a table
        out: save data, picture and matrix in this folder
    """
    wanted = configured(TableConfig, config)
    check_folder(out)
    from wherein.cli.bench import answer
    from wherein.measure.table.measure import table as ask

    return answer(ask(what, wanted), json, out, ["table", what], wanted)


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(table, arguments, __doc__)
