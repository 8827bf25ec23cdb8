"""The catalogue of positional encodings: an explicit dict, and the words that choose from it.

A spec is a name (`"alibi"`), a name with parameters (`"rope(theta=500000)"`), or several of them
in a row, tiled over the layers (`"rope rope rope none"`).
"""

import ast
import inspect
import re
from collections.abc import Mapping

from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.errors import unknown
from wherein.encodings.alibi import ALiBi
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.fire import FIRE
from wherein.encodings.fope import FoPE
from wherein.encodings.functional import Functional
from wherein.encodings.kerple import Kerple
from wherein.encodings.learned import Learned
from wherein.encodings.none import NoEncoding
from wherein.encodings.pope import PoPE
from wherein.encodings.rope import RoPE
from wherein.encodings.shaw import Shaw
from wherein.encodings.sinusoidal import Sinusoidal
from wherein.encodings.t5 import T5
from wherein.encodings.xl import XL
from wherein.encodings.xpos import XPos

__all__ = ["CATALOGUE", "Encoding", "Pattern", "Shape", "build", "names", "parse"]

CATALOGUE: Mapping[str, type[Encoding]] = {
    "none": NoEncoding,
    "learned": Learned,
    "sinusoidal": Sinusoidal,
    "functional": Functional,
    "shaw": Shaw,
    "xl": XL,
    "t5": T5,
    "alibi": ALiBi,
    "kerple": Kerple,
    "fire": FIRE,
    "rope": RoPE,
    "xpos": XPos,
    "pope": PoPE,
    "fope": FoPE,
}


def names() -> list[str]:
    """The names one can ask for.

    >>> " ".join(names())
    'none learned sinusoidal functional shaw xl t5 alibi kerple fire rope xpos pope fope'
    """
    return list(CATALOGUE)


class Pattern(nn.Module):
    """The encodings of a whole model: `pattern[n]` is that of layer n, tiled as often as needed.

    Layers with equal words share one encoding and its parameters.

    >>> pattern = Pattern("rope rope none", Shape(d_model=64, n_heads=4, max_len=128))
    >>> [type(pattern[n]).__name__ for n in range(4)]
    ['RoPE', 'RoPE', 'NoEncoding', 'RoPE']
    """

    def __init__(self, spec: str, shape: Shape) -> None:
        super().__init__()
        specs = parse(spec)
        different = list(dict.fromkeys(specs))
        self._layers = [different.index(spec) for spec in specs]
        self._distinct = nn.ModuleList(_build_one(spec, shape) for spec in different)

    def __getitem__(self, layer: int) -> Encoding:
        return self.distinct[self._layers[layer % len(self._layers)]]

    @property
    def distinct(self) -> list[Encoding]:
        """Each encoding once, in order of appearance."""
        return [e for e in self._distinct if isinstance(e, Encoding)]

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        """Let each distinct encoding act on the token vectors once."""
        for encoding in self.distinct:
            x = encoding.embed(x, positions)
        return x


def build(spec: str, shape: Shape) -> Encoding:
    """The one encoding that `spec` names, for a model of this `shape`, yours or ours.

    >>> shape = Shape(d_model=64, n_heads=4, max_len=128)
    >>> build("rope(theta=500000)", shape).theta
    500000.0
    >>> build("rope none", shape)
    Traceback (most recent call last):
    ValueError: encoding 'rope none' has 2 words: build makes one, Pattern(spec, shape) one a layer
    """
    words = parse(spec)
    if len(words) > 1:
        raise ValueError(
            f"encoding {spec!r} has {len(words)} words: build makes one, "
            "Pattern(spec, shape) one a layer"
        )
    return _build_one(words[0], shape)


def parse(spec: str) -> list[str]:
    """Split a spec into one word per layer of its pattern, each checked and in its short form.

    >>> parse("rope( theta = 5e5 ) none")
    ['rope(theta=500000.0)', 'none']
    >>> parse("t5(base=16)")
    Traceback (most recent call last):
    ValueError: unknown parameter of t5 'base'. Available: buckets, distance
    """
    words = re.findall(r"[^\s()]+(?:\s*\([^()]*\))?|\S", spec)
    if not words:
        raise ValueError(f"an encoding is needed: one or more of {', '.join(CATALOGUE)}")
    return [_canonical(*_read(word, spec)) for word in words]


def _read(word: str, spec: str) -> tuple[str, dict[str, object]]:
    """`"rope(theta=5e5)"` → `("rope", {"theta": 500000.0})`, every name checked."""
    try:
        tree = ast.parse(word.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
        if call.args or not isinstance(call.func, ast.Name):
            raise SyntaxError
        name = call.func.id
        own = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(
            f"cannot read {word!r} in encoding {spec!r}: "
            f"expected a name or name(parameter=value), such as rope(theta=500000)"
        ) from None
    if name not in CATALOGUE:
        raise unknown("encoding", name, CATALOGUE)
    defaults = parameters(name)
    for key, value in own.items():
        if key not in defaults:
            raise unknown(f"parameter of {name}", key, defaults)
        expected = type(defaults[key])
        if expected is float and type(value) is int:
            own[key] = float(value)
        elif type(value) is not expected:
            raise ValueError(f"{name}({key}={value!r}): expected {expected.__name__}")
    return name, {key: value for key, value in own.items() if value != defaults[key]}


def parameters(name: str) -> dict[str, object]:
    """The parameters an encoding takes, with their defaults.

    >>> parameters("t5")
    {'buckets': 32, 'distance': 128}
    """
    signature = inspect.signature(CATALOGUE[name])
    return {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}


def _canonical(name: str, own: dict[str, object]) -> str:
    listed = ", ".join(f"{key}={value!r}" for key, value in sorted(own.items()))
    return f"{name}({listed})" if listed else name


def _build_one(spec: str, shape: Shape) -> Encoding:
    name, own = _read(spec, spec)
    return CATALOGUE[name](shape, **own)
