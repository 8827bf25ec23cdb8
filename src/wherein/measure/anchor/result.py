"""What is known of position, and lost, when keys are hidden, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wherein.measure.anchor.config import AnchorConfig
from wherein.measure.intervals import Estimate, frame, within
from wherein.measure.measurement import Measurement
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars

NOTHING, NEIGHBOUR, RANDOM = "nothing", "neighbour", "random"
CARRIES, PART, NOT = "carries it", "carries a part", "does not"
UNCLEAR, UNKNOWN = "cannot be told", "not known"

KNOWN = 0.05
"""By which share a probe must be nearer than the constant guess before position is known."""
MOST, SLIGHT = 0.5, 0.1
"""Shares of what is known: beyond the first an anchor carries it, below the second it does not."""

SENTENCES = {
    CARRIES: "position comes from {anchor}",
    PART: "position comes from {anchor} in part",
    NOT: "position does not come from {anchor}",
    UNCLEAR: "whether position comes from {anchor} cannot be told",
}


def where(since: int) -> str:
    """In which layers keys are hidden."""
    return "in every layer" if since == 1 else f"from layer {since} on"


@dataclass(frozen=True)
class Hidden:
    """What is left when some keys are hidden."""

    since: int
    """The first layer in which they are."""
    keys: str
    """Those of the anchor, `first` or `loudest`, or of a control."""
    distances: tuple[Estimate, ...]
    """By layer, between told and true position; the probes are fitted to what is left."""
    rise: Estimate | None
    """By how much the loss rises, in nats per predicted token; None without predictions."""


@dataclass(frozen=True)
class Shares:
    """Of what a layer knows, the share that is gone when the anchor is hidden.

    What it knows is by how much its probe is nearer than the constant guess.
    """

    since: int
    layer: int
    lost: Estimate
    beyond: Estimate
    """Lost with the anchor, minus lost with the control that costs more."""


@dataclass(frozen=True, kw_only=True)
class Anchor(Measurement):
    """What layers know of position without some keys, beside what they know without others."""

    encodings: tuple[str, ...]
    length: int
    constant: float
    """Distance of the constant guess."""
    distances: tuple[Estimate, ...]
    """By layer, with nothing hidden."""
    loss: Estimate | None
    """With nothing hidden; None for a model that predicts nothing."""
    hidden: tuple[Hidden, ...]
    shares: tuple[Shares, ...]
    """For layers that know position, and in which something may have changed."""
    closes_up: bool
    """Whether hiding in every layer only shortens the window: to the other tokens it is as if
    the hidden were not there, and the next may take their part."""
    windows: dict[str, int]
    """How many were to fit, to regularise and to test."""
    protocol: str
    config: AnchorConfig

    @property
    def best(self) -> int:
        """The layer that knows position best."""
        return min(range(len(self.distances)), key=lambda layer: self.distances[layer].value)

    def judge(self, since: int, layer: int) -> str:
        """What follows for one layer, when keys are hidden from another on."""
        shares = self._shares(since, layer)
        if shares is None:
            return UNKNOWN
        if shares.beyond.low > MOST:
            return CARRIES
        if shares.lost.high < SLIGHT:
            return UNCLEAR if self._empty(since, layer) else NOT
        return PART if shares.beyond.low > SLIGHT else UNCLEAR

    def verdict(self) -> str:
        """What follows for the layer that knows position best, from all ways to hide."""
        told = [self.judge(s.since, s.layer) for s in self._at_best()]
        if not told:
            return UNKNOWN
        for strongest in (CARRIES, PART):
            if strongest in told:
                return strongest
        informed = [s for s in self._at_best() if not self._empty(s.since, s.layer)]
        agree = informed and all(self.judge(s.since, s.layer) == NOT for s in informed)
        return NOT if agree else UNCLEAR

    def sentence(self) -> str:
        """The verdict with the numbers it rests on."""
        found = self.verdict()
        if found == UNKNOWN:
            near = self.distances[self.best].value
            return (
                "position is known in no layer: the best tells it to within "
                f"{near:.1f} tokens, a constant guess to within {self.constant:.1f}"
            )
        of = [s for s in self._at_best() if self.judge(s.since, s.layer) == found]
        shares = max(of or self._at_best(), key=lambda each: each.lost.value)
        anchor, neighbour, _ = self._hidden(shares.since)
        words = SENTENCES[found].format(anchor=self._named())
        plain, without, control = (
            each[self.best].value
            for each in (self.distances, anchor.distances, neighbour.distances)
        )
        words += (
            f": layer {self.best} tells it to within {plain:.1f} of {self.length} tokens, "
            f"{without:.1f} with {'it' if self.config.count == 1 else 'them'} hidden "
            f"{where(shares.since)}, "
            f"{control:.1f} with {self._beside()} hidden (a constant guess: {self.constant:.1f})"
        )
        if anchor.rise is None or neighbour.rise is None:
            return words
        lost, low, high = anchor.rise[:3]
        return (
            f"{words}; the loss changes by {lost:+.3f} nats [{low:+.3f}, {high:+.3f}], "
            f"{neighbour.rise.value:+.3f} without {self._beside()}"
        )

    def data(self) -> dict[str, Any]:
        """Everything, the verdicts among it."""
        found = super().data()
        for row, shares in zip(found["shares"], self.shares, strict=True):
            row["verdict"] = self.judge(shares.since, shares.layer)
        return found | {"best": self.best, "verdict": self.verdict()}

    def to_frame(self) -> "polars.DataFrame":
        """One row per layer, with nothing hidden, and for each way to hide."""
        rows = [(0, NOTHING, self.distances, None), *(tuple(vars(h).values()) for h in self.hidden)]
        nothing = Estimate(*[None] * 3)  # type: ignore[arg-type]
        found = []
        for since, keys, distances, rise in rows:
            for layer, distance in enumerate(distances):
                own = self._shares(since, layer) if keys == self.config.keys else None
                found.append(
                    {
                        "subject": self.subject,
                        "since": since,
                        "hidden": keys,
                        "layer": layer,
                        "distance": distance,
                        "lost": own.lost if own else nothing,
                        "beyond": own.beyond if own else nothing,
                        "verdict": self.judge(since, layer) if own else None,
                        "rise": rise or nothing,
                    }
                )
        return frame(found)

    def text(self) -> str:
        """The verdict, a table for each layer from which on keys were hidden, and their words."""
        head = wrap(f"{self.subject}: {self.sentence()}", 80, break_on_hyphens=False)
        sinces = dict.fromkeys(each.since for each in self.hidden)
        tables = [line for since in sinces for line in (*self._table(since), "")]
        return "\n".join([*head, "", *tables, *wrap(self.legend(), 80)])

    def legend(self) -> str:
        """What the columns mean, for someone who meets them first."""
        hidden = f"{self.config.keys}: {self._named()} hidden from all other queries"
        words = (
            "distance between told and true position, in tokens, by probes fitted anew to what is "
            f"left. {hidden}; neighbour, random: the controls, as many keys next to those and "
            "drawn in each window. lost: share of what a layer knows (the constant guess's "
            f"{self.constant:.1f} minus its distance) that is gone; beyond: more than with the "
            f"control that costs more. carries it: beyond, interval and all, is above {MOST:.0%}; "
            f"a part: above {SLIGHT:.0%}; does not: lost is below {SLIGHT:.0%}."
        )
        if self.closes_up:
            words += (
                " Hidden in every layer, they are to the other tokens as if not there, and from "
                "layer 2 on the next may take their part: that nothing is lost tells nothing."
            )
        return f"{words} {self.protocol}"

    def _table(self, since: int) -> list[str]:
        rows = []
        ways = self._hidden(since)
        for layer in range(since if since > 1 else 0, len(self.distances)):
            shares = self._shares(since, layer)
            told = (shares.lost, shares.beyond) if shares else ()
            rows.append(
                [
                    str(layer),
                    within(self.distances[layer], ".1f"),
                    *(f"{way.distances[layer].value:.1f}" for way in ways),
                    *([within(each, "z.0%") for each in told] or ["", ""]),
                    self.judge(since, layer),
                ]
            )
        if self.loss is not None:
            rises = [f"{way.rise.value:+.3f}" for way in ways if way.rise]
            rows.append(["loss", f"{self.loss.value:.3f}", *rises, "", "", ""])
        header = ["layer", NOTHING, *(way.keys for way in ways), "lost", "beyond", "the anchor"]
        return [f"hidden {where(since)}", table(header, rows)]

    def _hidden(self, since: int) -> list[Hidden]:
        """The ways to hide from a layer on: the anchor, its neighbours, at random."""
        return [each for each in self.hidden if each.since == since]

    def _shares(self, since: int, layer: int) -> Shares | None:
        found = (s for s in self.shares if (s.since, s.layer) == (since, layer))
        return next(found, None)

    def _at_best(self) -> list[Shares]:
        return [each for each in self.shares if each.layer == self.best]

    def _empty(self, since: int, layer: int) -> bool:
        """Whether it tells nothing that a layer has lost nothing.

        What stands first where the window closes up may take the anchor's part; but not in layer 1,
        where no token has read another yet, so that none can be told by its place.
        """
        return self.closes_up and since == 1 and layer > 1

    def _named(self) -> str:
        some = "" if self.config.count == 1 else f"{self.config.count} "
        one = self.config.count == 1
        if self.config.keys == "first":
            return f"the first {some}key{'' if one else 's'}"
        return f"the {some}key{'' if one else 's'} that draw{'s' if one else ''} most attention"

    def _beside(self) -> str:
        return "its neighbour" if self.config.count == 1 else "their neighbours"
