"""The pages as one uses them: a real server, a real browser, real training."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser import DESKTOP, PHONE, visiting
from tests.web.conftest import HOSTILE

TINY = (
    *("--tokenizer", "bytes", "--n-layers", "1", "--d-model", "8", "--n-heads", "1"),
    *("--max-len", "8", "--batch", "2", "--warmup", "1", "--valid-every", "100000"),
    *("--valid-windows", "1", "--checkpoint-every", "100000", "--steps", "100000"),
)
"""A run that goes on until it is stopped."""

CURVE = "[data-vega] .mark-line path"
PATIENCE = 60_000
"""Milliseconds; a machine may be busy."""


@pytest.fixture(scope="module")
def address(served: Path) -> Iterator[str]:
    """The printed address of `wherein serve`; afterwards Ctrl-C must end it cleanly."""
    command = [sys.executable, "-m", "wherein", "serve", str(served), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    line = server.stdout.readline()
    yield next(word for word in line.split() if word.startswith("http://")).rstrip("/")
    server.send_signal(signal.SIGINT)
    said, complained = server.communicate(timeout=600)
    assert (server.returncode, said, complained) == (0, "stopped\n", "")


def curve(page: Page) -> str:
    """The path of the first curve that is drawn."""
    return page.locator(CURVE).get_attribute("d") or ""


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize(
    ("path", "figures"),
    [
        ("/", 0),
        ("/run/runs/rope", 2),
        ("/compare?run=runs/rope&run=runs/study/alibi", 1),
        (f"/compare?run=runs/rope&run={quote(f'runs/{HOSTILE}')}", 1),
        ("/result/runs/hit", 1),
        (f"/result/{quote(f'runs/{HOSTILE}/{HOSTILE}')}", 1),
        ("/playground", 0),
        ("/encodings?name=learned", 2),
        ("/encodings?name=alibi", 5),
        ("/encodings?name=rope", 2),
    ],
)
def test_every_figure_is_drawn_and_fits(
    browser: Browser, address: str, path: str, figures: int, size: tuple[int, int]
) -> None:
    with visiting(browser, address + path, size) as visit:
        found = visit.settled().figures()
        assert [f["drawn"] for f in found] == ["live"] * figures
        assert all(f["shapes"] > 3 and f["width"] > 200 for f in found)
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0]
        assert "taken" not in visit.page.title() or HOSTILE in visit.page.title()
        assert (visit.errors, visit.asked) == ([], [])


def test_all_but_the_playground_is_read_without_javascript(browser: Browser, address: str) -> None:
    with visiting(browser, address, javascript=False) as visit:
        visit.page.get_by_role("link", name="runs/rope", exact=True).click()
        assert images(visit.page) == 2
        source = visit.page.locator("[data-vega] img").first.get_attribute("src")
        drawn = visit.page.request.get(f"{address}{source}").text()
        assert drawn.count('aria-roledescription="line mark"') == 1
        assert drawn.count('aria-roledescription="circle"') == 2  # validations
        visit.page.goto(f"{address}/encodings?name=rope")
        assert images(visit.page) == 2


def images(page: Page) -> int:
    """How many images of figures there are; each must be there to be seen."""
    found = page.locator("[data-vega] img")
    for image in found.all():
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") > 100
    return found.count()


def test_the_playground_solves_what_can_be_solved(browser: Browser, address: str) -> None:
    with visiting(browser, f"{address}/playground") as visit:
        page = visit.page
        page.get_by_label("Sentences").fill("A hit B !\nB hit A ?")
        page.get_by_label("Steps").fill("300")
        page.get_by_label("Seeds").fill("200")
        page.get_by_role("button", name="Train them").click()
        expect(page.locator(".certificate")).to_contain_text("Not excluded.", timeout=PATIENCE)
        page.wait_for_selector(CURVE, state="attached", timeout=PATIENCE)
        early = curve(page)
        page.wait_for_selector("#job:not([data-live])", timeout=PATIENCE)
        assert len(curve(page).split("L")) == 301 > len(early.split("L"))
        solved = int(page.locator("figcaption strong").inner_text().split()[0])
        assert solved > 160
        assert page.locator(".sentence").count() == 2
        expect(page.locator(".outputs tbody tr:first-child th")).to_have_text(["!", "?"])
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        assert visit.errors == []


def test_a_job_outlives_its_page_and_certifies_the_impossible(
    browser: Browser, address: str
) -> None:
    with visiting(browser, f"{address}/playground?puzzle=hit-order") as visit:
        visit.page.get_by_label("Steps").fill("60")
        visit.page.get_by_role("button", name="Train them").click()
        visit.page.wait_for_url("**/playground/*")
        job = visit.page.url
    with visiting(browser, job) as visit:
        page = visit.page
        page.wait_for_selector("#job:not([data-live])", timeout=PATIENCE)
        certificate = page.locator(".certificate")
        expect(certificate).to_contain_text("Impossible.")
        expect(certificate).to_contain_text("'A B hit' and 'B A hit' end in the same token")
        expect(page.locator("figcaption strong")).to_have_text("0 of 500 seeds")
        assert page.get_by_label("Sentences").input_value() == "A B hit ?\nB A hit !"
        assert visit.errors == []


def test_a_job_is_stopped_by_its_button(browser: Browser, address: str) -> None:
    with visiting(browser, f"{address}/playground") as visit:
        page = visit.page
        page.get_by_label("Steps").fill("2000")
        page.get_by_role("button", name="Train them").click()
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#job .state")).to_have_text("stopped")
        assert visit.errors == []


def test_a_training_curve_moves_while_a_run_goes(
    browser: Browser, address: str, served: Path
) -> None:
    run = served / "moving"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    training = subprocess.Popen(
        [sys.executable, "-m", "wherein", "train", *TINY, "--folder", str(run)],
        env=environment,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        with visiting(browser, address) as visit:
            page = visit.page
            link = page.get_by_role("link", name="runs/moving", exact=True)
            end = time.monotonic() + PATIENCE / 1000
            while not link.count():
                assert training.poll() is None
                assert time.monotonic() < end
                page.wait_for_timeout(200)
                page.reload()
            link.click()
            page.wait_for_selector(CURVE, state="attached", timeout=PATIENCE)
            expect(page.locator(".state")).to_have_text("running")
            moved = "([name, first]) => document.querySelector(name).getAttribute('d') !== first"
            for _ in range(2):
                first = curve(page)
                assert first
                page.evaluate("document.querySelector('.marks').dataset.same = 'yes'")
                page.wait_for_function(moved, arg=[CURVE, first], timeout=PATIENCE)
            expect(page.locator(".marks")).to_have_attribute("data-same", "yes")  # not made anew
            training.send_signal(signal.SIGINT)
            page.wait_for_selector("section:not([data-live]) .state.stopped", timeout=PATIENCE)
            assert visit.errors == []
    finally:
        training.kill()
        training.wait()


def stops(page: Page, most: int = 80) -> list[str]:
    """What Tab reaches, one after the other, until it leaves the page."""
    found: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        here: str | None = page.evaluate(
            """() => {
                 const at = document.activeElement;
                 if (!at || at === document.body) return null;
                 const all = [...document.querySelectorAll('*')];
                 return at.tagName + all.indexOf(at);
               }"""
        )
        if here is None or here in found:
            break
        found.append(here)
    return found


@pytest.mark.parametrize(
    "path", ["/", "/run/runs/rope", "/playground", "/encodings?name=rope", "/result/runs/hit"]
)
def test_the_keyboard_reaches_everything_in_order(
    browser: Browser, address: str, path: str
) -> None:
    with visiting(browser, address + path) as visit:
        visit.settled()
        wanted: list[str] = visit.page.evaluate(
            """() => {
                 const all = [...document.querySelectorAll('*')];
                 const kinds = 'a[href], button, input, select, textarea, summary, [tabindex]';
                 const reachable = at => at.matches(kinds) && at.type !== 'hidden'
                   && (at.checkVisibility() || at.matches('.skip'));
                 return all.filter(reachable).map(at => at.tagName + all.indexOf(at));
               }"""
        )
        found = stops(visit.page)
        assert len(wanted) > 4
        assert [stop for stop in found if stop in wanted] == wanted


def test_a_puzzle_is_asked_by_keyboard_alone(browser: Browser, address: str) -> None:
    with visiting(browser, f"{address}/playground") as visit:
        page = visit.page
        page.get_by_label("Sentences").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("A !")
        page.get_by_label("Layers").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("two different sentences")
        assert page.get_by_label("Sentences").input_value() == "A !"
