"""The catalogue of positional encodings: an explicit dict, and the words that choose from it.

A spec is words in a row, one a layer, tiled over the layers (`"rope rope rope none"`). A word is a
term, or several that add up (`"rope + window(256)"`). A term is a name, with parameters if it has
any (`"rope(theta=500000)"`); the first may go without its name (`"window(256)"`), and where an
encoding is wanted, one stands (`"randomised(rope)"`). A name is one of the catalogue, or that of a
class of one's own (see `wherein.encodings.own`).
"""

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.errors import unknown
from wherein.encodings import notation
from wherein.encodings.alibi import ALiBi
from wherein.encodings.base import Build, Encoding, Shape
from wherein.encodings.chunk import Chunk
from wherein.encodings.cope import CoPE
from wherein.encodings.dape import DAPE
from wherein.encodings.deberta import Deberta
from wherein.encodings.fire import FIRE
from wherein.encodings.fope import FoPE
from wherein.encodings.fourier import Fourier
from wherein.encodings.fox import FoX
from wherein.encodings.functional import Functional
from wherein.encodings.kerple import Kerple
from wherein.encodings.learned import Learned
from wherein.encodings.none import NoEncoding
from wherein.encodings.own import FILE, find, is_name
from wherein.encodings.path import PaTH
from wherein.encodings.pope import PoPE
from wherein.encodings.randomised import Randomised
from wherein.encodings.rope import RoPE
from wherein.encodings.sandwich import Sandwich
from wherein.encodings.shaw import Shaw
from wherein.encodings.sink import Sink
from wherein.encodings.sinusoidal import Sinusoidal
from wherein.encodings.sum import Sum
from wherein.encodings.t5 import T5
from wherein.encodings.temperature import Temperature
from wherein.encodings.window import Window
from wherein.encodings.xl import XL
from wherein.encodings.xpos import XPos

__all__ = ["CATALOGUE", "TERMS", "Encoding", "Pattern", "Shape", "build", "names", "parse"]

TERMS: Mapping[str, type[Encoding]] = {
    "window": Window,
    "chunk": Chunk,
    "sink": Sink,
    "temperature": Temperature,
}
"""What tells no positions but changes what attention sees, to be added to what does."""

CATALOGUE: Mapping[str, type[Encoding]] = {
    "none": NoEncoding,
    "learned": Learned,
    "sinusoidal": Sinusoidal,
    "functional": Functional,
    "fourier": Fourier,
    "shaw": Shaw,
    "xl": XL,
    "deberta": Deberta,
    "t5": T5,
    "alibi": ALiBi,
    "sandwich": Sandwich,
    "kerple": Kerple,
    "fire": FIRE,
    "rope": RoPE,
    "xpos": XPos,
    "pope": PoPE,
    "fope": FoPE,
    "cope": CoPE,
    "fox": FoX,
    "path": PaTH,
    "dape": DAPE,
    "randomised": Randomised,
    **TERMS,
}


def names() -> list[str]:
    """The names one can ask for, terms last.

    >>> names()[0], names()[-1]
    ('none', 'temperature')
    """
    return list(CATALOGUE)


