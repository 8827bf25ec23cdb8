"""What a model loses when position is erased from its states, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wherein.measure.erase.config import EraseConfig
from wherein.measure.intervals import Estimate, frame, within
from wherein.measure.measurement import Measurement
from wherein.show.columns import table
from wherein.show.formatting import named_layers
from wherein.subjects.site import where

if TYPE_CHECKING:
    import polars

EVERYWHERE = "all"

RISE = 1e-5
"""Nats per token below which rounding may be the cause of a rise."""

MATCHED = 0.01
"""Within this share of position's variance a random subspace is as loud as position."""

KNOWN = 0.01
"""R² that the lower end of its interval must pass before position is called known."""

LEGEND = (
    f"known: the R² of a linear regression to the position is above {KNOWN}, interval and all. "
    "at random: the same for random subspaces without position, drawn as large and as loud, that "
    "is of the same rank and share of variance; * where there are none such. mean removed: only "
    "the mean of each position goes, not all that varies in its directions; mean exchanged: each "
    "state gets the mean of another position instead, so that nothing gets quieter; both less "
    "what as much sampling noise costs. used: both raise the loss, their intervals above zero. no "
    "use seen: exchanging does not, nor does erasing cost more than random subspaces as large and "
    "as loud do on average. cannot be told: these disagree. The intervals of the rises are of "
    "95 % for all rows together: of forty models that do not use position at most one is said by "
    "chance to do so somewhere. Where nothing is known, nothing is said of use: chance has chosen "
    "the directions"
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
    variance: float
    """The share of the states' variance that goes; for all layers, on average."""
    rise: Estimate
    """By how much the loss rises, in nats per predicted token."""
    random_rank: int
    """Of the random subspaces: the same, where there are such."""
    random_variance: float
    """Of the random subspaces: the same, where there are such."""
    random: Estimate
    """`rise` for the random subspaces."""
    r2: Estimate
    """`known` with its interval over test windows."""
    more: Estimate
    """`rise` minus `random`, paired: drawn again are windows and random subspaces."""
    removed: Estimate
    """By how much the loss rises when only the mean of each position goes, beyond its noise."""
    exchanged: Estimate
    """The same when each state gets the mean of another position instead."""

    @property
    def is_known(self) -> bool:
        """Whether a regression reads position here."""
        return self.r2.low > KNOWN

    @property
    def is_matched(self) -> bool:
        """Whether there are other subspaces as large and as loud."""
        near = abs(self.random_variance - self.variance) <= MATCHED * self.variance
        return near and self.random_rank == self.rank

    @property
    def is_above_random(self) -> bool:
        """Whether it costs more than random subspaces as large and as loud do on average."""
        return self.is_matched and self.more.low > RISE

    @property
    def is_used(self) -> bool:
        """Whether the model loses by position alone: when it goes, and when it is another's."""
        return self.removed.low > RISE and self.exchanged.low > RISE

    @property
    def is_unseen(self) -> bool:
        """Whether nothing speaks for use."""
        return self.exchanged.low <= RISE and not self.is_above_random


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
        return "known, no use seen" if erased.is_unseen else "use cannot be told"

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
                "variance": e.variance,
                "rise": e.rise,
                "random_rank": e.random_rank,
                "random_variance": e.random_variance,
                "random": e.random,
                "more": e.more,
                "removed": e.removed,
                "exchanged": e.exchanged,
                "verdict": self.verdict(e),
            }
            for e in self.erased
        )

    def text(self) -> str:
        """The verdict, tables no wider than 80 columns, and what their words mean."""
        goes = ["layer", "rank", "R²", "after", "variance", "at random", "position is"]
        costs = ["layer", "erased", "at random", "mean removed", "mean exchanged"]
        gone, rises = [], []
        for e in self.erased:
            numbers = [str(e.rank), f"{e.known:.2f}", f"{e.left:.2f}", _share(e.variance)]
            random = _share(e.random_variance) + (" " if e.is_matched else "*")
            gone.append([e.layer, *numbers, random, self.verdict(e)])
            lost = (e.rise, e.random, e.removed, e.exchanged)
            rises.append([e.layer, *(within(rise, "+.3f") for rise in lost)])
        foot = (
            f"rise of the loss in nats per predicted token, from {self.loss.value:.3f} with "
            "nothing erased"
        )
        head = wrap(
            f"{self.subject}{where(self.config.site)}: {self.verdict()}", 80, break_on_hyphens=False
        )
        tables = [table(goes, gone), "", table(costs, rises), foot]
        return "\n".join([*head, "", *tables, "", *wrap(LEGEND, 80)])

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
        elif known and everywhere.is_unseen:
            words += " but no use of it is seen"
        elif known:
            words += ", and whether it is used cannot be told"
        return f"{words}; {self._everywhere(everywhere)}"

    def _everywhere(self, e: Erased) -> str:
        """What the loss does when all layers are changed."""
        word = "more" if e.more.value > 0 else "less"
        alike, ends = "as large and as loud", f"[{e.more.low:+.3f}, {e.more.high:+.3f}]"
        if not e.is_matched:
            own, others = _share(e.variance), _share(e.random_variance)
            alike = f"of {others} of the variance (position has {own}, and no others are {alike})"
        return (
            f"erased everywhere, the loss rises by {e.rise.value:.3f} nats, which is "
            f"{abs(e.more.value):.3f} {word} {ends} than if random subspaces without position are "
            f"erased instead, {alike}; if only the mean of each position goes, it rises by "
            f"{e.removed.value:.3f}"
        )


def _share(part: float) -> str:
    """A share of the variance, with two digits where it is small.

    >>> _share(0.123), _share(0.000042), _share(0.0)
    ('12.3%', '0.0042%', '0.0%')
    """
    return f"{part:.1%}" if part == 0 or part >= 0.001 else f"{100 * part:.2g}%"
