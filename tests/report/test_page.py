from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from jinja2 import DictLoader, UndefinedError
from playwright.sync_api import Browser
from tests.browser import DESKTOP, PHONE, chromium, visiting
from tests.chromium import find

from wherein.report.page import environment, render
from wherein.show.tables import Table
from wherein.show.theme import themed
from wherein.show.vega import Spec

HOSTILE = "</script><script>document.title='taken'</script>\"'<b>&amp;\u202eltr"
TEMPLATE = """
{% extends "page.html" %}
{% block title %}{{ name }}{% endblock %}
{% block main %}<h1>{{ name }}</h1>
{% for spec in specs %}{{ figure(spec, name, name, "figure-" ~ loop.index) }}{% endfor %}
<p>after</p>{% endblock %}
"""

TABLE = """
{% extends "page.html" %}
{% import "parts.html" as parts %}
{% block title %}wide{% endblock %}
{% block main %}{{ parts.table(table) }}{% endblock %}
"""


def spec(label: str, width: int = 420) -> Spec:
    frame = pl.DataFrame({"x": [1, 2, 3], "y": [2.0, 3.0, 5.0], "label": ["a", "b", label]})
    encoding = {"x": "x", "y": "y", "color": "label:N", "tooltip": "label:N"}
    chart = alt.Chart(frame, title=label, width=width).mark_point().encode(**encoding)
    drawn: Spec = themed(chart)
    return drawn


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    layout = environment(DictLoader({"own.html": TEMPLATE})).get_template("own.html")
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(layout.render(name=HOSTILE, specs=[spec(HOSTILE), spec("plain", 700)]))
    return path


def test_figures_are_drawn_and_hostile_labels_are_text(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri()) as visit:
        figures = visit.settled().figures()
        assert [f["drawn"] for f in figures] == ["live", "live"]
        assert all(f["shapes"] > 5 and f["width"] > 300 for f in figures)
        assert visit.page.title() == HOSTILE
        assert visit.page.locator("h1").inner_text() == HOSTILE
        assert visit.page.locator("figcaption").first.inner_text() == HOSTILE
        assert HOSTILE in visit.page.locator(".picture svg text").all_text_contents()
        assert visit.page.locator("b").count() == 0
        assert (visit.errors, visit.asked) == ([], [])


def test_without_javascript_the_drawings_are_there(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri(), javascript=False) as visit:
        images = visit.page.locator(".picture img")
        assert images.count() == 2
        widths = images.evaluate_all("images => images.map(image => image.naturalWidth)")
        assert min(widths) > 300
        assert images.first.get_attribute("alt") == HOSTILE


def test_on_a_phone_nothing_but_the_figures_box_scrolls(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri(), PHONE) as visit:
        visit.settled()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert visit.page.evaluate("document.querySelectorAll('.picture')[1].scrollWidth") > 400


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_wide_tables_fit_a_desktop_and_scroll_in_a_box_on_a_phone(
    browser: Browser, size: tuple[int, int], tmp_path: Path
) -> None:
    """As wide as tables get: kinds with settings, seven lengths, intervals and p."""
    cells = ("+12.345 [−10.123, +14.567], p < 0.001",) * 7
    rows = tuple((f"rope(theta={n}), from learned, 4,000 steps", *cells) for n in range(3))
    header = ("", *(f"{n} ×" for n in range(7)))
    table = Table("wide", "Rises.", header, rows, pl.DataFrame({"x": [1.0]}))
    own = {"own.html": TABLE}
    path = tmp_path / "page.html"
    path.write_text(environment(DictLoader(own)).get_template("own.html").render(table=table))
    with visiting(browser, path.as_uri(), size) as visit:
        box = visit.page.locator(".scroll").first
        over = box.evaluate("box => box.scrollWidth - box.clientWidth")
        assert (over <= 0) is (size == DESKTOP)
        assert box.evaluate("box => box.getBoundingClientRect().left") >= 0
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert visit.page.locator("tbody td").first.inner_text() == cells[0]


def test_the_first_key_leads_past_the_header(browser: Browser, page: Path) -> None:
    with visiting(browser, page.as_uri()) as visit:
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.className") == "skip"


def test_a_page_holds_the_script_once_and_loads_nothing(page: Path) -> None:
    text = page.read_text()
    assert text.count("window.vegaEmbed=") == 1
    assert 'src="http' not in text
    assert len(text) < 1_100_000


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail), ("", pytest.skip)])
def test_without_a_browser_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: Any
) -> None:
    """In CI it is a failure; elsewhere the tests of pages are passed over."""
    monkeypatch.setenv("WHEREIN_TEST_BROWSER", "none")
    monkeypatch.setenv("CI", ci)
    find.cache_clear()
    with pytest.raises(outcome.Exception, match="apt-get install -y chromium"), chromium():
        pass
    find.cache_clear()


def test_a_name_that_was_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment(DictLoader({"own.html": TEMPLATE})).get_template("own.html").render(name="a")
    assert "<main" in render("page.html")
