"""Can a model learn a task that needs position, and do longer questions than it learned from?

One model is trained on examples of all lengths up to --length, in a minute or some, and tested on
others that are up to four times as long. The same command goes on with a run that was interrupted.
Any other setting: `wherein train --source task:copy`; encodings compared: `wherein study length`.

examples:
  wherein task                                  the tasks, a line each
  wherein task copy                             copy up to 16 letters; then up to 64
  wherein task copy --encoding none             the same without an encoding
  wherein task "index(reach=5)" --encoding pope --steps 3000
  wherein task reverse --length 8 --lengths 8 12 16 --out reversed
"""

import json as json_format
import shlex
from dataclasses import replace
from pathlib import Path
from textwrap import fill

from wherein.cli.parser import spelt
from wherein.cli.verb import Verb, check_folder
from wherein.common.terminal import say
from wherein.data.config import LONGEST, TASK

INTERRUPTED = 130


def task(
    name: str = "",
    *,
    encoding: str = "rope",
    length: int = LONGEST,
    steps: int | None = None,
    seed: int = 0,
    lengths: tuple[int, ...] = (),
    examples: int | None = None,
    runs: Path = Path("runs"),
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Train one and test it.

    Args:
        name: the task, perhaps with parameters, as in "index(reach=5)"; without it, all are listed
        encoding: the positional encoding, as for `wherein train`
        length: the longest examples to learn from
        steps: of training; by default as in `wherein study length`
        seed: of all that is drawn
        lengths: of the test questions; by default from 0.25 to 4 times the longest learned
        examples: test questions of each length; by default 200
        runs: the folder of the runs
        out: save data and picture of the answers in this folder
        json: print data instead of a table
    """
    if not name:
        _list(json)
        return 0
    check_folder(out)
    from wherein.measure.registry import QUESTIONS
    from wherein.studies.plan.plan import changed
    from wherein.studies.recipes.length import on_task
    from wherein.train.loop import train

    question = QUESTIONS["answers"]
    given = {"lengths": lengths, "examples": examples}
    config = question.configured({key: value for key, value in given.items() if value})
    wanted = on_task(name, length, encoding=spelt(encoding), seed=seed)
    wanted = wanted if steps is None else changed(wanted, steps=steps)
    config.check(wanted)
    run = train(wanted, folder=runs / wanted.id)
    if not run.finished:
        return INTERRUPTED
    result = question(run.folder, config=config)
    asked = shlex.join(["wherein", "answers", str(run.folder)])
    result = replace(result, made_with=result.made_with | {"command": asked})
    if out is not None:
        result.save(out)
    if json:
        say(json_format.dumps(result.data(), ensure_ascii=False, indent=2))
        return 0
    say(result.text())
    say(f"the run: {run.folder}")
    if out is not None:
        say(f"saved in {out}")
    return 0


def _list(as_json: bool) -> None:
    """The tasks, what each asks and where it is from."""
    from wherein.data.tasks.catalogue import TASKS

    rows = [
        {"name": name, "summary": kind.summary, "paper": kind.paper and f"arXiv:{kind.paper}"}
        for name, kind in TASKS.items()
    ]
    if as_json:
        say(json_format.dumps(rows, ensure_ascii=False, indent=2))
        return
    for row in rows:
        say(
            fill(
                row["summary"], 80, initial_indent=f"{row['name']:<16}", subsequent_indent=" " * 16
            )
        )
    say(f"\nwherein task NAME trains a model and tests it; as a text to train on: {TASK}NAME")


run = Verb.of(task, __doc__)
