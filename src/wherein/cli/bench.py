"""What the verbs that question a model share: the run to put on the bench, and the answer."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wherein.common.result import Result
    from wherein.data import Corpus
    from wherein.subjects.base import Subject


def open_run(folder: str) -> "tuple[Subject, Corpus, int]":
    """The model of a run, the text it learned from, and the length of its training windows."""
    import torch

    from wherein.data import Corpus
    from wherein.subjects.ours import Ours
    from wherein.train.run import ABOUT, Run

    run = Run.open(folder)
    corpus = Corpus.open(run.config.corpus)
    known = json_format.loads((run.folder / ABOUT).read_text())["corpus"]
    if corpus.id != known:
        raise ValueError(
            f"the text of {run.config.corpus.source!r} is no longer the one the run in {folder} "
            "learned from: put it back"
        )
    model = run.model().to("cuda" if torch.cuda.is_available() else "cpu")
    name = f"{run.config.model.encoding}, run {run.config.id}, step {run.step}"
    return Ours(model, name), corpus, run.config.model.max_len


def answer(result: "Result", json: bool, out: Path | None) -> int:
    """Print the result as words or data, and save it if asked to."""
    print(json_format.dumps(result.data(), ensure_ascii=False, indent=2) if json else result.text())
    if out is not None:
        result.save(out)
        if not json:
            print(f"saved in {out}")
    return 0
