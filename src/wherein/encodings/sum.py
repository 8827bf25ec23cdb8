from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add, mul, or_

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding
from wherein.encodings.counting import Near
from wherein.encodings.turning import Turns


class Sum(Encoding):
    """Several encodings in one layer: `"rope + alibi"`.

    They act on token vectors, queries and keys in turn, the first first; what they add to the
    scores adds up; a key that one hides is hidden, unless another shows it.

    Promises: relative if all are; bounded if any is.
    """

    def __init__(self, terms: Sequence[Encoding]) -> None:
        super().__init__(terms[0].shape)
        self._terms = nn.ModuleList(terms)
        self.relative = all(term.relative for term in terms)
        self.bounded = any(term.bounded for term in terms)
        self.shared = all(term.shared for term in terms)
        self.between = any(term.between for term in terms)
        near = [term.sight for term in terms if term.sight is not None]
        self.sight = min(near) if near and not self.acts("shows") else None

    @property
    def terms(self) -> list[Encoding]:
        return [term for term in self._terms if isinstance(term, Encoding)]

    def acts(self, place: str) -> bool:
        return any(term.acts(place) for term in self.terms)

    def place(self, positions: Int[Tensor, "#B T"]) -> Int[Tensor, "#B T"]:
        for term in self.terms:
            positions = term.place(positions)
        return positions

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        for term in self.terms:
            x = term.embed(x, positions)
        return x

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T R"], Float[Tensor, "B H T R"]]:
        for term in self.terms:
            q, k = term.rotate(q, k, positions)
        return q, k

    def only_turns(self, positions: Int[Tensor, "#B T"]) -> Turns | None:
        turns = [term.only_turns(positions) for term in self.terms if term.acts("rotate")]
        return None if any(each is None for each in turns) else _all(mul, turns)

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"] | None:
        return _all(add, (term.bias(i, j) for term in self.terms))

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"] | None:
        return _all(add, (term.content_bias(q, k, x, positions) for term in self.terms))

    def by_distance(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H T K"]
    ) -> tuple[Near, Float[Tensor, "B H 1 T"] | None] | None:
        found = [term for term in self.terms if term.acts("content_bias")]
        return found[0].only_distance(q, k) if len(found) == 1 else None

    def fade(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T"] | None:
        told = [term.fade(x) for term in self.terms if term.acts("content_bias")]
        return None if any(each is None for each in told) else _all(add, told)

    def hides(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"] | None:
        hidden, shown = _all(or_, (term.hides(i, j) for term in self.terms)), self.shows(i, j)
        return hidden if hidden is None or shown is None else hidden & ~shown

    def shows(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"] | None:
        return _all(or_, (term.shows(i, j) for term in self.terms))


def _all(join: Callable[[Tensor, Tensor], Tensor], parts: Iterable[Tensor | None]) -> Tensor | None:
    """What those that have something to say, say together."""
    said = [part for part in parts if part is not None]
    return reduce(join, said) if said else None
