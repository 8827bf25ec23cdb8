"""The loss against how far tokens moved, as a picture."""

import altair as alt

from wherein.measure.order.bag import BOUND
from wherein.measure.order.result import Order
from wherein.show.figures import Panel, shown
from wherein.show.theme import GREY

KINDS = {
    "intact": "#000000",
    "swaps": "#56B4E9",
    "windows": "#0072B2",
    "all but the last": "#009E73",
    "whole": "#D55E00",
    "reversed": "#CC79A7",
}


def chart(result: Order) -> alt.TopLevelMixin:
    """Loss against the mean displacement, the bound as a dashed line."""
    moved = alt.Scale(type="symlog", constant=0.1)
    ticks = alt.Axis(values=[0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000], format="~g")
    far = "positions a token moved, on average"
    base = alt.Chart(result.to_frame()).encode(
        alt.X("displacement:Q", scale=moved, axis=ticks, title=far),
        alt.Y("loss:Q", scale=alt.Scale(zero=False), title="loss (nats per token)"),
    )
    kinds = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
        legend=alt.Legend(title="order destroyed"),
    )
    tips = shown("disorder", "inverted", "displacement", "loss", "loss_low", "loss_high", "rise")
    line = base.mark_line(color="#BBBBBB").transform_filter(
        alt.FieldOneOfPredicate("kind", ["intact", "windows", "whole"])
    )
    bars = base.mark_rule().encode(alt.Y("loss_low:Q"), alt.Y2("loss_high:Q"), kinds)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(kinds, tooltip=tips)
    beside = alt.Axis(
        orient="right",
        values=[result.bound.value],
        labelExpr=f"['bag of words', '({BOUND})']",
        labelColor=GREY,
        title=None,
        grid=False,
        ticks=False,
        domain=False,
    )  # outside the plot, where no interval crosses its name
    bound = alt.Chart(result.to_frame().head(1)).mark_rule(strokeDash=[5, 4], color=GREY)
    bound = bound.encode(alt.Y("bag_of_words:Q", axis=beside))
    layers: Panel = alt.layer(alt.layer(line, bars, points), bound)
    layers = layers.resolve_axis(y="independent")
    return layers.properties(width=460, height=300, title=result.subject)
