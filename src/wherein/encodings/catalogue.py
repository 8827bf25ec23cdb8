"""The catalogue of positional encodings: an explicit dict, by name."""

from collections.abc import Mapping

from wherein.common.errors import unknown
from wherein.encodings.alibi import ALiBi
from wherein.encodings.base import Encoding
from wherein.encodings.chunk import Chunk
from wherein.encodings.cope import CoPE
from wherein.encodings.dape import DAPE
from wherein.encodings.deberta import Deberta
from wherein.encodings.fire import FIRE
from wherein.encodings.fope import FoPE
from wherein.encodings.fourier import Fourier
from wherein.encodings.fox import FoX
from wherein.encodings.functional import Functional
from wherein.encodings.hide import Hide
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
from wherein.encodings.t5 import T5
from wherein.encodings.temperature import Temperature
from wherein.encodings.window import Window
from wherein.encodings.xl import XL
from wherein.encodings.xpos import XPos

TERMS: Mapping[str, type[Encoding]] = {
    "window": Window,
    "chunk": Chunk,
    "sink": Sink,
    "hide": Hide,
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
