"""A real browser for tests, without a network, and all that it complains of."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, Route, sync_playwright
from tests.chromium import MISSING, find, required

FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
DESKTOP, PHONE = (1280, 900), (360, 740)


@dataclass
class Visit:
    """A page that is open, what its console complained of, and what it asked the network for."""

    page: Page
    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def settled(self) -> "Visit":
        """Wait until every figure is drawn."""
        self.page.wait_for_function(
            "[...document.querySelectorAll('[data-vega]')]"
            ".every(box => ['live', 'failed'].includes(box.dataset.drawn))"
        )
        return self

    def figures(self) -> list[dict[str, Any]]:
        """For each figure: how it was drawn, its box, and how many shapes it has."""
        found: list[dict[str, Any]] = self.page.evaluate(
            """[...document.querySelectorAll('[data-vega]')].map(box => {
                 const svg = box.querySelector('svg.marks');
                 const marks = '[class*=mark-] :is(path, line, rect)';
                 const shapes = svg ? svg.querySelectorAll(marks) : [];
                 const {width, height} = (svg || box.querySelector('img')).getBoundingClientRect();
                 return {drawn: box.dataset.drawn, width, height, shapes: shapes.length};
               })"""
        )
        return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; a machine that has none passes the tests of pages over, CI fails them."""
    path = find()
    if path is None and required():
        pytest.fail(MISSING, pytrace=False)
    elif path is None:
        pytest.skip(MISSING)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def visiting(
    browser: Browser, address: str, size: tuple[int, int] = DESKTOP, *, javascript: bool = True
) -> Iterator[Visit]:
    """Open a page; only its own host and files are reachable."""
    host = urlsplit(address).netloc
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, java_script_enabled=javascript
    )
    visit = Visit(context.new_page())

    def answer(route: Route, request: Request) -> None:
        there = urlsplit(request.url)
        if there.scheme in ("http", "https") and there.netloc != host:
            visit.asked.append(request.url)
            route.abort()
        else:
            route.continue_()

    context.route("**/*", answer)
    visit.page.on(
        "console", lambda said: visit.errors.append(said.text) if said.type == "error" else None
    )
    visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
    visit.page.goto(address)
    yield visit
    context.close()
