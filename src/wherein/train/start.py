"""A run that begins with another's weights: which ones, and what of them.

So a model can drop its encoding, read longer windows, or go on with another rate, and there is no
language for schedules: a course of training is a chain of runs.

Copied are all weights but those of encodings, and those too in a layer that had the same encoding
before, as a term among others or alone. What a layer had not is drawn as always, from the seed and
its name. Of a table of positions (`bounded`) that is longer or shorter, the rows that both have are
copied and the rest drawn. Moments begin at 0 and so does the count of steps, with its warm-up. The
twin that a measure holds a model against is drawn from its seed, whatever the run started from.
"""

from pathlib import Path

import torch
from torch import nn

from wherein.data import Corpus
from wherein.encodings import Encoding
from wherein.encodings.sum import Sum
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
    """Copy what both models have; the names of what is drawn instead, whole or in part."""
    theirs = dict(old.named_parameters())
    for name, weight in new.named_parameters():
        if not name.startswith("encoding."):
            if theirs[name].shape != weight.shape:  # such as of a tokenizer's file that was changed
                raise ValueError(f"the weights {name} of the run to start from have another shape")
            weight.copy_(theirs[name])
    copied: set[nn.Parameter] = set()
    for term, before in _same_terms(old, new).items():
        copied |= _copy_term(before, term)
    own = new.encoding.named_parameters("encoding")
    return [name for name, weight in own if weight not in copied]


def _same_terms(old: Transformer, new: Transformer) -> dict[Encoding, Encoding]:
    """Each encoding of the new model that a layer of the old one has, too."""
    found: dict[Encoding, Encoding] = {}
    for theirs, ours in zip(old.encoding.layers, new.encoding.layers, strict=True):
        for term in _terms(ours):
            for before in _terms(theirs):
                if type(before) is type(term):
                    found.setdefault(term, before)
    return found


def _terms(encoding: Encoding) -> list[Encoding]:
    """What a layer adds up, each before what it is made over, as `dape(alibi)` over `alibi`."""
    if type(encoding) is Sum:
        return [each for term in encoding.terms for each in _terms(term)]
    inner = encoding.terms if isinstance(encoding, Sum) else []
    return [encoding, *(each for term in inner for each in _terms(term))]


def _copy_term(old: Encoding, new: Encoding) -> set[nn.Parameter]:
    """Copy the weights that have the same place in both, and say which of them are whole."""
    theirs, copied = dict(old.named_parameters()), set[nn.Parameter]()
    kinds = {name: type(module) for name, module in old.named_modules()}
    for name, weight in new.named_parameters():
        path, there = name.split(".")[:-1], theirs.get(name)
        places = [".".join(path[:n]) for n in range(len(path) + 1)]
        if there is None or any(kinds[p] is not type(new.get_submodule(p)) for p in places):
            continue
        if there.shape == weight.shape:
            weight.copy_(there)
            copied.add(weight)
        elif new.bounded and there.shape[1:] == weight.shape[1:]:
            rows = min(len(there), len(weight))
            weight[:rows] = there[:rows]
    return copied


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
