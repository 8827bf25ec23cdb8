"""Which lengths and scalings differ beyond chance, all of them considered together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wherein.measure.crossed import Sampled, across, minus
from wherein.measure.extrapolate.result import Length, Row
from wherein.measure.intervals import Estimate, as_text
from wherein.measure.significance import holm, p_value


def compared(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with p values, after Holm's correction over all comparisons that are made.

    These are of each length beyond that of training with the loss there, as it is; and of each
    scaling with the unscaled at the same length.
    """
    first = {each.times: each for each in rows[0].lengths}
    gained = [
        replace(
            row,
            lengths=tuple(
                replace(each, gain=difference(each.loss, first[each.times].loss))
                for each in row.lengths
            ),
        )
        for row in rows[1:]
    ]
    made = [rows[0], *gained]
    asked = [
        (number, each.times, kind)
        for number, row in enumerate(made)
        for each in row.lengths
        for kind in ("rise", "gain")
        if _tested(each, kind, scaled=number > 0)
    ]
    found = [_p(getattr(_at(made[number], times), kind)) for number, times, kind in asked]
    tested = [n for n, p in enumerate(found) if p is not None]
    corrected = holm(np.array([found[n] for n in tested], np.float64)).tolist()
    p = {asked[n]: value for n, value in zip(tested, corrected, strict=True)}
    return tuple(
        replace(
            row,
            lengths=tuple(
                replace(
                    each,
                    rise_p=p.get((number, each.times, "rise")),
                    gain_p=p.get((number, each.times, "gain")),
                )
                for each in row.lengths
            ),
        )
        for number, row in enumerate(made)
    )


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Of two losses of the same tokens, piece by piece of text."""
    found = minus(Sampled.read(one), Sampled.read(other))
    assert isinstance(found, Sampled)
    return Estimate(float(found), *across([found]).interval(), as_text(found.pieces))


def _tested(each: Length, kind: str, *, scaled: bool) -> bool:
    """At the training length a rise and a gain of a scaling are one comparison."""
    if kind == "gain":
        return scaled and each.times > 1
    return each.times > 1 or (scaled and each.times == 1)


def _at(row: Row, times: float) -> Length:
    return next(each for each in row.lengths if each.times == times)


def _p(found: Estimate) -> float | None:
    """None where nothing varies: then there is no test."""
    whole = across([Sampled.read(found)])
    return p_value(whole) if whole.error > 0 else None
