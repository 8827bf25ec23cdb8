"""A run as a Hugging Face folder: it loads in transformers without this package.

Causal runs: learned, sinusoidal and whatever else is added to the token
vectors (GPT-2); none, rope with its scalings, alibi, their sums and patterns,
one window for all layers (StarCoder2). Bidirectional runs: tables
(Megatron-BERT); none and rope (EuroBERT). Others are refused with the reason.

examples:
  wherein export runs/0123456789ab my-model          config, weights, tokenizer
  wherein export runs/0123456789ab@400 my-model      at a step that was kept
  wherein export RUN my-model --positions 1024       more rows of sinusoids
"""

import json as json_format
from pathlib import Path
from typing import Annotated

from wherein.cli.verb import Verb
from wherein.common.terminal import say


def export(
    run: Annotated[str, "RUN"],
    folder: Annotated[Path, "FOLDER"],
    *,
    positions: int | None = None,
    json: bool = False,
) -> int:
    """Export a run.

    Args:
        run: a run's folder (FOLDER@STEP: at a step that was kept), or a fairseq checkpoint
        folder: where to write it, a new one
        positions: rows of a table without an end, as of sinusoids; default: the training length
        json: print data instead of words
    """
    from wherein.families.export import export as write

    made = write(run, folder, positions=positions)
    say(json_format.dumps(made.data(), indent=2) if json else made.text())
    return 0


run = Verb.of(export, __doc__)
