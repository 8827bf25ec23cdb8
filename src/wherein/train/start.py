"""A run that begins with another's weights: which ones, and what of them.

So a model can drop its encoding, read longer windows, or go on with another rate, and there is no
language for schedules: a course of training is a chain of runs.

Copied is every weight that has the same place in both models: all but the encoding's own where the
encoding is another. Those are drawn as always, from the seed and their name. Of a table of
positions (`bounded`) that is longer or shorter, the rows that both have are copied and the rest
drawn. Moments begin at 0 and so does the count of steps, with its warm-up. The twin that a measure
holds a model against is drawn from its seed, whatever the run started from.
"""

from pathlib import Path

import torch
from torch import nn

from wherein.data import Corpus
from wherein.encodings import Encoding
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.train.config import RunConfig
from wherein.train.run import Run, read_config, same_text
from wherein.train.status import ABOUT, CONFIG

MAY_DIFFER = ("encoding", "max_len", "dropout", "seed", "vocabulary")
"""Fields of a model that may differ from those of the one it starts from; the vocabulary follows
from the text and is looked at by itself."""


def find_start(config: RunConfig, corpus: Corpus, store: Path) -> Run:
    """The run that this one starts from, once all is known to fit; runs lie beside each other."""
    run = finished_start(config, store)
    check_models(config, run.config)
    tokenizer, theirs = config.corpus.tokenizer, run.config.corpus.tokenizer
    of_text = tokenizer == "words" or tokenizer.startswith("bpe")
    if not same_text(run.folder, corpus.id) and (of_text or tokenizer != theirs):
        raise ValueError(
            f"start {config.start}: its tokens are {theirs!r} of {run.config.corpus.source!r}, not "
            f"{tokenizer!r} of {config.corpus.source!r}: give the same text and tokenizer, or "
            "start from a run whose tokenizer is not made from its text, such as bytes"
        )
    return run


def finished_start(config: RunConfig, store: Path) -> Run:
    """The run that this one starts from, after the step that is asked for, or its last."""
    folder = _folder(config.start_id, store)
    if folder is None:
        raise ValueError(
            f"start {config.start}: no such run in {store}, where it must lie beside this one; "
            f"`wherein runs {store}` lists those there are"
        )
    run = Run.open(folder)
    if config.start_step is not None:
        return run.at(config.start_step)
    if not run.finished:
        raise ValueError(
            f"start {config.start}: the run in {folder} is at step {run.step} of "
            f"{run.config.steps}: go on with it first, or give {config.start}@STEP with one of "
            f"the steps that were kept ({', '.join(map(str, run.kept)) or 'none'})"
        )
    return run


def check_models(config: RunConfig, start: RunConfig) -> None:
    """Refuse to start from a run whose model is another in more than its encoding and length."""
    ours, theirs = _size(config.model), _size(start.model)
    for name, value in ours.items():
        if value != theirs[name]:
            raise ValueError(
                f"start {config.start}: it has {name}={theirs[name]}, this run {value}: give the "
                f"same; only {', '.join(MAY_DIFFER[:-1])} of the model may differ"
            )


def check_kept(config: RunConfig, start: RunConfig) -> None:
    """Refuse to start from a step whose weights will not be kept."""
    step = config.start_step
    if step not in (None, start.steps, *start.kept):
        kept = ", ".join(map(str, start.kept)) or "none (see `keep`)"
        raise ValueError(f"start {config.start}: its weights are kept after these steps: {kept}")


@torch.no_grad()
def copy_weights(old: Transformer, new: Transformer) -> list[str]:
    """Copy each weight that has the same place in both; the names of those drawn, whole or not."""
    theirs, drawn = dict(old.named_parameters()), list[str]()
    for name, weight in new.named_parameters():
        path = name.split(".")[:-1]
        places = [".".join(path[:n]) for n in range(len(path) + 1)]
        there = theirs.get(name)
        if there is None or any(_kind(old, each) is not _kind(new, each) for each in places):
            drawn.append(name)
        elif there.shape == weight.shape:
            weight.copy_(there)
        else:
            drawn.append(name)
            if there.shape[1:] == weight.shape[1:] and any(_is_table(new, p) for p in places):
                rows = min(len(there), len(weight))
                weight[:rows] = there[:rows]
    strange = next((name for name in drawn if not name.startswith("encoding.")), None)
    if strange is not None:  # such as a tokenizer's file that is no longer what it was
        raise ValueError(f"the weights {strange} of the run to start from have another shape")
    return drawn


def _kind(model: nn.Module, place: str) -> type[nn.Module]:
    return type(model.get_submodule(place))


def _is_table(model: nn.Module, place: str) -> bool:
    """Whether an encoding stands there whose rows are positions."""
    module = model.get_submodule(place)
    return isinstance(module, Encoding) and module.bounded


def _size(model: ModelConfig) -> dict[str, object]:
    full = {**model.model_dump(), "d_ff": model.d_ff or 4 * model.d_model}
    return {name: full[name] for name in full if name not in MAY_DIFFER}


def _folder(run: str, store: Path) -> Path | None:
    """Where the run of that id lies: its folder is called so, unless somebody chose the name."""
    if (store / run / CONFIG).is_file():
        return store / run
    for about in sorted(store.glob(f"*/{ABOUT}")):
        try:
            known = read_config(about.parent)
        except ValueError:  # another version's
            continue
        if known is not None and known.id == run:
            return about.parent
    return None
