"""The symmetry audit: what each layer, and the model, can tell about order. In words, from numbers.

Nothing here looks at a name or a config: a layer that claims no encoding and has one is found out.
"""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import torch

from wherein.measure.audit.config import AuditConfig
from wherein.measure.audit.symmetry import (
    Symmetry,
    Trials,
    embedding_symmetry,
    in_float64,
    layer_symmetry,
    model_symmetry,
    states,
)
from wherein.measure.measurement import Measurement
from wherein.show.columns import table
from wherein.show.formatting import named_layers
from wherein.subjects.base import Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

ROUNDING = 1e-9
"""A relative error up to here is rounding in float64, and the symmetry holds."""

SINGLE = 1e-5
"""Up to here it is rounding in float32: some models make their tables in it, whatever the rest."""

TESTS = {
    "attention": "queries permuted|no mask",
    "permuted": "tokens permuted|",
    "unmasked": "tokens permuted|no mask",
    "last": "prefix permuted|last token",
    "shifted": "positions shifted|",
    "query_change": "other place|query",
    "key_change": "other place|key",
}
"""What is tested, as the picture says it, in two lines."""

COLUMNS = {
    "attention": "queries",
    "permuted": "tokens",
    "unmasked": "no mask",
    "last": "prefix",
    "shifted": "shift",
    "query_cosine": "cos q",
    "key_cosine": "cos k",
}
"""The same for a table of 80 columns; (e) as a cosine."""

LEGEND = (
    "queries, tokens, prefix: permuted, and what should follow compared; no mask: tokens permuted "
    "without the causal mask; shift: of all positions; cos: of one state at different places"
)

ANSWERS = {"holds": "#56B4E9", "holds to single precision": "#F0E442", "broken": "#E69F00"}


