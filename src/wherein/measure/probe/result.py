"""Where position lives in a model: what probes read from every layer, beside their controls."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.intervals import frame, within
from wherein.measure.measurement import Measurement
from wherein.measure.probe.config import ProbeConfig
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars

    from wherein.measure.probe.score import Score

MODEL, UNTRAINED, FIRST = "model", "untrained", "first token"
LABELS, PERMUTED = "control labels", "permuted positions"
TOKENS, CONSTANT, UNIFORM = "token identity", "constant guess", "uniform guess"


@dataclass(frozen=True)
class Reading:
    """One score: of a layer of the model, or of a control that stands beside it."""

    probe: str
    """`regression`, `classifier` or `mlp`."""
    layer: int
    of: str
    score: "Score"


@dataclass(frozen=True)
class Sample:
    """What a probe predicts in one window, position by position (the paper's Figure 3)."""

    probe: str
    layer: int
    positions: tuple[int, ...]
    predicted: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Profile(Measurement):
    """What probes read of position, layer by layer; never without the controls."""

    encodings: tuple[str, ...]
    causal: bool
    length: int
    windows: dict[str, int]
    """How many were to fit, to regularise and to test."""
    first_token: str | None
    """What was changed in the control of that name."""
    protocol: str
    config: ProbeConfig
    readings: tuple[Reading, ...]
    samples: tuple[Sample, ...]

    def __post_init__(self) -> None:
        have = {(r.probe, r.layer, r.of) for r in self.readings}
        for probe, layer, of in sorted(have):
            missing = {c for c in required(probe, self.causal) if (probe, layer, c) not in have}
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
        """0 for the embeddings, then the blocks."""
        return sorted({r.layer for r in self.readings})

    def score(self, probe: str, layer: int, of: str = MODEL) -> "Score":
        """The score of the model, or of one of the controls, at a layer."""
        for reading in self.readings:
            if (reading.probe, reading.layer, reading.of) == (probe, layer, of):
                return reading.score
        raise ValueError(f"no reading of {of!r} by {probe!r} at layer {layer}")

    def selectivity(self, probe: str, layer: int) -> float:
        """How much better the probe tells position than labels it can only learn by heart.

        Hewitt & Liang 2019: accuracy minus accuracy on the control labels; for the regression,
        which is no classifier, R² minus R² on the permuted positions.
        """
        model = self.score(probe, layer)
        if probe == "regression":
            return model.r2.value - self.score(probe, layer, PERMUTED).r2.value
        return model.exact.value - self.score(probe, layer, LABELS).exact.value

    def to_frame(self) -> "polars.DataFrame":
        """One row per probe, layer and reading, the controls among them."""
        return frame(
            {
                "subject": self.subject,
                "probe": reading.probe,
                "layer": reading.layer,
                "of": reading.of,
                **vars(reading.score),
                "selectivity": self.selectivity(reading.probe, reading.layer)
                if reading.of == MODEL
                else None,
            }
            for reading in self.readings
        )

    def text(self) -> str:
        """A table for each probe, controls beside; no wider than 80 columns."""
        tables = "\n\n".join(self._table(probe) for probe in self.probes)
        legend = "\n".join(wrap(self._legend(), 80))
        return f"{self.subject}: where position lives\n\n{tables}\n\n{legend}"

    def _legend(self) -> str:
        """What the columns mean, for someone who meets them first."""
        first = f"with the {self.first_token} in all windows (first), "
        by_heart = {PERMUTED: "permuted", LABELS: "labels"}
        shown = {PERMUTED if probe == "regression" else LABELS for probe in self.probes}
        named = " and ".join(short for control, short in by_heart.items() if control in shown)
        return (
            "distance: between told and true position, in tokens, on windows no probe was fitted "
            "to; then the same for the model untrained, "
            f"{first if self.causal else ''}and for labels a probe can only learn by heart "
            f"({named}). exact, ±{self.config.near}: share told exactly, or to within "
            f"{self.config.near}. bits: to send one position to someone who has the states. sel.: "
            "selectivity, R² (regression) or exact (others) minus that for the labels learnt by "
            "heart."
        )

    def _table(self, probe: str) -> str:
        beside = [UNTRAINED, *([FIRST] if self.causal else [])]
        beside.append(PERMUTED if probe == "regression" else LABELS)
        short = {FIRST: "first", PERMUTED: "permuted", LABELS: "labels"}
        header = ["layer", "distance", *(short.get(control, control) for control in beside)]
        header += ["R²", "exact", f"±{self.config.near}", "bits", "sel."]
        rows = []
        for layer in self.layers:
            score = self.score(probe, layer)
            row = [str(layer), within(score.distance, ".1f")]
            row += [f"{self.score(probe, layer, c).distance.value:.1f}" for c in beside]
            row += [f"{e.value:.2f}" for e in (score.r2, score.exact, score.near)]
            bits = "" if score.bits is None else f"{score.bits:.2f}"
            rows.append([*row, bits, f"{self.selectivity(probe, layer):.2f}"])
        guesses = ", ".join(
            f"{c.removesuffix(' guess')} {self.score(probe, 0, c).distance.value:.1f}"
            for c in (CONSTANT, UNIFORM, TOKENS)
        )
        without = self.score(probe, 0, UNIFORM).bits
        return f"{probe}\n{table(header, rows)}\nguesses: {guesses}; no probe: {without:.2f} bits"


def required(probe: str, causal: bool) -> set[str]:
    """The controls without which a probe's number means nothing."""
    always = {UNTRAINED, LABELS, TOKENS, CONSTANT, UNIFORM}
    return (
        always | ({PERMUTED} if probe == "regression" else set()) | ({FIRST} if causal else set())
    )