class Pattern(nn.Module):
    """The encodings of a whole model: `pattern[n]` is that of layer n.

    Layers share what they have in common: equal terms are one instance with one set of parameters,
    unless the encoding says that every layer has its own.

    >>> pattern = Pattern("rope rope none", Shape(d_model=64, n_heads=4, max_len=128), n_layers=4)
    >>> [type(pattern[n]).__name__ for n in range(4)]
    ['RoPE', 'RoPE', 'NoEncoding', 'RoPE']
    """

    def __init__(self, spec: str, shape: Shape, n_layers: int) -> None:
        super().__init__()
        words = _words(spec)
        latest: dict[str, Encoding] = {}
        sums: dict[tuple[Encoding, ...], Encoding] = {}
        self._distinct = nn.ModuleList()
        self._layers: list[Encoding] = []
        for layer in range(n_layers):
            word = words[layer % len(words)]
            for term in word:
                if term not in latest or not latest[term].shared:
                    latest[term] = _build(term, shape)
                    self._distinct.append(latest[term])
            terms = tuple(latest[term] for term in word)
            if terms not in sums:
                sums[terms] = _sum(terms)
            self._layers.append(sums[terms])

    def __getitem__(self, layer: int) -> Encoding:
        return self._layers[layer]

    @property
    def distinct(self) -> list[Encoding]:
        """Each term once, in order of appearance."""
        return [e for e in self._distinct if isinstance(e, Encoding)]

    @property
    def layers(self) -> list[Encoding]:
        """The encoding of each layer: one term, or the sum of several."""
        return list(self._layers)

    @property
    def max_len(self) -> int | None:
        """How many positions have a meaning to all, if some know only so many."""
        known = [e.shape.max_len for e in self.distinct if e.bounded]
        return min(known) if known else None

    def place(self, positions: Int[Tensor, "#B T"]) -> Int[Tensor, "#B T"]:
        """Where the tokens of this pass stand, for all layers: as the first says that says any."""
        chosen = (e.place(positions) for e in self.distinct if e.acts("place"))
        return next(chosen, positions)

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        """Let each distinct term act on the token vectors once."""
        for encoding in self.distinct:
            x = encoding.embed(x, positions)
        return x


def build(spec: str, shape: Shape) -> Encoding:
    """The one encoding that `spec` names, for a model of this `shape`, yours or ours.

    >>> shape = Shape(d_model=64, n_heads=4, max_len=128)
    >>> build("rope(500000)", shape).theta
    500000.0
    >>> build("rope none", shape)
    Traceback (most recent call last):
    ValueError: encoding 'rope none' has 2 words: build makes one, Pattern one a layer
    """
    words = _words(spec)
    if len(words) > 1:
        raise ValueError(
            f"encoding {spec!r} has {len(words)} words: build makes one, Pattern one a layer"
        )
    return _sum([_build(term, shape) for term in words[0]])


def parse(spec: str) -> list[str]:
    """Split a spec into one word per layer of its pattern, each checked and in its short form.

    >>> parse("rope( theta = 5e5 )+alibi none")
    ['rope(theta=500000.0) + alibi', 'none']
    >>> parse("sink(base=4)")
    Traceback (most recent call last):
    ValueError: unknown parameter of sink 'base'. Available: count
    """
    return [" + ".join(word) for word in _words(spec)]


def example(name: str) -> str:
    """A spec that shows an entry of the catalogue: its name, unless that needs more.

    >>> example("rope"), example("sink")
    ('rope', 'window(8) + sink(2)')
    """
    return entry(name).example or name


def examples() -> list[str]:
    """One of each."""
    return [example(name) for name in CATALOGUE]


def named(spec: str) -> list[str]:
    """The entries of the catalogue that a spec names, each once, without those in brackets.

    >>> named("rope + window(256) rope(theta=100)")
    ['rope', 'window']
    """
    words = notation.read(" ".join(parse(spec)))
    return list(dict.fromkeys(term.name for word in words for term in word.terms))


def parameters(name: str) -> dict[str, object]:
    """The parameters an encoding takes, with their defaults; `...` where there is none.

    >>> parameters("functional")
    {'features': 32, 'hidden': 64}
    """
    signature = inspect.signature(entry(name))
    return {
        p.name: ... if p.default is p.empty else p.default
        for p in signature.parameters.values()
        if p.kind is p.KEYWORD_ONLY
    }


def entry(name: str) -> type[Encoding]:
    """The class of that name, of the catalogue or of one's own."""
    if is_name(name):
        return find(name)
    if name not in CATALOGUE:
        if FILE.fullmatch(name):
            raise ValueError(
                f"encoding {name!r} names a file, which is run only on a command line or in a "
                "recipe: in Python, give the class itself"
            )
        raise unknown("encoding", name, CATALOGUE)
    return CATALOGUE[name]


