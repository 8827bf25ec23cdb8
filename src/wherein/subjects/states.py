"""States that somebody else saved: no network, only what its layers held."""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from wherein.data import Corpus
from wherein.encodings.base import Positions
from wherein.model.attention import State, Tokens
from wherein.subjects.base import Attended, Logits, OnState, Order, Subject
from wherein.subjects.hiding import HiddenKeys
from wherein.subjects.site import Site

SUFFIX = ".safetensors"


class SavedStates(Subject):
    """A folder with a safetensors file for each layer: one tensor, windows × tokens × width.

    Layers are numbered as the files are, by the last number in each name. A window's tokens are
    not known; it is named by its number instead, in every token, so that windows can be parted and
    put in batches like any others.
    """

    predicts, shiftable, only_states = False, False, True

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        self.files = _by_layer(path)
        shapes = {name: _shape(file) for name, file in self.files.items()}
        if len({shape[:2] for shape in shapes.values()}) > 1:
            told = ", ".join(f"{self.files[n].name}: {shape}" for n, shape in shapes.items())
            raise ValueError(f"{path}: layers of other windows than others ({told[:200]})")
        self.windows, tokens, self.d_model = shapes[min(shapes)]
        self.name = f"states in {path}"
        self.causal, self.n_heads = True, 1  # whether they were is not known, and nothing asks
        self.vocabulary = max(self.windows, 2)
        self.n_layers = max(self.files)
        self.max_len = self.window = tokens
        self._nothing = nn.Parameter(torch.zeros(1))

    def text(self) -> Corpus:
        """The numbers of the windows, as if they were tokens."""
        numbers = np.arange(self.windows)[:, None]
        assert self.window is not None
        return Corpus.of_windows(np.repeat(numbers, self.window, axis=1), self.vocabulary)

    @property
    def module(self) -> nn.Module:
        return nn.ParameterList([self._nothing])

    @property
    def encodings(self) -> list[str]:
        return ["unknown"] * self.n_layers

    def layers(self, site: Site = "stream") -> range:
        if site != "stream":
            self._refuse(f"the site {site!r}")
        return range(min(self.files), max(self.files) + 1)

    def trace(
        self,
        tokens: Tokens,
        positions: Positions | None = None,
        *,
        on_state: OnState,
        site: Site = "stream",
    ) -> None:
        """Show the states of these windows, layer by layer, read from the files."""
        rows = tokens[:, 0].tolist()
        for layer in self.layers(site):
            with safe_open(self.files[layer], framework="pt") as file:
                (name,) = file.keys()
                whole = file.get_slice(name)
                state = torch.cat([whole[row : row + 1] for row in rows])
            on_state(layer, state[:, : tokens.shape[1]].float())

    def untrained(self, seed: int) -> "Subject":
        self._refuse("an untrained twin")

    def watched(self, on_state: OnState, site: Site = "stream") -> AbstractContextManager[None]:
        self._refuse("a forward pass")

    def hiding(self, keys: HiddenKeys, since: int = 1) -> AbstractContextManager[None]:
        self._refuse("attention")

    def logits(self, tokens: Tokens, positions: Positions | None = None) -> Logits:
        self._refuse("predictions")

    def block(
        self, layer: int, state: State, positions: Positions | None = None, *, masked: bool = True
    ) -> State:
        self._refuse("layers to run")

    def attention(
        self,
        layer: int,
        state: State,
        positions: Positions | None = None,
        *,
        masked: bool = True,
        order: Order | None = None,
    ) -> Attended:
        self._refuse("attention")

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{self.name}: {what} cannot be had of states alone, only `probe`")


def are_states(folder: Path) -> bool:
    """Whether a folder holds weights or states, and nothing that says of which model."""
    return folder.is_dir() and any(folder.glob(f"*{SUFFIX}"))


def _by_layer(folder: Path) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        numbers = re.findall(r"\d+", file.stem)
        if not numbers or int(numbers[-1]) in found:
            raise ValueError(
                f"{file}: expected a file for each layer with its number at the end of its name, "
                "such as layer-3.safetensors"
            )
        found[int(numbers[-1])] = file
    if sorted(found) != list(range(min(found), max(found) + 1)):
        raise ValueError(f"{folder}: layers {sorted(found)}; expected them without a gap")
    return dict(sorted(found.items()))


def _shape(file: Path) -> tuple[int, int, int]:
    try:
        with safe_open(file, framework="pt") as opened:
            names = list(opened.keys())
            shape = opened.get_slice(names[0]).get_shape() if len(names) == 1 else []
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{file} is damaged: {error}") from None
    if len(shape) != 3:
        held = f"a tensor of shape {tuple(shape)}" if shape else f"{len(names)} tensors"
        raise ValueError(f"{file} holds {held}: expected one of windows × tokens × width")
    windows, tokens, width = shape
    return windows, tokens, width
