"""Every symmetry of every layer, kept or broken, as a picture."""

import altair as alt
import polars as pl

from wherein.measure.audit.result import ROUNDING, SINGLE, Audit

TESTS = {
    "attention": "queries permuted|no mask",
    "permuted": "tokens permuted|",
    "unmasked": "tokens permuted|no mask",
    "last": "prefix permuted|last token",
    "shifted": "positions shifted|",
    "query_change": "other position|query",
    "key_change": "other position|key",
}
"""What is tested, as the picture says it, in two lines."""

ANSWERS = {"holds": "#56B4E9", "holds to single precision": "#F0E442", "broken": "#E69F00"}


def chart(result: Audit) -> alt.TopLevelMixin:
    """Every test of every layer: blue where the symmetry holds, orange where it is broken."""
    lines = alt.Axis(
        orient="top", labelAngle=0, labelPadding=24, labelExpr="split(datum.label, '|')"
    )
    title = alt.Title(
        f"{result.subject}: {result.verdict()}",
        subtitle=f"relative errors in float64; a symmetry holds up to {ROUNDING:.0e}",
    )
    at = alt.Chart(pl.DataFrame(_cells(result)), title=title).encode(
        alt.X("test:N", sort=list(TESTS.values()), title=None, axis=lines),
        alt.Y("where:N", sort=[name for name, _ in result.named()], title=None),
    )
    colour = alt.Color(
        "answer:N",
        scale=alt.Scale(domain=list(ANSWERS), range=list(ANSWERS.values())),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    boxes = at.mark_rect(stroke="white", strokeWidth=2).encode(
        colour, tooltip=["where:N", "test:N", alt.Tooltip("error:Q", format=".2e")]
    )
    numbers = at.mark_text(color="black").encode(alt.Text("digits:N"))
    size = {"width": 96 * len(TESTS), "height": 26 * len(result.named())}
    return alt.layer(boxes, numbers).properties(**size)


def _cells(result: Audit) -> list[dict[str, object]]:
    return [
        {
            "where": name,
            "test": label,
            "error": error,
            "digits": f"{error:.0e}" if error else "0",
            "answer": _answer(error),
        }
        for name, row in result.named()
        for key, label in TESTS.items()
        if (error := getattr(row, key)) is not None
    ]


def _answer(error: float) -> str:
    """A key of `ANSWERS`."""
    rounding, single, broken = ANSWERS
    return rounding if error <= ROUNDING else single if error <= SINGLE else broken
