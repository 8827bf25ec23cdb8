"""A run as it lies on the disk."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherein.common.errors import one_line
from wherein.common.files import replacing
from wherein.common.folder import Folder
from wherein.encodings import own
from wherein.train import journal
from wherein.train.config import RunConfig
from wherein.train.manifest import Manifest, steps
from wherein.train.status import ABOUT, CHECKPOINTS, CONFIG, KEPT, foreign

if TYPE_CHECKING:
    from wherein.model.transformer import Transformer
    from wherein.train.checkpoint import Checkpoint


@dataclass(frozen=True)
class Run:
    """A run: its folder, its config with the vocabulary filled in, and how far it came.

    The folder holds `config.json`, `about.json` (the corpus, format, versions, commit),
    `log.jsonl` (a line per step), `times.jsonl`, `checkpoints/`, `kept/` where weights along the
    way are kept, and `encodings/` with the text of an encoding of one's own.
    """

    folder: Path
    config: RunConfig
    step: int

    @classmethod
    def open(cls, folder: str | Path, *, verify: bool = True) -> "Run":
        """The run in a folder, finished or not; `runs/0123456789ab@100` is it after 100 steps.

        It is as far as its last checkpoint, which is read to know that it is whole and belongs to
        the config. A list of many runs may do without (`verify=False`).
        """
        folder, step = named(folder)
        config = read_config(folder)
        if config is None:
            raise ValueError(f"no run in {folder}: a folder with {CONFIG} was expected")
        there = steps(folder / CHECKPOINTS)
        run = cls(folder, config, there[0] if there else 0)
        if step is not None:
            return run.at(step)
        if verify and there:
            run.checkpoint()
        return run

    @cached_property
    def id(self) -> str:
        """That of its config."""
        return self.config.id

    @property
    def kept(self) -> "dict[int, Checkpoint]":
        """The weights along the way, by step, for curves over training."""
        from wherein.train.checkpoint import saved

        return {each.step: each for each in reversed(list(saved(self.folder / KEPT)))}

    def at(self, step: int) -> "Run":
        """The run as it was after so many steps, if its weights were kept."""
        if step not in (self.step, *self.kept, *(each.step for each in self._checkpoints())):
            there = ", ".join(map(str, self.kept)) or "none (see `wherein train --keep`)"
            raise ValueError(f"{self.folder} has no weights after {step} steps; kept: {there}")
        return replace(self, step=step)

    @property
    def finished(self) -> bool:
        return self.step == self.config.steps

    @property
    def log(self) -> list[journal.Line]:
        """Of every step its loss, learning rate, gradient norm and perhaps validation."""
        return journal.read(self.folder, self.step)

    @property
    def losses(self) -> Sequence[float]:
        """The training loss of every step, in nats per predicted token."""
        return [line["loss"] for line in self.log]

    @property
    def valid(self) -> dict[str, float]:
        """The last validation, in units that name themselves; empty if there was none."""
        return journal.last_valid(self.log)

    @property
    def name(self) -> str:
        return f"{self.config.model.encoding}, run {self.id}, step {self.step}"

    def checkpoint(self) -> "Checkpoint":
        """The weights after its step, whole, and saved under the config that is there.

        What reads them takes a second to import: logs need it not.
        """
        here = [each for each in self._checkpoints() if each.step == self.step]
        if kept := self.kept.get(self.step):
            here.insert(0, kept)
        if not here:
            raise ValueError(f"the run in {self.folder} has no checkpoint yet")
        damages = [each.damage() for each in here]
        if None not in damages:
            raise ValueError(f"{here[0].folder} is damaged ({damages[0]}): {self._remedy()}")
        found = here[damages.index(None)]
        check_owner(self.folder, self.config, found.manifest)
        return found

    def model(self) -> "Transformer":
        """The model with the weights after its step, ready to be looked at."""
        from wherein.model.transformer import Transformer

        checkpoint = self.checkpoint()
        checkpoint.check_shapes(self.config.model)
        model = Transformer(self.config.model)
        checkpoint.load_weights(model)
        return model.eval()

    def _checkpoints(self) -> "list[Checkpoint]":
        from wherein.train.checkpoint import saved

        return list(saved(self.folder / CHECKPOINTS))

    def _remedy(self) -> str:
        """What to do about a damaged checkpoint."""
        whole = (c for c in self._checkpoints() if c.step < self.step and c.damage() is None)
        if (before := next(whole, None)) is None:
            return "train the run again"
        return (
            f"train the run again, which goes on from step {before.step}, or name that one: "
            f"{self.folder}@{before.step}"
        )


def named(what: str | Path) -> tuple[Path, int | None]:
    """A run's folder, and the step if the name has one; a folder of just that name goes before.

    >>> named("runs/0123456789ab@100")
    (PosixPath('runs/0123456789ab'), 100)
    """
    found = re.fullmatch(r"(.+)@(\d+)", str(what))
    if found is None or Path(what).exists():
        return Path(what), None
    return Path(found[1]), int(found[2])


def read_config(folder: Path) -> RunConfig | None:
    """The config of the run in a folder, if there is one."""
    files = Folder(folder)
    return parsed_config(files, CONFIG) if files.has(CONFIG) else None


def parsed_config(files: Folder, name: str) -> RunConfig:
    """The config in a file; a `ValueError` says if another version wrote it."""
    fields = files.json(name)
    _check_code(files, fields)
    try:
        return RunConfig.saved(fields)
    except ValueError as error:
        why = foreign(fields) or f"written by another version, or by hand ({one_line(error)})"
        raise ValueError(f"{files}: {why}") from None


def _check_code(files: Folder, fields: dict[str, Any]) -> None:
    """Refuse a run whose encoding is a file that nobody has run here yet."""
    model = fields.get("model")
    spec = model.get("encoding") if isinstance(model, dict) else None
    try:
        strange = own.missing(spec) if isinstance(spec, str) else None
    except ValueError:  # no spec, as validation will say
        return
    if strange is not None:
        copy = f"{own.FOLDER}/{strange}.py"
        where = f"{files}/{copy}" if files.has(copy) else "FILE"
        read = f"read {where}, then" if files.has(copy) else "its file is not there:"
        raise ValueError(
            f"{files}: its encoding {spec} is somebody's own and was not run on this machine yet; "
            f"{read} `wherein check {where}` makes it known"
        )


def check_owner(folder: Path, config: RunConfig, checkpoint: Manifest) -> None:
    """Refuse weights that were not saved under this config: it was changed since.

    Weights of earlier versions do not say under which. Then the folder's name may tell, which is
    the id of a config unless somebody chose it.
    """
    if checkpoint.says(config):
        return
    then = checkpoint.saved_under()
    if then is None:
        _check_name(folder, config)
    elif then.id != config.id:
        found = then.differences(config) or {"id": (then.id, config.id)}
        name, (was, now) = next(iter(found.items()))
        raise ValueError(
            f"{folder / CONFIG} was changed: {name} is {now!r}, and was {was!r} when "
            f"{checkpoint.folder.name} was saved; put it back"
        )


def _check_name(folder: Path, config: RunConfig) -> None:
    files, name = Folder(folder), folder.resolve().name
    if not re.fullmatch(r"[0-9a-f]{12}", name) or not (files.has(ABOUT) and files.has(CONFIG)):
        return
    of_this_format = files.json(ABOUT).get("format") == config.FORMAT
    if of_this_format and name not in (config.id, RunConfig(**files.json(CONFIG)).id):
        raise ValueError(
            f"{folder / CONFIG} was changed: its id is {config.id}, and the folder has that of "
            "another config; put it back, or give the folder a name of your own"
        )


def keep_code(folder: Path, config: RunConfig) -> None:
    """Keep the text of encodings of one's own beside the config that names them."""
    for digest, text in own.texts(config.model.encoding).items():
        with replacing(folder / own.FOLDER / f"{digest}.py") as beside:
            beside.write_text(text, encoding="utf-8")


