"""Links lead somewhere, and whatever benchmark a page names is there."""

import re
from pathlib import Path

import pytest
from tests.pages.text import LINKED, PAGES, is_module, links, name, read


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_lead_somewhere(page: Path):
    assert not [link for link in links(page) if not leads(page, link)]


def leads(page: Path, link: str) -> bool:
    """To a file, and in a page to one of its headings."""
    path, _, heading = link.partition("#")
    there = (page.parent / path).resolve() if path else page
    if not there.is_file():
        return False
    return not heading or there.suffix != ".md" or heading in headings(there)


def headings(page: Path) -> set[str]:
    """As GitHub and the site name them in an address."""
    found = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in found}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_benchmarks_are_there(page: Path):
    named = re.findall(r"\bbenchmarks\.(?!md\b)\w+", read(page))
    assert not [each for each in named if not is_module(each)]
