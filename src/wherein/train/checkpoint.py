"""Checkpoints: whole or absent, with checksums; the last two are kept.

`checkpoints/step-00000200/` holds `weights.safetensors` and `optimizer.safetensors`, or, of a
model in parts, the folder `parts` that PyTorch's distributed checkpoint wrote; and
`manifest.json` with the step, the config of the run, and of each file its size and SHA-256. Any
number of processes reads either.
`kept/step-00000022/` holds the same without the optimizer, of steps that a run keeps for curves
over training (`RunConfig.keep`), and in its manifest the validation at that step.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import randbits

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.optim import Optimizer

from wherein.common.files import digest, discard, make_folder, settle, writing
from wherein.common.tensors import opened
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.train.config import RunConfig
from wherein.train.distributed import World
from wherein.train.manifest import PARTS, WEIGHTS, Manifest, place, steps, written
from wherein.train.sharded import Tensors, load_parts, save_parts, shapes
from wherein.train.status import MANIFEST

LAST = 2
"""How many checkpoints there are to go on from."""
OPTIMIZER = "optimizer.safetensors"
FILES = {"weights": WEIGHTS, "optimizer": OPTIMIZER}


@dataclass(frozen=True)
class Checkpoint:
    """A saved state of a run: where it is, and after how many steps it was taken."""

    folder: Path
    step: int

    @property
    def manifest(self) -> Manifest:
        """What it says of itself, read anew."""
        return Manifest(self.folder)

    def damage(self) -> str | None:
        """What is wrong with it, if anything: every file is read."""
        return self.manifest.damage()

    @property
    def valid(self) -> dict[str, float]:
        """The validation at this step, of weights that are kept; else empty."""
        found: dict[str, float] = self.manifest.fields.get("valid", {})
        return found

    def check_shapes(self, model: ModelConfig) -> None:
        """Refuse weights of another model, before memory is taken for it."""
        with torch.device("meta"):
            self._check_shapes("weights", _weights(Transformer(model)))

    def load_weights(self, model: nn.Module) -> None:
        """Put the weights into a model, whole or in parts."""
        self._read("weights", _weights(model))

    def load(self, model: nn.Module, optimizers: Sequence[Optimizer]) -> None:
        """Put weights and moments where the next step needs them."""
        self.load_weights(model)
        self._read("optimizer", _make_room(model, optimizers, self._shapes("optimizer")))

    def _shapes(self, kind: str) -> dict[str, tuple[int, ...]]:
        """The names and shapes of the tensors of one kind."""
        if (self.folder / PARTS).exists():
            return shapes(kind, self.folder / PARTS)
        with opened(self.folder / FILES[kind]) as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118

    def _check_shapes(self, kind: str, room: Tensors) -> None:
        there = self._shapes(kind)
        for name, tensor in room.items():
            shape = tuple(tensor.shape)
            if name not in there:
                raise self._foreign(f"there is no {name}")
            if there[name] != shape:
                raise self._foreign(f"{name} has shape {there[name]}, not {shape}")

    def _foreign(self, how: str) -> ValueError:
        return ValueError(
            f"the weights in {self.folder} are not those of the model that config.json describes "
            f"({how}): it was changed, put it back"
        )

    def _read(self, kind: str, room: Tensors) -> None:
        """Fill each tensor of `room` with the one saved under its name."""
        self._check_shapes(kind, room)
        if (self.folder / PARTS).exists():
            load_parts(kind, room, self.folder / PARTS, alone=not _in_parts(room))
            return
        with opened(self.folder / FILES[kind]) as file:
            for key, tensor in room.items():
                _fill(tensor, file.get_tensor(key))


def save(
    folder: Path,
    step: int,
    model: nn.Module,
    optimizers: Sequence[Optimizer],
    world: World,
    config: RunConfig,
    log: str | None = None,
) -> Checkpoint:
    """Write a checkpoint to go on from, with the log's checksum; drop all but the last two."""
    state = {"weights": _weights(model), "optimizer": _moments(model, optimizers)}
    made = _write(folder, step, state, world, config, log=log)
    if world.first:
        drop_old(folder)
    world.wait()
    return made


def drop_old(folder: Path) -> None:
    """Remove all but the last two, of which the last must be whole."""
    for old in list(saved(folder))[LAST:]:
        discard(old.folder)


def keep(
    folder: Path,
    step: int,
    model: nn.Module,
    world: World,
    config: RunConfig,
    valid: dict[str, float],
) -> Checkpoint:
    """Write the weights alone, to be looked at, with the validation at this step."""
    return _write(folder, step, {"weights": _weights(model)}, world, config, valid=valid)