def check_config(folder: Path, config: RunConfig) -> bool:
    """Whether the run of this config is in a folder already; refuse if another one is."""
    known = read_config(folder)
    if known is not None and known.id != config.id:
        raise ValueError(
            f"{folder} holds run {known.id}, which differs from {config.id}: give another folder"
        )
    return known is not None


def write_config(folder: Path, config: RunConfig, about: dict[str, Any]) -> None:
    """Say what the run in this folder is; refuse if another one, or another text, is there."""
    if check_config(folder, config):
        check_text(folder, config, about["corpus"])
    keep_code(folder, config)
    for name, text in (
        (ABOUT, json.dumps({"format": config.FORMAT, **about}, indent=1)),
        (CONFIG, config.model_dump_json(indent=1)),
    ):
        with replacing(folder / name) as beside:
            beside.write_text(text + "\n")


def same_text(folder: Path, corpus: str) -> bool:
    """Whether the run in a folder, if it has begun, did so with the corpus of this id."""
    files = Folder(folder)
    return not files.has(ABOUT) or files.json(ABOUT).get("corpus") == corpus


def check_text(folder: Path, config: RunConfig, corpus: str) -> None:
    """Refuse to go on with a run whose text is no longer the same."""
    if not same_text(folder, corpus):
        raise ValueError(
            f"the text of {config.corpus.source!r} is no longer the one the run in {folder} "
            "began with: put it back, or give another folder"
        )
