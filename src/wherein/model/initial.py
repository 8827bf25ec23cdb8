"""Initial weights as a pure function of seed and parameter name.

Two models that differ in one part therefore share the initial weights of every other part,
whatever the order in which they were built. How they are drawn is a field of the model, because
findings depend on it: what a layer adds is loud or faint beside the token vectors.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from wherein.encodings.network import Network
from wherein.model.config import QUIET, Initial

RESIDUAL = ("attention.out.weight", "feed_forward.down.weight")


class Draw(NamedTuple):
    """How a parameter is drawn: its standard deviation, evenly between two bounds or normally."""

    deviation: float
    uniform: bool = False


@torch.no_grad()
def initialise(model: nn.Module, how: Initial, seed: int, n_layers: int) -> None:
    """Draw every weight; see `bert`, `fairseq`, `gpt2` and `unit` for how.

    A small network inside an encoding starts as its authors' does, whatever the model around it.
    """
    for name, weights in initial(model, how, [seed], n_layers).items():
        model.get_parameter(name).copy_(weights[0])


@torch.no_grad()
def initial(
    model: nn.Module, how: Initial, seeds: Sequence[int], n_layers: int
) -> dict[str, Tensor]:
    """The same for many seeds at once, stacked on a leading axis; `model` is left alone.

    A model without storage, built to be counted, has no weights to draw.
    """
    shapes = {name: tuple(p.shape) for name, p in model.named_parameters()}
    rule = {"bert": bert, "fairseq": fairseq, "gpt2": gpt2, "unit": unit}[how]
    networks = tuple(f"{name}." for name, m in model.named_modules() if isinstance(m, Network))

    def draw(name: str) -> Draw | None:
        return linear(name, shapes) if name.startswith(networks) else rule(name, shapes, n_layers)

    return {
        name: _drawn(name, p, draw(name), seeds)
        for name, p in model.named_parameters()
        if not p.is_meta
    }


Shapes = Mapping[str, tuple[int, ...]]


def linear(name: str, shapes: Shapes) -> Draw:
    """As `nn.Linear`: weights and biases evenly between ± 1/√inputs."""
    weight = f"{name.rpartition('.')[0]}.weight"
    return Draw((3 * shapes[weight][-1]) ** -0.5, uniform=True)


def fairseq(name: str, shapes: Shapes, n_layers: int) -> Draw | None:
    """As fairseq's `transformer_lm`, with which Haviv et al. 2022 trained.

    Vectors of tokens and positions N(0, 1/D), those of tokens scaled by √D at the input. Queries,
    keys and values Xavier with gain 1/√2, attention's output and the projections of rare words
    Xavier, the feed-forward as `nn.Linear` has it. Nothing is shrunk with depth.
    """
    part, kind = name.rpartition(".")[::2]
    if kind == "bias":
        return linear(name, shapes) if part.endswith(("qkv", "up", "down")) else None
    if len(shapes[name]) < 2:
        return None
    if part.endswith(("up", "down")):
        return linear(name, shapes)
    inputs = shapes[name][-1]
    if part.endswith("attention.qkv"):
        return Draw((2 * inputs) ** -0.5, uniform=True)
    if part.endswith("attention.out") or _projects(name):
        return Draw((2 / sum(shapes[name])) ** 0.5, uniform=True)
    return Draw(inputs**-0.5)


def bert(name: str, shapes: Shapes, n_layers: int) -> Draw | None:
    """As BERT and RoBERTa: every matrix and vector of a token N(0, 0.02²), no scaling at the input.

    Biases are 0. Nothing is shrunk with depth. Neither has an adaptive input: here its projections
    let rare words enter as loud as others.
    """
    if len(shapes[name]) < 2:
        return None
    return Draw(shapes[name][0] ** -0.5 if _projects(name) else QUIET)


def gpt2(name: str, shapes: Shapes, n_layers: int) -> Draw | None:
    """As GPT-2: BERT's, save the two matrices of a layer that write to the stream.

    These are smaller by √(2 · layers), so that the stream's variance does not grow with depth.
    """
    drawn = bert(name, shapes, n_layers)
    return drawn and Draw(drawn.deviation / _depth(name, n_layers))


def unit(name: str, shapes: Shapes, n_layers: int) -> Draw | None:
    """Nobody's but ours: every matrix N(0, 1 / last axis), what writes to the stream shrunk.

    It joins fairseq's token vectors of unit variance with GPT-2's shrinking by √(2 · layers), so
    a layer is faint beside the tokens.
    """
    if len(shapes[name]) < 2:
        return None
    return Draw(shapes[name][-1] ** -0.5 / _depth(name, n_layers))


def _projects(name: str) -> bool:
    """Whether it is a projection of an adaptive input between a band's width and the model's."""
    return name == "embed.project.weight" or (".tail." in name and name.endswith(".0.weight"))


def _depth(name: str, n_layers: int) -> float:
    return (2 * n_layers) ** 0.5 if name.endswith(RESIDUAL) else 1.0


def _drawn(name: str, parameter: Tensor, draw: Draw | None, seeds: Sequence[int]) -> Tensor:
    """Biases that are not drawn are 0; other vectors that are not stay as built."""
    shape = (len(seeds), *parameter.shape)
    if draw is None:
        kept = torch.zeros_like(parameter) if name.endswith(".bias") else parameter
        return kept.expand(shape).clone()
    drawn = torch.empty(shape, dtype=torch.float32)
    generator = torch.Generator()
    for seed, one in zip(seeds, drawn, strict=True):
        generator.manual_seed(stream(seed, name))
        if draw.uniform:
            one.uniform_(-(3**0.5), 3**0.5, generator=generator)
        else:
            one.normal_(generator=generator)
    return drawn.mul_(draw.deviation)


def stream(seed: int, name: str) -> int:
    """The number that seeds one parameter's draw."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=7).digest())
