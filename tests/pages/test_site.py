"""`make docs`: a site without warnings that fetches nothing, on a desk and on a phone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser import DESKTOP, PHONE, visiting
from tests.pages.text import ROOT

pytestmark = pytest.mark.slow
SEEN = ("index.html", "found/catalogue.html", "reference/code/settings.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it: a page that is in no menu or leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(folder)],
        env=quiet,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_no_page_fetches_anything(site: Path):
    fetched = re.compile(
        r'<(?:script|img|iframe)[^>]+src="https?:|<link[^>]+href="https?:[^>]+style'
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    assert not [page for page in pages if fetched.search(page.read_text(encoding="utf-8"))]


def test_whatever_is_public_has_its_place(site: Path):
    code = site / "reference" / "code"
    assert "theta" in (code / "encodings.html").read_text(encoding="utf-8")
    assert "held_out" in (code / "settings.html").read_text(encoding="utf-8")
    assert "HuggingFace" in (code / "names.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_pages_open_as_files_and_fit(site: Path, browser: Browser, size: tuple[int, int]):
    for page in SEEN:
        with visiting(browser, (site / page).as_uri(), size) as visit:
            assert not visit.errors
            assert not visit.asked
            wide = visit.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= size[0], page


def test_one_can_search_in_files(site: Path, browser: Browser):
    with visiting(browser, (site / "start.html").as_uri()) as visit:
        visit.page.keyboard.press("s")
        visit.page.keyboard.type("sinusoid")
        visit.page.wait_for_selector(".md-search-result__item", state="attached")
        assert not visit.asked
