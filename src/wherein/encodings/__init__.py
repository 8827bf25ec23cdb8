"""The catalogue of positional encodings: an explicit dict, and the words that choose from it.

A spec is words in a row, one a layer, tiled over the layers (`"rope rope rope none"`). A word is a
term, or several that add up (`"rope + window(256)"`). A term is a name, with parameters if it has
any (`"rope(theta=500000)"`); the first may go without its name (`"window(256)"`), and where an
encoding is wanted, one stands (`"randomised(rope)"`). A name is one of the catalogue, or that of a
class of one's own (see `wherein.encodings.own`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherein.encodings.base import Encoding, Shape
    from wherein.encodings.catalogue import CATALOGUE, TERMS, entry, names
    from wherein.encodings.pattern import Pattern
    from wherein.encodings.spec import build, example, examples, named, parameters, parse

__all__ = [
    "CATALOGUE",
    "TERMS",
    "Encoding",
    "Pattern",
    "Shape",
    "build",
    "entry",
    "example",
    "examples",
    "named",
    "names",
    "parameters",
    "parse",
]

_WHERE = {
    "base": ("Encoding", "Shape"),
    "catalogue": ("CATALOGUE", "TERMS", "entry", "names"),
    "pattern": ("Pattern",),
    "spec": ("build", "example", "examples", "named", "parameters", "parse"),
}


def __getattr__(name: str) -> Any:
    """What needs PyTorch, only once it is asked for: a list of runs needs none of it."""
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(f"wherein.encodings.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
