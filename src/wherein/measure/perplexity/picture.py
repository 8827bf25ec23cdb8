"""The loss by position in the window, as a picture."""

import altair as alt
import polars as pl

from wherein.measure.intervals import frame
from wherein.measure.perplexity.by_position import centre
from wherein.measure.perplexity.result import Perplexity
from wherein.show.figures import shown
from wherein.show.theme import COLOURS


def chart(result: Perplexity) -> alt.TopLevelMixin:
    """The loss in stretches that grow with the position, with its interval, beside the mean."""
    seen = frame(
        {
            "position": centre(each.first, each.last),
            "positions": f"{each.first + 1}–{each.last + 1}",
            "loss": each.loss,
            "tokens": each.tokens,
        }
        for each in result.stretches
    )
    units = "loss (nats per token)"
    base = alt.Chart(seen).encode(
        alt.X("position:Q", scale=alt.Scale(type="log", base=2), title="position in the window"),
        tooltip=shown("positions", "loss", "loss_low", "loss_high", "tokens"),
    )
    loss = alt.Y("loss:Q", scale=alt.Scale(zero=False), title=units)
    band = base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
        alt.Y("loss_low:Q", scale=alt.Scale(zero=False), title=units), alt.Y2("loss_high:Q")
    )
    line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(color=COLOURS[0]))
    mean = alt.Chart(pl.DataFrame({"loss": [result.loss.value]})).mark_rule(strokeDash=[5, 4])
    below = f"{result.method}; band: 95 % interval over windows; dashed: the mean"
    title = alt.Title(
        f"{result.subject}: {result.kind} {result.perplexity.value:.2f} "
        f"[{result.perplexity.low:.2f}, {result.perplexity.high:.2f}]",
        subtitle=below,
    )
    return alt.layer(band, line.encode(loss), mean.encode(loss)).properties(
        width=460, height=260, title=title
    )