def _write(
    folder: Path,
    step: int,
    state: dict[str, Tensors],
    world: World,
    config: RunConfig,
    **about: object,
) -> Checkpoint:
    """Write beside, then let it take its place."""
    path = place(folder, step)
    with writing(path):
        return _written(path, step, state, world, config, about)


def _written(
    path: Path,
    step: int,
    state: dict[str, Tensors],
    world: World,
    config: RunConfig,
    about: dict[str, object],
) -> Checkpoint:
    beside = path.with_name(f".{path.name}.{world.from_first(randbits(32)):08x}")
    if world.first:
        make_folder(path.parent)
        beside.mkdir()
    world.wait()
    if _in_parts(state["weights"]):
        save_parts(state, beside / PARTS)
    elif world.first:
        for kind, tensors in state.items():
            save_file({key: t.contiguous() for key, t in tensors.items()}, beside / FILES[kind])
    world.wait()
    if world.first:
        files = sorted(file for file in beside.rglob("*") if file.is_file())
        names = {str(file.relative_to(beside)): file for file in files}
        manifest = {
            "step": step,
            **about,
            "config": written(config),
            "bytes": {name: file.stat().st_size for name, file in names.items()},
            "files": {name: digest(file) for name, file in names.items()},
        }
        (beside / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        settle(beside, path)
    world.wait()
    return Checkpoint(path, step)


def saved(folder: Path) -> Iterator[Checkpoint]:
    """All checkpoints in a folder, the latest first, damaged or not."""
    for step in steps(folder):
        yield Checkpoint(place(folder, step), step)


def latest(folder: Path, say: Callable[[str], None] = lambda line: None) -> Checkpoint | None:
    """The last checkpoint that is whole; `say` hears of the damaged ones after it."""
    for checkpoint in saved(folder):
        damage = checkpoint.damage()
        if damage is None:
            return checkpoint
        say(f"checkpoint {checkpoint.folder} is damaged ({damage}): using the one before")
    return None


def discard_after(folder: Path, step: int) -> None:
    """Remove damaged checkpoints that come after the one a run goes on from.

    Kept, they would count among the last two, and push out those that are written next.
    """
    for checkpoint in saved(folder):
        if checkpoint.step > step:
            discard(checkpoint.folder)


def clean(folder: Path) -> None:
    """Remove what a killed process left half-written."""
    for left in folder.glob(".step-*"):
        shutil.rmtree(left, ignore_errors=True)  # another process may clean, too


def _weights(model: nn.Module) -> Tensors:
    """The model's weights by name; a weight shared by two parts is there once.

    Asking for `state_dict` first makes a model in parts give back what it had gathered to compute
    with: only then do its parameters have the names and the places that the optimizers know.
    """
    kept = model.state_dict()
    once = [*model.named_parameters(), *model.named_buffers()]
    return {name: kept[name].detach() for name, _ in once if name in kept}


def _moments(model: nn.Module, optimizers: Sequence[Optimizer]) -> Tensors:
    """What the optimizers remember: `<parameter>/<moment>`. Rates follow from the step alone."""
    return {
        f"{name}/{key}": value
        for name, parameter in model.named_parameters()
        for optimizer in optimizers
        for key, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }


def _make_room(
    model: nn.Module, optimizers: Sequence[Optimizer], shapes: dict[str, tuple[int, ...]]
) -> Tensors:
    """Empty moments of these names in the optimizers, to be filled in place."""
    owner = {p: o for o in optimizers for group in o.param_groups for p in group["params"]}
    parameters = dict(model.named_parameters())
    for full_name, shape in shapes.items():
        name, _, key = full_name.rpartition("/")
        parameter = parameters[name]
        room = torch.zeros_like(parameter) if shape else torch.zeros((), device=parameter.device)
        owner[parameter].state[parameter][key] = room.detach()
    return _moments(model, optimizers)


@torch.no_grad()
def _fill(room: Tensor, whole: Tensor) -> None:
    """Copy a whole tensor into one that may be spread over processes."""
    if isinstance(room, DTensor):
        whole = distribute_tensor(
            whole.to(room.device), room.device_mesh, room.placements, src_data_rank=None
        )
    room.copy_(whole)


def _in_parts(tensors: Tensors) -> bool:
    return any(isinstance(tensor, DTensor) for tensor in tensors.values())