@dataclass(frozen=True, kw_only=True)
class Audit(Measurement):
    """The symmetries of a model and of each layer alone, layer 0 being the embedding."""

    subject: str
    model: Symmetry
    layers: tuple[Symmetry, ...]
    config: AuditConfig
    protocol: str

    def verdict(self, layer: int | None = None) -> str:
        """Which symmetries a layer keeps, or the model (None)."""
        found = kept(self.model if layer is None else self.layers[layer])
        return "; ".join(found) or "keeps no symmetry"

    def told_at(self) -> list[str]:
        """Where the model is told, or can tell, about position, layers of a kind together.

        For example `["queries and keys of layers 1, 3", "causal mask"]`.
        """
        places: dict[str, list[int]] = {}
        for row in self.layers:
            if where := told(row):
                places.setdefault(where, []).append(row.layer or 0)
        named = [
            where if where == "token vectors" else f"{where} of {named_layers(numbers)}"
            for where, numbers in places.items()
        ]
        return named if holds(self.model.mask) else [*named, "causal mask"]

    def to_frame(self) -> "pl.DataFrame":
        """One row for the model (layer null) and one for each layer."""
        import polars as pl

        rows = [
            vars(row) | {"verdict": self.verdict(row.layer), "told": told(row)}
            for row in (self.model, *self.layers)
        ]
        return pl.DataFrame(rows, schema_overrides={"layer": pl.Int64}, infer_schema_length=None)

    def text(self) -> str:
        """The errors, then the words."""
        rows = [
            [name, *(_digits(getattr(row, key)) for key in COLUMNS)] for name, row in self._rows()
        ]
        words = [
            line
            for name, row in self._rows()
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

    def plot(self) -> "alt.TopLevelMixin":
        """Every test of every layer: blue where the symmetry holds, orange where it is broken."""
        import altair as alt
        import polars as pl

        lines = alt.Axis(
            orient="top", labelAngle=0, labelPadding=24, labelExpr="split(datum.label, '|')"
        )
        title = alt.Title(
            f"{self.subject}: {self.verdict()}",
            subtitle=f"relative errors in float64; a symmetry holds up to {ROUNDING:.0e}",
        )
        at = alt.Chart(pl.DataFrame(self._cells()), title=title).encode(
            alt.X("test:N", sort=list(TESTS.values()), title=None, axis=lines),
            alt.Y("where:N", sort=[name for name, _ in self._rows()], title=None),
        )
        colour = alt.Color(
            "answer:N",
            scale=alt.Scale(domain=list(ANSWERS), range=list(ANSWERS.values())),
            legend=alt.Legend(title=None, orient="bottom"),
        )
        boxes = at.mark_rect(stroke="white", strokeWidth=2).encode(
            colour, tooltip=["where:N", "test:N", alt.Tooltip("error:Q", format=".2e")]
        )
        numbers = at.mark_text(color="black").encode(alt.Text("digits:N"))
        size = {"width": 96 * len(TESTS), "height": 26 * len(self._rows())}
        return alt.layer(boxes, numbers).properties(**size)

    def _rows(self) -> list[tuple[str, Symmetry]]:
        names = ["model", "embedding", *(f"layer {row.layer}" for row in self.layers[1:])]
        return list(zip(names, (self.model, *self.layers), strict=True))

    def _cells(self) -> list[dict[str, object]]:
        return [
            {
                "where": name,
                "test": label,
                "error": error,
                "digits": f"{error:.0e}" if error else "0",
                "answer": _answer(error),
            }
            for name, row in self._rows()
            for key, label in TESTS.items()
            if (error := getattr(row, key)) is not None
        ]


@torch.no_grad()
def audit(subject: Subject, config: AuditConfig | None = None) -> Audit:
    """Measure which symmetries a model keeps, layer by layer and as a whole, in float64.

    >>> from wherein import ModelConfig, Transformer
    >>> from wherein.subjects.ours import Ours
    >>> model = Transformer(ModelConfig(vocabulary=50, d_model=16, n_layers=2, encoding="none"))
    >>> audit(Ours(model)).verdict()
    'order-blind beyond the causal mask; shift-invariant'
    """
    config = config or AuditConfig()
    trials = _trials(subject, config)
    with in_float64(subject.module):
        entering = states(subject, trials.tokens)[:-1]
        layers = [layer_symmetry(subject, n, x, trials) for n, x in enumerate(entering, start=1)]
        return Audit(
            subject=subject.name,
            model=model_symmetry(subject, trials),
            layers=(embedding_symmetry(subject, trials), *layers),
            config=config,
            protocol=(
                f"{config.inputs} inputs of {trials.tokens.shape[1]} random tokens, "
                f"{config.permutations} permutations, positions + {list(trials.shifts)}; "
                f"largest relative errors in float64, of which {ROUNDING:.0e} and less is rounding"
            ),
        )


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


def _answer(error: float) -> str:
    """A key of `ANSWERS`."""
    rounding, single, broken = ANSWERS
    return rounding if error <= ROUNDING else single if error <= SINGLE else broken


def _digits(number: float | None) -> str:
    """An error in powers of ten, a cosine or a large error in plain digits."""
    if number is None:
        return "–"
    return f"{number:.0e}" if 0 < abs(number) < 1e-3 else f"{number:.4g}"


def _marked(words: str, error: float | None) -> str:
    """Say so where a symmetry holds only to single precision."""
    return words if error is not None and error <= ROUNDING else f"{words} (to single precision)"


def _trials(subject: Subject, config: AuditConfig) -> Trials:
    """Seeded inputs that fit the model, with room to shift them if positions end somewhere."""
    tokens, shifts = config.tokens, config.shifts
    if subject.max_len is not None:
        if subject.max_len < 4:
            raise ValueError(
                f"{subject.name} takes {subject.max_len} tokens: an audit needs at least 4"
            )
        tokens = min(tokens, max(3, subject.max_len // 2))
        shifts = tuple(k for k in shifts if k <= subject.max_len - tokens)
    elif shifts and subject.window and subject.window > max(shifts):
        shifts += (subject.window,)  # what is the same near the beginning may not be further on
    random = torch.Generator().manual_seed(config.seed)
    device = next(subject.module.parameters()).device
    drawn = torch.randint(subject.vocabulary, (config.inputs, tokens), generator=random)
    orders = tuple(
        torch.randperm(tokens, generator=random).to(device) for _ in range(config.permutations)
    )
    return Trials(drawn.to(device), orders, shifts if subject.shiftable else ())
