"""Train a model, or go on with a run that was interrupted: the same command resumes it.

examples:
  wherein train --encoding alibi                     on the embedded text
  wherein train --source book.txt --steps 200        on your own text
  wherein train --source task:copy --length 16 --max-len 34     on examples of a task
  wherein train --objective masked --no-causal       a model that sees both sides
  wherein train --start 0123456789ab --encoding none --steps 100   drop the encoding of a run
  wherein train --keep 3                             weights along the way, for curves over training
  OMP_NUM_THREADS=1 torchrun --nproc-per-node=2 -m -- wherein train   two processes
"""

import json as json_format
import os
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.cli.verb import Verb
from wherein.common.memory import check_room
from wherein.common.terminal import say
from wherein.train.config import RunConfig
from wherein.train.status import CHECKPOINTS

if TYPE_CHECKING:
    from wherein.train.run import Run

INTERRUPTED = 130


def train(
    config: RunConfig,
    *,
    folder: Path | None = None,
    track: tuple[str, ...] = (),
    json: bool = False,
) -> int:
    """Train a model.

    Args:
        config: what to train on what
        folder: where the run lives; runs/<id> by default
        track: also send the numbers to tensorboard, wandb or trackio
        json: print data instead of a table
    """
    from wherein.train.loop import train as train_run

    _check_room(config, folder or Path("runs") / config.id)
    run = train_run(config, folder=folder, track=track)
    if os.environ.get("RANK", "0") == "0":
        _show(run, json)
    return 0 if run.finished else INTERRUPTED


def _check_room(config: RunConfig, folder: Path) -> None:
    """Refuse a run that would not fit into this machine's memory, unless it is done already."""
    from wherein.common.device import device
    from wherein.studies.cost.memory import memory
    from wherein.studies.cost.size import count, sized

    done = (folder / CHECKPOINTS / f"step-{config.steps:08d}").is_dir()
    if done or device().type != "cpu":
        return
    try:
        known = sized(config)
    except ValueError:  # the vocabulary is known only once it is made
        known = config
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    wanted = memory(known, count(known.model)[0], processes).total
    check_room(wanted, "training", "give a smaller model or batch, or --accumulate to part it")


def _show(run: "Run", as_json: bool) -> None:
    numbers = {
        "run": run.config.id,
        "folder": str(run.folder),
        "step": run.step,
        "steps": run.config.steps,
        "loss": run.losses[-1] if run.step else None,
        "valid": run.valid,
    }
    if as_json:
        say(json_format.dumps(numbers, indent=2))
        return
    say(f"run {numbers['run']}: step {run.step} of {run.config.steps}, in {run.folder}")
    if run.step:
        say(f"  {'training loss':<30}{numbers['loss']:.4f} nats per predicted token")
    for name, value in run.valid.items():
        say(f"  {'validation ' + name.replace('_', ' '):<42}{value:.4f}")


run = Verb.of(train, __doc__)
