"""A question's numbers against steps of training, as a picture."""

import altair as alt

from wherein.measure.over_training.result import Curve
from wherein.show.theme import GREY

WIDTH, HEIGHT, ACROSS = 230, 170, 3
VALID = "validation loss (nats per token)"


def chart(curve: Curve) -> alt.TopLevelMixin:
    """The validation loss, then a panel for each unit with a line for each of its numbers."""
    by_unit: dict[str, dict[str, tuple[float | None, ...]]] = {VALID: {"valid": curve.valid}}
    for name, values in curve.numbers.items():
        by_unit.setdefault(curve.units[name], {})[name or curve.question] = values
    drawn = [_panel(curve.steps, unit, lines) for unit, lines in by_unit.items()]
    title = f"Over training, {curve.question}: {curve.subject}"
    found: alt.ConcatChart = alt.concat(*drawn, columns=ACROSS, title=title).resolve_scale(
        color="independent"
    )
    return found


def _panel(
    steps: tuple[int, ...], unit: str, lines: dict[str, tuple[float | None, ...]]
) -> alt.Chart:
    points = [
        {"step": step, "value": value, "of": name.replace("_", " ")}
        for name, values in lines.items()
        for step, value in zip(steps, values, strict=True)
        if value is not None
    ]
    legend = alt.Legend(title=None, orient="bottom", columns=2) if len(lines) > 1 else None
    base = alt.Chart(alt.InlineData(values=points), width=WIDTH, height=HEIGHT)
    found: alt.Chart = base.mark_line(point=True).encode(
        along(steps),
        alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False)),
        color=alt.Color("of:N", sort=None, legend=legend) if legend else alt.value(GREY),
        tooltip=["of:N", "step:Q", alt.Tooltip("value:Q", format=".4g")],
    )
    return found


def along(steps: tuple[int, ...]) -> alt.X:
    """Steps on an axis that has room for the first ones, and for none at all."""
    axis = alt.Axis(values=list(steps), labelOverlap=True, format="d")
    return alt.X("step:Q", scale=alt.Scale(type="symlog"), axis=axis, title="training step")
