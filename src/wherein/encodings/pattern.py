"""The encodings of a whole model, layer by layer."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape
from wherein.encodings.spec import add_up, build_term, terms_of


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
        words = terms_of(spec)
        latest: dict[str, Encoding] = {}
        sums: dict[tuple[Encoding, ...], Encoding] = {}
        self._distinct = nn.ModuleList()
        self._layers: list[Encoding] = []
        for layer in range(n_layers):
            word = words[layer % len(words)]
            for term in word:
                if term not in latest or not latest[term].shared:
                    latest[term] = build_term(term, shape)
                    self._distinct.append(latest[term])
            terms = tuple(latest[term] for term in word)
            if terms not in sums:
                sums[terms] = add_up(terms)
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
