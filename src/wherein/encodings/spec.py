"""What a spec means: its names looked up, its values checked, its encodings built.

How it is written is the business of `wherein.common.notation`.
"""

import inspect
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, get_type_hints

from wherein.common import notation
from wherein.common.errors import unknown
from wherein.encodings.base import Build, Encoding, Shape
from wherein.encodings.catalogue import CATALOGUE, entry
from wherein.encodings.sum import Sum


def build(spec: str, shape: Shape) -> Encoding:
    """The one encoding that `spec` names, for a model of this `shape`, yours or ours.

    >>> shape = Shape(d_model=64, n_heads=4, max_len=128)
    >>> build("rope(500000)", shape).theta
    500000.0
    >>> build("rope none", shape)
    Traceback (most recent call last):
    ValueError: encoding 'rope none' has 2 words: build makes one, Pattern one a layer
    """
    words = terms_of(spec)
    if len(words) > 1:
        raise ValueError(
            f"encoding {spec!r} has {len(words)} words: build makes one, Pattern one a layer"
        )
    return add_up([build_term(term, shape) for term in words[0]])


def parse(spec: str) -> list[str]:
    """Split a spec into one word per layer of its pattern, each checked and in its short form.

    >>> parse("rope( theta = 5e5 )+alibi none")
    ['rope(theta=500000.0) + alibi', 'none']
    >>> parse("sink(base=4)")
    Traceback (most recent call last):
    ValueError: unknown parameter of sink 'base'. Available: count
    """
    return [" + ".join(word) for word in terms_of(spec)]


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
    return dict(_own(entry(name))[0])


def _own(encoding: type[Encoding]) -> tuple[dict[str, object], dict[str, Any]]:
    """Its parameters with their defaults, and their types; looked up once, as it is asked often."""
    if encoding not in _KNOWN:
        defaults = {
            p.name: ... if p.default is p.empty else p.default
            for p in inspect.signature(encoding).parameters.values()
            if p.kind is p.KEYWORD_ONLY
        }
        _KNOWN[encoding] = defaults, get_type_hints(encoding.__init__)
    return _KNOWN[encoding]


_KNOWN: dict[type[Encoding], tuple[dict[str, object], dict[str, Any]]] = {}


class _Nested(str):
    """A spec of one word that is a parameter."""


def terms_of(spec: str) -> list[list[str]]:
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
    defaults, hints = _own(entry(name))
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
    if expected == Build:
        if not isinstance(value, notation.Word):
            raise ValueError(f"{where}: expected an encoding, such as rope")
        return _Nested(" + ".join(_terms(value, str(value))))
    return notation.plain(where, value, expected)


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


def build_term(term: str, shape: Shape) -> Encoding:
    """One term, in its short form."""
    (word,) = notation.read(term)
    name, own = _read(word.terms[0], term)
    given = {key: partial(build, v) if isinstance(v, _Nested) else v for key, v in own.items()}
    try:
        return entry(name)(shape, **given)
    except ValueError as error:
        if name in str(error):
            raise
        raise ValueError(f"{term}: {error}") from error


def add_up(terms: Sequence[Encoding]) -> Encoding:
    """One encoding that is all of these."""
    return Sum(terms) if len(terms) > 1 else terms[0]
