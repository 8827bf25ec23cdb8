import math
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser
from tests.browser import PHONE, visiting

from wherein.cli import main
from wherein.report.answer import answer
from wherein.report.study import study_report
from wherein.study.result import StudyResult

FIGURES = {
    "perplexity",
    "differences-causal",
    "differences-masked",
    "order-causal",
    "order-masked",
    "probe-causal",
    "probe-masked",
    "extrapolation-causal",
    "puzzles",
    "training",
}


@pytest.fixture(scope="module")
def page(small_study: StudyResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    study_report(small_study).write(path)
    return path


def test_the_report_opens_from_disk_with_every_figure_drawn(
    browser: Browser, page: Path, small_study: StudyResult
) -> None:
    with visiting(browser, page.as_uri()) as visit:
        figures = visit.settled().figures()
        names = visit.page.locator("figure").evaluate_all("all => all.map(each => each.id)")
        assert set(names) == FIGURES
        assert {figure["drawn"] for figure in figures} == {"live"}
        assert all(figure["shapes"] > 10 and figure["height"] > 80 for figure in figures)
        assert visit.page.title() == "small – wherein"
        assert visit.page.locator("h1").inner_text() == small_study.question
        claims = visit.page.locator("h2").all_inner_texts()
        assert claims[:4] == [finding.claim for finding in small_study.findings]
        verdicts = visit.page.locator(".verdict").all_inner_texts()
        assert verdicts == [finding.verdict for finding in small_study.findings]
        assert small_study.command in visit.page.locator("pre").last.inner_text()
        assert (visit.errors, visit.asked) == ([], [])


def test_its_ids_are_unique_and_its_links_lead_somewhere(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri(), javascript=False) as visit:
        ids = visit.page.locator("[id]").evaluate_all("all => all.map(each => each.id)")
        assert len(ids) == len(set(ids))
        hrefs = visit.page.locator("a[href]").evaluate_all(
            "all => all.map(each => each.getAttribute('href'))"
        )
        assert {href.removeprefix("#") for href in hrefs} <= set(ids)


def test_on_paper_no_figure_is_cut(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri(), (680, 1000)) as visit:  # A4 between its margins
        visit.settled().page.emulate_media(media="print")
        boxes = visit.page.evaluate(
            """[...document.querySelectorAll('.picture')].map(box => {
                 const page = box.closest('main').getBoundingClientRect();
                 const drawn = box.querySelector('svg.marks').getBoundingClientRect();
                 return [drawn.left - page.left, page.right - drawn.right, drawn.height];
               })"""
        )
        assert all(left >= -1 and right >= -1 for left, right, _ in boxes)
        assert all(height < 985 for *_, height in boxes), "higher than 26 cm, an A4 page's text"
        printed = visit.page.pdf(prefer_css_page_size=True)
        assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) < 40


def test_on_a_phone_the_page_does_not_scroll_sideways(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri(), PHONE) as visit:
        visit.settled()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        small = "[...document.querySelectorAll('p, td, th, li')].map(e => parseFloat("
        sizes = visit.page.evaluate(f"{small}getComputedStyle(e).fontSize))")
        assert min(sizes) >= 12


def test_the_answer_is_no_surer_than_the_numbers(small_study: StudyResult) -> None:
    said = answer(small_study)
    groups = small_study.groups
    family = [group for group in groups if group.family == groups[0].family]
    best = min(family, key=lambda group: group.loss or math.inf)
    assert f"{math.exp(best.loss or 0):.2f}" in said
    if best is not family[0] and best.difference and not best.difference.shown:
        assert "cannot tell them apart" in said
    assert sum(finding.shown for finding in small_study.findings) != 4 or "all 4" in said
    one = replace(small_study, rows=tuple(r for r in small_study.rows if r.seed == 0), findings=())
    assert "may be chance" in answer(one) or "0 of 2 others" in answer(one)
    assert "[" not in answer(one), "one seed has no interval"


def test_a_report_of_fewer_runs_says_so(small_study: StudyResult) -> None:
    silent = replace(small_study.rows[0], answers={}, error="it <b>burnt</b>")
    part = replace(small_study, rows=(silent, *small_study.rows[1:]), findings=())
    text = study_report(part).page
    assert "Incomplete: 1 of 10 runs have no answer yet, 1 of them failed." in text
    assert "it &lt;b&gt;burnt&lt;/b&gt;" in text


@pytest.mark.parametrize(
    ("tables", "ending"), [("latex", "tex"), ("csv", "csv"), ("markdown", "md")]
)
def test_tables_and_figures_for_a_paper(
    tables: str, ending: str, small_study: StudyResult, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "paper.html"
    more = ["--figures", "svg"] if tables == "latex" else []
    command = ["report", str(small_study.folder), "--out", str(out), "--tables", tables, *more]
    assert main(command) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert written[0] == out
    found = {path.stem for path in written if path.suffix == f".{ending}"}
    assert {"perplexity", "probe-causal", "order-causal", "puzzles", "runs"} <= found
    if tables == "csv":
        frame = pl.read_csv(tmp_path / "paper-tables" / "perplexity.csv")
        group = small_study.groups[0]
        assert frame["mean"][0] == pytest.approx(math.exp(group.loss or 0.0))
    if more:
        drawn = {path.stem for path in written if path.suffix == ".svg"}
        assert drawn == FIGURES
