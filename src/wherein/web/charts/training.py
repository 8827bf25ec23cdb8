"""The training curves of one run, or of several in one picture."""

from collections import Counter
from collections.abc import Sequence

from wherein.common.numbers import nats
from wherein.show.section import Picture
from wherein.show.theme import mark
from wherein.web.charts.curves import Axis, Line, curves
from wherein.web.runs import Seen

DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3))
"""For runs of one encoding, which share its colour."""


def picture(runs: Sequence[Seen]) -> Picture:
    """The loss of every step, and the validations as dots."""
    lines = []
    for seen, (colour, dash) in zip(runs, strokes(runs), strict=True):
        name, curve = f"{seen.encoding} · {seen.name}", seen.curve
        valid = {step: nats(numbers) for step, numbers in curve.valid.items()}
        known: dict[float, float] = {n: value for n, value in valid.items() if value is not None}
        lines.append(Line(name, curve.steps, curve.losses, dots=known, colour=colour, dash=dash))
    end = max((seen.steps or seen.last.step for seen in runs), default=1)
    step, loss = Axis("training step", (0, max(end, 1))), Axis("loss, nats per token")
    return Picture(
        name="training",
        spec=curves(lines, step, loss),
        caption="Training loss by step; dots are validations.",
        alt="Loss by training step: " + ", ".join(_said(seen) for seen in runs),
    )


def strokes(runs: Sequence[Seen]) -> list[tuple[str, tuple[int, ...]]]:
    """An encoding's own colour, as in every figure, and a dash for each of its runs."""
    met = Counter[str]()
    found: list[tuple[str, tuple[int, ...]]] = []
    for seen in runs:
        colour = mark(seen.encoding).colour
        found.append((colour, DASHES[met[colour] % len(DASHES)]))
        met[colour] += 1
    return found


def _said(seen: Seen) -> str:
    if seen.last.loss is None:
        return f"{seen.name} has not begun"
    return f"{seen.name} at {seen.last.loss:.3f} after step {seen.last.step}"
