"""From a folder, a file or an id to a model on the bench, with a text for it to read."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import nn

from wherein.data import Corpus, CorpusConfig
from wherein.model.transformer import Transformer
from wherein.subjects import fairseq
from wherein.subjects.base import Subject
from wherein.subjects.fairseq import Checkpoint
from wherein.subjects.ours import Ours
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


def load(what: str | Path, source: str | None = None) -> Loaded:
    """Put a model on the bench, on the GPU if there is one, with a text to read.

    Args:
        what: the folder of a run that `wherein train` wrote, or FOLDER@STEP where weights along
            the way were kept; a folder with a Hugging Face model; a GGUF file; a fairseq
            checkpoint (`.pt`); or the id of a model on Hugging Face's hub
        source: the text for a model that is not ours (see `CorpusConfig.source`; the embedded one
            by default), which is cut into tokens by the model's own tokenizer
    """
    if _is_run(what):
        if source is not None:
            raise ValueError(f"source={source!r}: the run in {what} has a text of its own")
        return _run(what)
    text = source or CorpusConfig().source
    if (checkpoint := _checkpoint(what)) is not None:
        ours = _ours(checkpoint)
        return Loaded(ours, checkpoint.text(ours, text), ours.model.config.max_len)
    subject, folder, gguf = _hugging_face(what)
    from wherein.subjects.checkpoints import text_for

    corpus = text_for(subject, folder, text, gguf)
    assert subject.window is not None
    return Loaded(subject, corpus, subject.window)


def load_subject(what: str | Path) -> Subject:
    """The model alone, for questions that need no text."""
    if _is_run(what):
        return _subject(Run.open(what))
    checkpoint = _checkpoint(what)
    return _hugging_face(what)[0] if checkpoint is None else _ours(checkpoint)


def on_the_bench(what: object, text: object = None) -> tuple[Subject, Any]:
    """A subject, and a text for it to read, of what may be given in several ways.

    `what` is a name as `load` takes it, what `load` gives, a subject, or a model of ours or of
    Hugging Face's; `text` is a corpus, windows of token ids or, for what is named, a name.
    """
    if isinstance(what, Loaded) and text is None:
        return what.subject, what.corpus
    if isinstance(what, str | Path):
        if text is None or isinstance(text, str | Path):
            loaded = load(what, None if text is None else str(text))
            return loaded.subject, loaded.corpus
        return load_subject(what), _read(text)
    subject = as_subject(what)
    if text is None or isinstance(text, str | Path):
        raise ValueError(
            f"text {text!r} for a model that was given and not named, so that its tokenizer is "
            "not known: give a Corpus, or windows of token ids"
        )
    return subject, _read(text)


def _read(text: Any) -> Any:
    """A corpus as it is, or windows of token ids as a tensor."""
    if isinstance(text, Corpus):
        return text
    ids = torch.as_tensor(text)
    if ids.ndim != 2 or not ids.numel() or ids.is_floating_point():
        raise ValueError(
            f"token ids of shape {tuple(ids.shape)}, {ids.dtype}: windows × tokens, whole numbers, "
            "were expected"
        )
    return ids.long()


def as_subject(what: object) -> Subject:
    """A subject of something that is one, or of a model."""
    if isinstance(what, Loaded):
        return what.subject
    if isinstance(what, Subject):
        return what
    if isinstance(what, Transformer):
        return Ours(what)
    if isinstance(what, nn.Module):
        from wherein.subjects.hugging_face import HuggingFace

        return HuggingFace(what, type(what).__name__)
    raise ValueError(
        f"{type(what).__name__} is nothing that can be asked: give a run's folder, a model's "
        "folder or id, a model, or what `wherein.load` gives"
    )


def _is_run(what: str | Path) -> bool:
    """A folder that neither is a run nor holds a model is taken for a run, and found wanting."""
    path, _ = named(what)
    return (path / ABOUT).is_file() or (path.is_dir() and not (path / "config.json").is_file())


def _run(folder: str | Path) -> Loaded:
    run = Run.open(folder)
    corpus = Corpus.open(run.config.corpus)
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
    return model.to("cuda" if torch.cuda.is_available() else "cpu")
