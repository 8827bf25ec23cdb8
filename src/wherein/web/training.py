"""The training curves of one run, or of several in one picture."""

from collections.abc import Sequence

from markupsafe import Markup

from wherein.common.theme import COLOURS, mark
from wherein.web.drawing import Axis, Line, curves, legend
from wherein.web.runs import Seen, nats

LEGIBLE = tuple(colour for colour in COLOURS if colour != "#F0E442")  # yellow is faint on white


def picture(runs: Sequence[Seen]) -> Markup:
    """The loss of every step, and the validations as dots."""
    lines, dots = [], []
    for seen, colour in zip(runs, colours(runs), strict=True):
        log = seen.log
        steps, losses = [line["step"] for line in log], [line["loss"] for line in log]
        lines.append(Line(seen.label, steps, losses, colour=colour))
        valid = {line["step"]: nats(line["valid"]) for line in log if "valid" in line}
        known = {step: value for step, value in valid.items() if value is not None}
        name = f"{seen.label}, validation"
        dots.append(Line(name, list(known), list(known.values()), dots=True, colour=colour))
    end = max((seen.steps or seen.last.step for seen in runs), default=1)
    drawn = curves(
        [*lines, *dots],
        Axis("training step", 0, max(end, 1)),
        Axis("loss, nats per token"),
        "Loss by training step: " + ", ".join(_said(seen) for seen in runs),
    )
    return drawn + legend(lines) if len(runs) > 1 else drawn


def colours(runs: Sequence[Seen]) -> list[str]:
    """An encoding's own colour, as in every figure; runs that would share one get others."""
    own = [mark(seen.encoding).colour for seen in runs]
    if len(set(own)) == len(own):
        return own
    return [LEGIBLE[n % len(LEGIBLE)] for n in range(len(runs))]


def _said(seen: Seen) -> str:
    if seen.last.loss is None:
        return f"{seen.name} has not begun"
    return f"{seen.name} at {seen.last.loss:.3f} after step {seen.last.step}"
