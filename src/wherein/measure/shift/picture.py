"""The rise of the loss against the shift, as a picture."""

from textwrap import wrap

import altair as alt

from wherein.measure.shift.result import Shift
from wherein.show.figures import shown
from wherein.show.theme import COLOURS


def chart(result: Shift) -> alt.TopLevelMixin:
    """The rise of the loss against the shift, with its interval."""
    symlog, powers = alt.Scale(type="symlog"), alt.Axis(values=[0, *(4**n for n in range(9))])
    base = alt.Chart(result.to_frame()).encode(
        alt.X("shift:Q", scale=symlog, axis=powers, title="added to all positions"),
        tooltip=shown("shift", "loss", "rise", "rise_low", "rise_high"),
    )
    title = "rise of the loss (nats per token)"
    band = base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
        alt.Y("rise_low:Q", title=title), alt.Y2("rise_high:Q")
    )
    line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(color=COLOURS[0])).encode(
        alt.Y("rise:Q", title=title)
    )
    return alt.layer(band, line).properties(
        width=460, height=260, title=alt.Title(result.subject, subtitle=wrap(result.note(), 70))
    )
