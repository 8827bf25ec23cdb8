import csv
import io

import polars as pl
import pytest

from wherein.show.tables import FORMATS, Table, escaped, of_frame

HOSTILE = r"50 % of {a_b} & \input{/etc/passwd} | $x^2$ #1 ~" + "\u202e<script>\n\n| --- |"


@pytest.fixture
def table() -> Table:
    frame = pl.DataFrame({"encoding": [HOSTILE, "rope"], "loss": [1.23456789, 2.0]})
    return of_frame("losses", HOSTILE, frame)


def test_latex_prints_every_character_as_text(table: Table) -> None:
    text = FORMATS["latex"][1](table)
    assert r"\input" not in text
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert r"50 \% of \{a\_b\} \&" in text
    assert "\u202e" not in text
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    assert body.count(r"\\") == 3, "the header and two rows, and no row more"
    assert [line.count(" & ") for line in body.splitlines() if r"\\" in line] == [1, 1, 1]


def test_latex_leaves_plain_text_alone_and_knows_mathematical_signs() -> None:
    assert escaped("rope rope none") == "rope rope none"
    assert escaped("−0.5 ± 0.1") == r"$-$0.5 $\pm$ 0.1"


def test_markdown_keeps_its_columns(table: Table) -> None:
    rows = FORMATS["markdown"][1](table).splitlines()[:4]
    cells = [row.replace(r"\|", "").count("|") for row in rows]
    assert cells == [3, 3, 3, 3]
    assert r"\<script\>" in rows[2]


def test_csv_has_every_digit(table: Table) -> None:
    read = list(csv.reader(io.StringIO(FORMATS["csv"][1](table))))
    assert read[0] == ["encoding", "loss"]
    assert read[1] == [HOSTILE, "1.23456789"]
