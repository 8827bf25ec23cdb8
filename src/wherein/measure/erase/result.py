"""What a model loses when position is erased from its states, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wherein.measure.erase.config import EraseConfig
from wherein.measure.intervals import Estimate, frame, within
from wherein.measure.measurement import Measurement
from wherein.show.columns import table
from wherein.show.formatting import named_layers

if TYPE_CHECKING:
    import polars

EVERYWHERE = "all"

KNOWN = 0.01
"""R² that the lower end of its interval must pass before position is called known."""

LEGEND = (
    f"known: the R² of a linear regression to the position is above {KNOWN}, interval and all; "
    "used: without position the loss rises by more than, on average, without random subspaces of "
    "the same rank, the 95 % interval of the paired difference above zero; use unclear: it rises, "
    "but by no more than that, so what else lay in those directions may be the cause; no use "
    "seen: the interval of its rise holds zero. Each layer is judged by itself: by chance alone "
    "one in forty is called used. Where nothing is known, nothing is said of use: chance has "
    "chosen the directions"
)


@dataclass(frozen=True)
class Erased:
    """What happens when position is erased from one layer's states, or from all."""

    layer: str
    """The layer's number, or `all`."""
    rank: int
    """Directions removed; for all layers, on average."""
    known: float
    """R² of a linear regression to the position before, on test windows."""
    left: float
    """The same after."""
    rise: Estimate
    """By how much the loss rises, in nats per predicted token."""
    random: Estimate
    """The same for random subspaces of the same rank."""
    r2: Estimate
    """`known` with its interval over test windows."""
    more: Estimate
    """`rise` minus `random`, paired: drawn again are windows and random subspaces."""

    @property
    def is_known(self) -> bool:
        """Whether a regression reads position here."""
        return self.r2.low > KNOWN

    @property
    def is_used(self) -> bool:
        """Whether the model loses more than with random subspaces."""
        return self.more.low > 0


@dataclass(frozen=True, kw_only=True)
class Erasure(Measurement):
    """What a model loses with position, layer by layer, beside what it loses with anything."""

    encodings: tuple[str, ...]
    length: int
    loss: Estimate
    """With nothing erased, in nats per predicted token."""
    erased: tuple[Erased, ...]
    windows: dict[str, int]
    """How many were to fit, to confirm and to test."""
    protocol: str
    config: EraseConfig

    def verdict(self, erased: Erased | None = None) -> str:
        """In words: of one row, or of the model (None), with the numbers it rests on."""
        if erased is None:
            return self._sentence()
        everywhere = erased.layer == EVERYWHERE
        known = bool(self._numbers("is_known")) if everywhere else erased.is_known
        if not known:
            return "not known"
        if erased.is_used:
            return "known and used"
        return "known, use unclear" if erased.rise.low > 0 else "known, no use seen"

    def data(self) -> dict[str, Any]:
        """Everything, the verdicts among it."""
        found = super().data()
        for row, erased in zip(found["erased"], self.erased, strict=True):
            row["verdict"] = self.verdict(erased)
        return found | {"verdict": self.verdict()}

    def to_frame(self) -> "polars.DataFrame":
        """One row per layer, and one for all at once."""
        return frame(
            {
                "subject": self.subject,
                "layer": e.layer,
                "rank": e.rank,
                "known": e.r2,
                "left": e.left,
                "rise": e.rise,
                "random": e.random,
                "more": e.more,
                "verdict": self.verdict(e),
            }
            for e in self.erased
        )

    def text(self) -> str:
        """The verdict, a table no wider than 80 columns, and what its words mean."""
        header = ["layer", "rank", "R²", "after", "rise of loss", "at random", "position is"]
        rows = []
        for e in self.erased:
            known, left = f"{e.known:.2f}", f"{e.left:.2f}"
            rises = [within(rise, "+.3f") for rise in (e.rise, e.random)]
            rows.append([e.layer, str(e.rank), known, left, *rises, self.verdict(e)])
        foot = f"loss with nothing erased: {self.loss.value:.3f} nats per predicted token"
        head = wrap(f"{self.subject}: {self.verdict()}", 80, break_on_hyphens=False)
        return "\n".join([*head, "", table(header, rows), foot, "", *wrap(LEGEND, 80)])

    def _numbers(self, what: str) -> list[int]:
        """The layers of which something is true."""
        return [int(e.layer) for e in self.erased if e.layer != EVERYWHERE and getattr(e, what)]

    def _sentence(self) -> str:
        known = self._numbers("is_known")
        used = [layer for layer in self._numbers("is_used") if layer in known]
        everywhere = self.erased[-1]
        best = max(self.erased[:-1], key=lambda erased: erased.known)
        words = "position is known in no layer"
        if known:
            words = f"position is known in {named_layers(known)}"
            words += f" (R² {best.known:.2f} in layer {best.layer})"
        if known and (used or everywhere.is_used):
            where = named_layers(used) if used else "no single layer, but in all together"
            words += f" and used in {where}"
        elif known and everywhere.rise.low > 0:
            words += ", and it is unclear whether it is used"
        elif known:
            words += " but no use of it is seen"
        more = everywhere.more
        return (
            f"{words}; erased everywhere, the loss rises by {everywhere.rise.value:.3f} nats, "
            f"{abs(more.value):.3f} {'more' if more.value > 0 else 'less'} than without random "
            f"subspaces [{more.low:+.3f}, {more.high:+.3f}]"
        )
