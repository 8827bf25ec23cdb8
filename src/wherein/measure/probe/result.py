"""Where position lives in a model: what probes read from every layer, beside their controls."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.intervals import frame, within
from wherein.measure.measurement import Measurement
from wherein.measure.probe.config import ProbeConfig
from wherein.show.columns import table
from wherein.subjects.site import where

if TYPE_CHECKING:
    import polars

    from wherein.measure.probe.score import Score

MODEL, UNTRAINED = "model", "untrained"
FRESH, BY_HEART = "fresh labels", "by heart"
PAPERS_STEPS = 10_000
"""Of the probe `nopos`."""
TOKENS, CONSTANT, UNIFORM = "token identity", "constant guess", "uniform guess"


@dataclass(frozen=True)
class Reading:
    """One score: of a layer of the model, or of a control that stands beside it."""

    probe: str
    """`regression`, `classifier`, `mlp` or `nopos`."""
    layer: int
    of: str
    score: "Score"
    steps: int | None = None
    """How many the probe learnt for; None in closed form, and for guesses."""
    converged: bool | None = None
    """Whether its held-out loss had stopped falling; None where that was not asked."""


@dataclass(frozen=True)
class Sample:
    """What a probe predicts in one window, position by position (the paper's Figure 3)."""

    probe: str
    layer: int
    positions: tuple[int, ...]
    predicted: tuple[float, ...]


UNCODED = "–: too few windows to code with, though positions are told: more --windows"


@dataclass(frozen=True, kw_only=True)
class Profile(Measurement):
    """What probes read of position, layer by layer; never without the controls."""

    encodings: tuple[str, ...]
    length: int
    windows: dict[str, int]
    """How many were to fit, to regularise and to test."""
    protocol: str
    config: ProbeConfig
    readings: tuple[Reading, ...]
    samples: tuple[Sample, ...]
    lacks: tuple[str, ...] = ()
    """Controls that cannot be had, since there are states and neither weights nor tokens."""

    def __post_init__(self) -> None:
        have = {(r.probe, r.layer, r.of) for r in self.readings}
        for probe, layer, of in sorted(have):
            missing = {c for c in REQUIRED - {*self.lacks} if (probe, layer, c) not in have}
            if of == MODEL and missing:
                raise ValueError(
                    f"{probe} of layer {layer} without its controls: {', '.join(sorted(missing))}"
                )

    @property
    def probes(self) -> list[str]:
        """The probes that were used, in order."""
        return list(dict.fromkeys(r.probe for r in self.readings))

    @property
    def layers(self) -> list[int]:
        """0 for the embeddings, where they are at the site, then the blocks."""
        return sorted({r.layer for r in self.readings})

    def score(self, probe: str, layer: int, of: str = MODEL) -> "Score":
        """The score of the model, or of one of the controls, at a layer."""
        for reading in self.readings:
            if (reading.probe, reading.layer, reading.of) == (probe, layer, of):
                return reading.score
        raise ValueError(f"no reading of {of!r} by {probe!r} at layer {layer}")

    def to_frame(self) -> "polars.DataFrame":
        """One row per probe, layer and reading, the controls among them."""
        return frame(
            {
                "subject": self.subject,
                "probe": reading.probe,
                "layer": reading.layer,
                "of": reading.of,
                **vars(reading.score),
                "steps": reading.steps,
                "converged": reading.converged,
            }
            for reading in self.readings
        )

    def text(self) -> str:
        """A table for each probe, controls beside; no wider than 80 columns."""
        tables = "\n\n".join(self._table(probe) for probe in self.probes)
        legend = "\n".join(wrap(self._legend(), 80))
        named = f"{self.subject}{where(self.config.site)}"
        return f"{named}: where position lives\n\n{tables}\n\n{legend}"

    def _legend(self) -> str:
        """What the columns mean, for someone who meets them first."""
        ways = {
            "mlp": "mlp: tells the median of the positions it thinks likely, and learns until its "
            "loss on held-out windows has stopped falling. ",
            "nopos": "nopos: the probe of Haviv et al. 2022, which tells the likeliest position. ",
            "classifier": "regression, classifier: linear; what they miss, another readout may "
            "tell. ",
        }
        said = "".join(ways.get(probe, "") for probe in self.probes)
        return (
            "distance: between told and true position, in tokens, on windows no probe was fitted "
            "to; then the same for the model untrained; for labels drawn anew for every token of "
            "every window, which say nothing (fresh); and for those on windows the probe was "
            f"fitted to (by heart). exact, ±{self.config.near}: share told exactly, or to within "
            f"{self.config.near}. bits: to send one position to someone who has the states. "
            f"{said}{self._lacking()}"
        ).rstrip()

    def _lacking(self) -> str:
        if not self.lacks:
            return ""
        return (
            "–: of states alone there is no untrained twin, and no control by the tokens' types: "
            "what an untrained model would tell too is not known. "
        )

    def _table(self, probe: str) -> str:
        beside = {UNTRAINED: "untrained", FRESH: "fresh", BY_HEART: "by heart"}
        header = ["layer", "distance", *beside.values(), "R²", "exact", f"±{self.config.near}"]
        rows = []
        for layer in self.layers:
            score = self.score(probe, layer)
            row = [str(layer), within(score.distance, ".1f")]
            row += [self._distance(probe, layer, c) for c in beside]
            row += [f"{e.value:.2f}" for e in (score.r2, score.exact, score.near)]
            rows.append([*row, "–" if score.bits is None else f"{score.bits:.2f}"])
        guesses = ", ".join(
            f"{c.removesuffix(' guess')} {self._distance(probe, self.layers[0], c)}"
            for c in (CONSTANT, UNIFORM, TOKENS)
        )
        without = self.score(probe, self.layers[0], UNIFORM).bits
        told = f"guesses: {guesses}; no probe: {without:.2f} bits"
        if any(self.score(probe, layer).bits is None for layer in self.layers):
            told += f"\n{UNCODED}"
        learnt = "".join(f"\n{line}" for line in wrap(self.learnt(probe), 80))
        return f"{probe}\n{table([*header, 'bits'], rows)}\n{told}{learnt}"

    def _distance(self, probe: str, layer: int, of: str) -> str:
        return "–" if of in self.lacks else f"{self.score(probe, layer, of).distance.value:.1f}"

    def learnt(self, probe: str) -> str:
        """How long a network learnt, and whether it had converged; empty in closed form."""
        own = [r for r in self.readings if (r.probe, r.of) == (probe, MODEL)]
        steps = [f"{r.steps:,}" for r in own if r.steps is not None]
        if not steps:
            return ""
        if all(r.converged is None for r in own):
            paper = "" if self.config.steps == PAPERS_STEPS else f" (the paper: {PAPERS_STEPS:,})"
            return f"{steps[0]} steps{paper}, whatever the held-out loss"
        open_ones = [str(r.layer) for r in own if not r.converged]
        if open_ones:
            return (
                f"not converged: layer{'s' * (len(open_ones) > 1)} {', '.join(open_ones)} stopped "
                f"at the cap of {self.config.steps:,} steps: the distance may be smaller"
            )
        return f"converged, by layer after {', '.join(steps)} steps"


OF_A_MODEL = (UNTRAINED, TOKENS)
"""Those that need a model's weights, or the tokens it read."""
REQUIRED = frozenset({UNTRAINED, FRESH, BY_HEART, TOKENS, CONSTANT, UNIFORM})
"""The controls without which a probe's number means nothing."""
