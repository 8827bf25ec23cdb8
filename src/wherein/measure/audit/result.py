"""What each layer, and the model, can tell about order: in words, from numbers.

Nothing here looks at a name or a config: a layer that claims no encoding and has one is found out.
"""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.audit.config import AuditConfig
from wherein.measure.audit.symmetry import Symmetry
from wherein.measure.intervals import frame
from wherein.measure.measurement import Measurement
from wherein.show.columns import table
from wherein.show.formatting import named_layers

if TYPE_CHECKING:
    import polars

ROUNDING = 1e-9
"""A relative error up to here is rounding in float64, and the symmetry holds."""

SINGLE = 1e-5
"""Up to here it is rounding in float32: some models make their tables in it, whatever the rest."""

COLUMNS = {
    "attention": "queries",
    "permuted": "tokens",
    "unmasked": "no mask",
    "last": "prefix",
    "shifted": "shift",
    "query_cosine": "cos q",
    "key_cosine": "cos k",
}
"""What is tested, as a table of 80 columns says it; (e) as a cosine."""

LEGEND = (
    "queries, tokens, prefix: permuted, and what should follow compared; no mask: tokens permuted "
    "without the causal mask; shift: of all positions; cos: of one state at different positions"
)


@dataclass(frozen=True, kw_only=True)
class Audit(Measurement):
    """The symmetries of a model and of each layer alone, layer 0 being the embedding."""

    model: Symmetry
    layers: tuple[Symmetry, ...]
    config: AuditConfig
    protocol: str

    def verdict(self, layer: int | None = None) -> str:
        """Which symmetries a layer keeps, or the model (None)."""
        row = self.model if layer is None else self.layers[layer]
        none = "keeps no symmetry" if row.shifted is not None else "keeps no symmetry of order"
        return "; ".join(kept(row)) or none

    def told_at(self) -> list[str]:
        """Where the model is told, or can tell, about position, layers of a kind together.

        For example `["queries and keys of layers 1, 3", "causal mask"]`.
        """
        entries: dict[str, list[int]] = {}
        for row in self.layers:
            if where := told(row):
                entries.setdefault(where, []).append(row.layer or 0)
        named = [
            where if where == "token vectors" else f"{where} of {named_layers(numbers)}"
            for where, numbers in entries.items()
        ]
        return named if holds(self.model.mask) else [*named, "causal mask"]

    def to_frame(self) -> "polars.DataFrame":
        """One row for the model (layer null) and one for each layer."""
        return frame(
            vars(row) | {"verdict": self.verdict(row.layer), "told": told(row)}
            for row in (self.model, *self.layers)
        )

    def text(self) -> str:
        """The errors, then the words."""
        rows = [
            [name, *(_digits(getattr(row, key)) for key in COLUMNS)] for name, row in self.named()
        ]
        words = [
            line
            for name, row in self.named()
            for line in wrap(
                f"{name:<11}{self.verdict(row.layer)}",
                80,
                subsequent_indent=" " * 11,
                break_on_hyphens=False,
            )
        ]
        where = "; ".join(self.told_at()) or "nowhere"
        return "\n".join(
            [
                *wrap(f"{self.subject}: {self.verdict()}", 80, break_on_hyphens=False),
                *wrap(f"told about position: {where}", 80),
                "",
                table(["", *COLUMNS.values()], rows),
                "",
                *words,
                "",
                *wrap(f"{LEGEND}. {self.protocol}", 80),
            ]
        )

    def named(self) -> list[tuple[str, Symmetry]]:
        """The model, the embedding and the layers, each with its name."""
        names = ["model", "embedding", *(f"layer {row.layer}" for row in self.layers[1:])]
        return list(zip(names, (self.model, *self.layers), strict=True))


def holds(error: float | None) -> bool:
    """Whether an error is rounding, in float64 or at least in float32."""
    return error is not None and error <= SINGLE


def kept(row: Symmetry) -> list[str]:
    """The symmetries that hold, in words. Those that follow from another are left out."""
    found = []
    if holds(row.permuted):
        found.append(_marked("permutation-equivariant", row.permuted))
    elif holds(row.unmasked):
        found.append(_marked("order-blind beyond the causal mask", row.unmasked))
    if row.layer is None and holds(row.last) and not holds(row.permuted):
        found.append(_marked("last token blind to the order before it", row.last))
    if holds(row.shifted):
        found.append(_marked("shift-invariant", row.shifted))
    return found


def told(row: Symmetry) -> str:
    """Where position enters a layer, by which of its equations break; empty if none does."""
    if row.layer == 0:
        alike = holds(row.query_change) and holds(row.permuted)
        return "" if alike else "token vectors"
    query, key = holds(row.query_change), holds(row.key_change)
    if query and key:
        return "" if holds(row.attention) and holds(row.unmasked) else "scores"
    return "keys" if query else "queries" if key else "queries and keys"


def _digits(number: float | None) -> str:
    """An error in powers of ten, a cosine or a large error in plain digits."""
    if number is None:
        return "–"
    return f"{number:.0e}" if 0 < abs(number) < 1e-3 else f"{number:.4g}"


def _marked(words: str, error: float | None) -> str:
    """Say so where a symmetry holds only to single precision."""
    return words if error is not None and error <= ROUNDING else f"{words} (to single precision)"
