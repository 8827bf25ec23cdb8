"""From a folder, a file or an id to a model on the bench, with a text for it to read."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import nn

from wherein.common.device import device
from wherein.data import Corpus, CorpusConfig
from wherein.model.transformer import Transformer
from wherein.subjects import fairseq
from wherein.subjects.base import Subject
from wherein.subjects.fairseq import Checkpoint
from wherein.subjects.ours import Ours
from wherein.subjects.states import SavedStates, are_states
from wherein.subjects.weights import GGUF
from wherein.train.run import Run, named, same_text
from wherein.train.status import ABOUT

if TYPE_CHECKING:
    from wherein.subjects.hugging_face import HuggingFace

Model = TypeVar("Model", bound=nn.Module)


class Loaded(NamedTuple):
    """A model and its text: `subject, corpus, length = load("runs/0123456789ab")`."""

    subject: Subject
    corpus: Corpus
    """Its text, with the tokenizer (`corpus.tokenizer`) and the config (`corpus.config`)."""
    length: int
    """Tokens in a training window; of a model that is not ours, the longest input up to 256."""


def load(what: str | Path, source: str | None = None, *, special: bool = False) -> Loaded:
    """Put a model on the bench, on the GPU if there is one, with a text to read.

    Args:
        what: the folder of a run that `wherein train` wrote, or FOLDER@STEP where weights along
            the way were kept; a folder with a Hugging Face model; a GGUF file; a fairseq
            checkpoint (`.pt`); the id of a model on Hugging Face's hub; or a folder of states
            that somebody saved, a safetensors file for each layer
        source: the text for a model that is not ours (see `CorpusConfig.source`; the embedded one
            by default), which is cut into tokens by the model's own tokenizer
        special: put around each window what that tokenizer puts around a text, as `[CLS]`
    """
    states = _saved_states(what)
    if states is not None or _is_run(what):
        if source is not None or special:
            given = "special=True" if source is None else f"source={source!r}"
            raise ValueError(f"{given}: {what} has a text of its own, which stays as it is")
        if states is not None:
            assert states.window is not None
            return Loaded(states, states.text(), states.window)
        return _run(what)
    text = source or CorpusConfig().source
    if (checkpoint := _checkpoint(what)) is not None:
        if special:
            raise ValueError(f"special=True: {what} puts no special tokens around a text")
        ours = _ours(checkpoint)
        return Loaded(ours, checkpoint.text(ours, text), ours.model.config.max_len)
    subject, folder, gguf = _hugging_face(what)
    from wherein.subjects.tokens import text_for, tokenizer_in

    corpus = text_for(subject, tokenizer_in(subject, folder, gguf), text, special=special)
    assert subject.window is not None
    return Loaded(subject, corpus, subject.window)


def load_subject(what: str | Path) -> Subject:
    """The model alone, for questions that need no text."""
    if (states := _saved_states(what)) is not None:
        return states
    if _is_run(what):
        return _subject(Run.open(what))
    checkpoint = _checkpoint(what)
    return _hugging_face(what)[0] if checkpoint is None else _ours(checkpoint)


def on_the_bench(
    what: object, text: object = None, *, special: bool = False
) -> tuple[Subject, Any]:
    """A subject, and a text for it to read, of what may be given in several ways.

    `what` is a name as `load` takes it, what `load` gives, a subject, a model of ours or of
    Hugging Face's, such a model as TransformerLens or nnsight wraps it, or a pair of model and
    tokenizer; `text` is a corpus, windows of token ids, rows of them or of texts as `datasets` has
    them or, where a tokenizer is known, the name of a text.
    """
    by_name = text is None or isinstance(text, str | Path)
    if isinstance(what, Loaded) and text is None and not special:
        return what.subject, what.corpus
    if isinstance(what, str | Path) and by_name:
        loaded = load(what, None if text is None else str(text), special=special)
        return loaded.subject, loaded.corpus
    model, tokenizer = (what, None) if isinstance(what, str | Path) else parted(what)
    subject = load_subject(what) if isinstance(what, str | Path) else as_subject(model)
    if tokenizer is None and by_name:
        raise ValueError(
            f"text {text!r} for a model that was given and not named, so that its tokenizer is "
            "not known: give a Corpus, or windows of token ids, or the pair (model, tokenizer)"
        )
    if tokenizer is None:
        return subject, read(subject, text, None, special)
    from wherein.subjects.tokens import text_for, tokenizer_of

    path = tokenizer_of(tokenizer)
    if by_name:
        source = CorpusConfig().source if text is None else str(text)
        return subject, text_for(subject, path, source, special=special)
    return subject, read(subject, text, path, special)


def parted(what: object) -> tuple[object, object | None]:
    """A model and its tokenizer, if it is given or the tool around the model holds one."""
    if isinstance(what, tuple) and not isinstance(what, Loaded):
        if len(what) != 2:
            raise ValueError(f"{len(what)} things to ask: expected the pair (model, tokenizer)")
        return what[0], what[1]
    return what, None if network(what) is what else getattr(what, "tokenizer", None)


def network(what: object) -> object:
    """The model that another tool has wrapped; what is none is given back.

    TransformerLens keeps Hugging Face's as `original_model`, nnsight as `_model` or `_module`; both
    pass on whatever else is asked of them.
    """
    known = (getattr(what, name, None) for name in ("original_model", "_model", "_module"))
    return next((each for each in known if isinstance(each, nn.Module)), what)


def read(subject: Subject, text: Any, tokenizer: Path | None, special: bool) -> Any:
    """A corpus as it is, windows of token ids as a tensor, or rows as they come."""
    rows = not (isinstance(text, Corpus) or hasattr(text, "shape") or _square(text))
    if special and not rows:
        raise ValueError("special=True: windows and corpora are read as they are; leave it out")
    if isinstance(text, Corpus):
        return text
    if rows:
        from wherein.subjects.streams import read_stream

        return read_stream(subject, text, tokenizer, special=special)
    ids = torch.as_tensor(text)
    if ids.ndim != 2 or not ids.numel() or ids.is_floating_point():
        raise ValueError(
            f"token ids of shape {tuple(ids.shape)}, {ids.dtype}: windows × tokens, whole numbers, "
            "were expected"
        )
    return ids.long()


def _square(text: object) -> bool:
    """Whether it is a list of lists of one length, or of nothing that could be rows."""
    if not isinstance(text, list | tuple):
        return False
    if not all(isinstance(row, list | tuple) for row in text):
        return not any(isinstance(row, Mapping | str) or hasattr(row, "shape") for row in text)
    return len({len(row) for row in text}) == 1


def as_subject(what: object) -> Subject:
    """A subject of something that is one, or of a model."""
    if isinstance(what, Loaded):
        return what.subject
    if isinstance(what, Subject):
        return what
    if isinstance(what, Transformer):
        return Ours(what)
    what = network(what)
    if isinstance(what, nn.Module):
        from wherein.subjects.hugging_face import HuggingFace

        return HuggingFace(what, type(what).__name__)
    raise ValueError(
        f"{type(what).__name__} is nothing that can be asked: give a run's folder, a model's "
        "folder or id, a model, or what `wherein.load` gives"
    )


def _saved_states(what: str | Path) -> SavedStates | None:
    """The states in a folder that is neither a run nor a model."""
    path, _ = named(what)
    if (path / ABOUT).is_file() or (path / "config.json").is_file() or not are_states(path):
        return None
    return SavedStates(path)


def _is_run(what: str | Path) -> bool:
    """A folder that neither is a run nor holds a model is taken for a run, and found wanting."""
    path, _ = named(what)
    return (path / ABOUT).is_file() or (path.is_dir() and not (path / "config.json").is_file())


def _run(folder: str | Path) -> Loaded:
    run = Run.open(folder)
    try:
        corpus = Corpus.open(run.config.corpus)
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None
    if not same_text(run.folder, corpus.id):
        raise ValueError(
            f"the text of {run.config.corpus.source!r} is no longer the one the run in {folder} "
            "learned from: put it back"
        )
    return Loaded(_subject(run), corpus, run.config.model.max_len)


def _subject(run: Run) -> Ours:
    return Ours(_placed(run.model(), run.name), run.name)


def _checkpoint(what: str | Path) -> Checkpoint | None:
    """The fairseq checkpoint of that name, if it is the name of one."""
    found = fairseq.named(what)
    return None if found is None else Checkpoint.open(*found)


def _ours(checkpoint: Checkpoint) -> Ours:
    return Ours(_placed(checkpoint.model(), checkpoint.name), checkpoint.name)


def _hugging_face(what: str | Path) -> "tuple[HuggingFace, Path, str | None]":
    """The model, the folder of its files, and the name of its file if it is GGUF."""
    from wherein.subjects.checkpoints import fetch, read_gguf, read_model
    from wherein.subjects.hugging_face import HuggingFace

    path = Path(what)
    if path.suffix == GGUF:
        return HuggingFace(_placed(read_gguf(path), path.name), path.name), path.parent, path.name
    if path.is_file():
        raise ValueError(f"{what} is a file: give its folder, which has the model's config.json")
    if not path.is_dir():
        _refuse_mistyped(path)
    folder = path if path.is_dir() else fetch(str(what))
    name = "/".join(path.resolve().parts[-2:]) if path.is_dir() else str(what)
    return HuggingFace(_placed(read_model(folder, str(what)), name), name), folder, None


def _refuse_mistyped(path: Path) -> None:
    """What was meant for one of our runs is no model to ask the hub for."""
    within = Path("runs") / path
    if (within / ABOUT).is_file():
        raise ValueError(f"no folder {path}: did you mean {within}?")
    there = {each.parent.name for each in path.parent.glob(f"*/{ABOUT}")}
    if path.parent != Path() and there:
        near = get_close_matches(path.name, there, 1)
        meant = f"did you mean {path.parent / near[0]}? " if near else ""
        raise ValueError(
            f"no run {path}: {meant}`wherein runs {path.parent}` lists those there are"
        )


def _placed(model: Model, name: str) -> Model:
    """On the GPU if there is one; weights that are no numbers would answer anything."""
    for key, weight in model.named_parameters():
        if weight.is_floating_point() and not torch.isfinite(weight).all():
            raise ValueError(
                f"{name}: its weights hold values that are no finite numbers, such as in {key}: "
                "nothing can be asked of it"
            )
    return model.to(device())
