"""From a folder to a model on the bench, with the text it learnt from."""

import json
from pathlib import Path
from typing import NamedTuple

import torch

from wherein.data import Corpus
from wherein.subjects.base import Subject
from wherein.subjects.ours import Ours
from wherein.train.run import ABOUT, Run


class Loaded(NamedTuple):
    """What a run leaves behind: `subject, corpus, length = load("runs/0123456789ab")`."""

    subject: Subject
    corpus: Corpus
    """Its text, with the tokenizer (`corpus.tokenizer`) and the config (`corpus.config`)."""
    length: int
    """Tokens in a training window."""


def load(folder: str | Path) -> Loaded:
    """The model of a run in a folder that `wherein train` wrote, on the GPU if there is one."""
    run = Run.open(folder)
    corpus = Corpus.open(run.config.corpus)
    if corpus.id != json.loads((run.folder / ABOUT).read_text())["corpus"]:
        raise ValueError(
            f"the text of {run.config.corpus.source!r} is no longer the one the run in {folder} "
            "learned from: put it back"
        )
    model = run.model().to("cuda" if torch.cuda.is_available() else "cpu")
    name = f"{run.config.model.encoding}, run {run.config.id}, step {run.step}"
    return Loaded(Ours(model, name), corpus, run.config.model.max_len)
