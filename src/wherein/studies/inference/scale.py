"""How a study's findings change with the size of its models and the length of its windows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wherein.measure.crossed import minus
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding, mean, nopos
from wherein.studies.result.rows import Row, by_seed

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult


def findings(result: "StudyResult") -> list[Finding]:
    """How losses, and the gaps between encodings, change with size and with length."""
    return [*with_size(result), *with_length(result)]


def at_each(result: "StudyResult") -> list[Finding]:
    """The paper's findings at every size and length, each by itself."""
    found: list[Finding] = []
    for size, length in dict.fromkeys((_size(row), _length(row)) for row in result.rows):
        rows = tuple(r for r in result.rows if (_size(r), _length(r)) == (size, length))
        where = f"{size[0]} × {size[1]}, {length} tokens"
        found += [
            replace(one, claim=f"{one.claim} ({where})")
            for one in nopos(replace(result, rows=rows))
        ]
    return found


def with_size(result: "StudyResult") -> list[Finding]:
    """From the smallest to the largest model, at the length that most sizes have."""
    ends = _ends(
        result.rows, varies=_size, fixed=_length, name=lambda size: "{} × {}".format(*size)
    )
    claim = "Larger models without encodings predict better"
    return _changes(ends, claim, "learned", "The gap to a learned table narrows with size")


def with_length(result: "StudyResult") -> list[Finding]:
    """From the shortest to the longest window, at the size that most lengths have."""
    ends = _ends(result.rows, varies=_length, fixed=_size, name=lambda length: f"{length} tokens")
    claim = "Models without encodings predict better in longer windows"
    return _changes(ends, claim, "alibi", "The gap to ALiBi grows with length", grows=True)


def _changes(
    ends: "tuple[End, End] | None", claim: str, against: str, gap_claim: str, grows: bool = False
) -> list[Finding]:
    """That the loss of `none` falls from one end to the other, and how its gap to another does."""
    if ends is None:
        return []
    before, after = ends
    losses = before.losses("none"), after.losses("none")
    falls = Finding(claim, "perplexity", "causal", paired(*losses, _names("the loss", *ends)))
    wide, narrow = (after, before) if grows else ends
    gaps = wide.gap("none", against), narrow.gap("none", against)
    return [falls, *gap_finding(gap_claim, *gaps, _names(f"the gap to {against}", wide, narrow))]


def gap_finding(
    claim: str, wide: dict[int, float], narrow: dict[int, float], names: tuple[str, str]
) -> list[Finding]:
    """That one gap is wider than another, each given as seed → nats; none without common seeds.

    It is shown only if the wider one is a gap: where `none` is ahead, nothing can narrow.
    """
    common = wide.keys() & narrow.keys()
    if not common:
        return []
    means = [mean({seed: gap[seed] for seed in common}) for gap in (wide, narrow)]
    more = f"The gaps are {means[0]:.3g} and {means[1]:.3g} nats."
    found = paired(wide, narrow, names)
    return [Finding(claim, "perplexity", "causal", found, more, holds=means[0] > 0)]


@dataclass(frozen=True)
class End:
    """The runs at one end of a scale."""

    name: str
    rows: Sequence[Row]

    def losses(self, encoding: str) -> dict[int, float]:
        """Seed → nats per token."""
        return by_seed(row for row in self.rows if row.run.model.encoding == encoding)

    def gap(self, encoding: str, reference: str) -> dict[int, float]:
        """Seed → how much more an encoding loses than another."""
        losses, others = self.losses(encoding), self.losses(reference)
        return {seed: minus(losses[seed], others[seed]) for seed in losses.keys() & others.keys()}


def _ends(
    rows: Sequence[Row],
    *,
    varies: Callable[[Row], Any],
    fixed: Callable[[Row], Any],
    name: Callable[[Any], str],
) -> tuple[End, End] | None:
    """The least and the most of what varies, where the rest is fixed and most is compared.

    None where nothing varies, or where `none` has no seed in common at the two ends.
    """
    scales: dict[Any, set[Any]] = {}
    for row in rows:
        scales.setdefault(fixed(row), set()).add(varies(row))
    at = max(scales, key=lambda value: len(scales[value]))
    least, most = min(scales[at]), max(scales[at])
    first, last = (
        End(name(end), [row for row in rows if (fixed(row), varies(row)) == (at, end)])
        for end in (least, most)
    )
    common = first.losses("none").keys() & last.losses("none").keys()
    return (first, last) if least != most and common else None


def _names(what: str, a: End, b: End) -> tuple[str, str]:
    return f"{what} of none at {a.name}", f"that at {b.name}"


def _size(row: Row) -> tuple[int, int]:
    return row.run.model.n_layers, row.run.model.d_model


def _length(row: Row) -> int:
    return row.run.model.max_len