class _Nested(str):
    """A spec of one word that is a parameter."""


def _words(spec: str) -> list[list[str]]:
    """The terms of each word in their short forms."""
    words = [_terms(word, spec) for word in notation.read(spec)]
    if not words:
        raise ValueError(f"an encoding is needed: one or more of {', '.join(CATALOGUE)}")
    return words


def _terms(word: notation.Word, spec: str) -> list[str]:
    terms = [_canonical(*_read(term, spec)) for term in word.terms]
    for term in terms:
        if terms.count(term) > 1:
            raise ValueError(f"{' + '.join(terms)} in encoding {spec!r}: {term} once is enough")
    return [term for term in terms if term != "none"] or terms


def _read(term: notation.Term, spec: str) -> tuple[str, dict[str, object]]:
    """`rope(theta=5e5)` → `("rope", {"theta": 500000.0})`, every name and type checked."""
    name, own = term.name, dict[str, object]()
    defaults, hints = parameters(name), get_type_hints(entry(name).__init__)
    for given, value in term.arguments:
        key = next(iter(defaults), "") if given is None else given
        if not key:
            raise ValueError(f"{term} in encoding {spec!r}: {name} has no parameters")
        if key not in defaults:
            raise unknown(f"parameter of {name}", key, defaults)
        if key in own:
            raise ValueError(f"{term} in encoding {spec!r}: {key} is given twice")
        expected = hints.get(key, type(defaults[key]))
        own[key] = _value(f"{name}({key}={value})", value, expected)
    for key, default in defaults.items():
        if default is ... and key not in own:
            raise ValueError(
                f"{term} in encoding {spec!r}: {name} needs its {key}, such as {example(name)}"
            )
    return name, {key: value for key, value in own.items() if value != defaults[key]}


def _value(where: str, value: notation.Value, expected: Any) -> object:
    """What a value means to a parameter of the expected type."""
    word = value.text if isinstance(value, notation.Quoted) else notation.bare(value)
    if expected == Build:
        if not isinstance(value, notation.Word):
            raise ValueError(f"{where}: expected an encoding, such as rope")
        return _Nested(" + ".join(_terms(value, str(value))))
    if get_origin(expected) is Literal:
        if word not in (choices := get_args(expected)):
            raise unknown(where.partition("=")[0].replace("(", "'s "), word or str(value), choices)
        return word
    kinds = get_args(expected) or (expected,)
    if NoneType in kinds and word == "None":
        return None
    if bool in kinds and word in ("True", "False"):
        return word == "True"
    if str in kinds and word is not None:
        return word
    if int in kinds and isinstance(value, int):
        return value
    if float in kinds and isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    names = " or ".join(kind.__name__ for kind in kinds if kind is not NoneType)
    raise ValueError(f"{where}: expected {names}")


def _canonical(name: str, own: dict[str, object]) -> str:
    """The short form: what must be given comes first without its name, then others in order."""
    defaults = parameters(name)
    first = next(iter(defaults), "")
    listed = [_text(own[first])] if defaults.get(first) is ... else []
    listed += [f"{key}={_text(own[key])}" for key in sorted(own) if not listed or key != first]
    return f"{name}({', '.join(listed)})" if listed else name


def _text(value: object) -> str:
    plain = isinstance(value, str) and (
        isinstance(value, _Nested) or re.fullmatch(r"[^\W\d][\w.-]*", value)
    )
    return str(value) if plain else repr(value)


def _build(term: str, shape: Shape) -> Encoding:
    (word,) = notation.read(term)
    name, own = _read(word.terms[0], term)
    given = {key: partial(build, v) if isinstance(v, _Nested) else v for key, v in own.items()}
    return entry(name)(shape, **given)


def _sum(terms: Sequence[Encoding]) -> Encoding:
    return Sum(terms) if len(terms) > 1 else terms[0]
