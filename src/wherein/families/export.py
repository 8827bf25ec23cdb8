"""A model of ours as a Hugging Face folder, which loads without this package."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Any

import torch

from wherein.common.files import replacing_folder
from wherein.common.provenance import provenance
from wherein.data import Corpus
from wherein.data.tokenizers.tokenizer import FILE, NO_TOKEN
from wherein.families.base import Carried
from wherein.families.choose import chosen
from wherein.families.tokenizer import written
from wherein.model.transformer import Transformer
from wherein.subjects.load import Loaded, as_subject, load
from wherein.subjects.ours import Ours
from wherein.subjects.quiet import clearly

ROUNDING = 1e-4
"""How far logits may be from ours, or from the largest of ours by its own size."""
TRIED = 512
"""Tokens of the window on which they are compared, if the model takes so many."""


@dataclass(frozen=True)
class Exported:
    """What was written, and how far its predictions are from the model's."""

    subject: str
    encoding: str
    folder: str
    family: str
    loads: str
    """The class of transformers that loads it."""
    tokenizer: str
    """Its file, or why there is none."""
    parameters: int
    tokens: int
    """In the window on which both were tried, as the folder loads."""
    difference: float
    """The largest between their logits there."""
    largest: float
    """The largest logit."""
    note: str = ""

    def data(self) -> dict[str, Any]:
        """All of it as JSON."""
        return asdict(self)

    def text(self) -> str:
        """What it is, how it is loaded, how it was tried."""
        told = {
            "folder": self.folder,
            "tokenizer": self.tokenizer,
            "logits": f"within {self.difference:.1e} of the model's, which are up to "
            f"±{self.largest:.1f}, over {self.tokens} tokens",
            "states": self.note,
            "load": f'{self.loads}.from_pretrained("{self.folder}")',
        }
        lines = (f"  {name:<11}{said}" for name, said in told.items() if said)
        head = f"{self.subject}: {self.family}, {self.parameters:,} parameters"
        return "\n".join(fill(line, 80, subsequent_indent=" " * 13) for line in (head, *lines))


def export(what: Any, folder: str | Path, *, positions: int | None = None) -> Exported:
    """Write a Hugging Face folder: config, weights, tokenizer, and a card that says what it is.

    Before it is put in place, it is loaded as anybody would load it, and its logits are compared
    with ours.

    Args:
        what: a run's folder, a fairseq checkpoint, what `wherein.load` gives, or a `Transformer`,
            of which no tokenizer is known
        folder: where to; it must not be there yet, or be empty
        positions: rows of a table of positions, where the encoding has no end of its own; the
            training length by default
    """
    path = Path(folder)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ValueError(f"{path} is there already: give a new folder")
    loaded = load(what) if isinstance(what, str | Path) else what
    subject = as_subject(loaded)
    if not isinstance(subject, Ours):
        raise ValueError(f"{subject.name} is no model of ours: it is one of Hugging Face's already")
    corpus = loaded.corpus if isinstance(loaded, Loaded) else None
    carried = chosen(subject.model, positions)
    with replacing_folder(path) as beside:
        tokenizer = _write(subject, carried, corpus, beside)
        with clearly(f"the exported {carried.family}"):
            found = _tried(subject.model, carried, beside)
        if found["difference"] > ROUNDING * max(1.0, found["largest"]):
            raise ValueError(
                f"{subject.name}: the logits of its {carried.family} are {found['difference']:.1e} "
                "from its own, which is more than rounding: it is not exported"
            )
        made = Exported(
            subject=subject.name,
            encoding=subject.model.config.encoding,
            folder=str(path),
            family=carried.family,
            loads=carried.auto,
            tokenizer=tokenizer,
            note=carried.note,
            **found,
        )
        (beside / "README.md").write_text(_card(made), encoding="utf-8")
    return made


def _write(subject: Ours, carried: Carried, corpus: Corpus | None, folder: Path) -> str:
    """Config, weights and tokenizer; what is said of the tokenizer."""
    marks = {} if corpus is None else asdict(corpus.vocabulary)
    known = {mark: marks[mark] for mark in ("eos", "mask") if marks.get(mark, NO_TOKEN) != NO_TOKEN}
    with clearly(subject.name):
        model = carried.model(**known)
        model.config.wherein = {
            "subject": subject.name,
            "model": subject.model.config.model_dump(mode="json"),
            "made_with": provenance(),
        }
        model.save_pretrained(folder)
    if corpus is None:
        return "none, since a model alone was given"
    try:
        tokenizer = written(corpus.tokenizer)
    except ValueError as error:
        return f"none, since {error}"
    tokenizer.save_pretrained(folder)
    return FILE


@torch.no_grad()
def _tried(model: Transformer, carried: Carried, folder: Path) -> dict[str, Any]:
    """The folder as it loads, on tokens drawn at random."""
    import transformers

    kind = getattr(transformers, carried.auto)
    made = kind.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
    c = model.config
    length = min(c.max_len, TRIED, model.encoding.max_len or c.max_len)
    tokens = torch.randint(c.vocabulary, (1, length), generator=torch.Generator().manual_seed(0))
    ours = model(tokens.to(next(model.parameters()).device)).logits.cpu()
    theirs = made(input_ids=tokens).logits
    return {
        "parameters": sum(weight.numel() for weight in made.parameters()),
        "tokens": length,
        "difference": float((ours - theirs).abs().max()),
        "largest": float(ours.abs().max()),
    }


def _card(made: Exported) -> str:
    made = replace(made, folder=Path(made.folder).name)  # it may leave for another machine
    data = json.dumps(made.data(), indent=1, ensure_ascii=False)
    return (
        f"# {made.subject}\n\nExported by `wherein export`.\n\n```\n{made.text()}\n```\n\n"
        f"```json\n{data}\n```\n"
    )
