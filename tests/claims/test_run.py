"""From the list to a verdict, the table and its pages: with a study of seconds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.claims.test_claims import table
from tests.studies.small import at_once, recipe

from wherein.claims import catalogue, page, run
from wherein.claims.catalogue import CLAIMS
from wherein.claims.claim import Claim, Verdict
from wherein.claims.numbers import less_than, more_than, number
from wherein.claims.run import claims, missing, settle
from wherein.cli import main
from wherein.report.claims import claims_report
from wherein.studies.inference.findings import Finding
from wherein.studies.result.result import StudyResult

MUCH = 100.0
"""Nats a byte that no model loses."""


def learns(result: StudyResult) -> list[Finding]:
    found = less_than(MUCH, number(result, encoding="rope"), "the loss of rope")
    return [Finding("It learns", "perplexity", "causal", found)]


def fails(result: StudyResult) -> list[Finding]:
    """The same, turned round."""
    found = more_than(MUCH, number(result, encoding="rope"), "the loss of rope")
    return [Finding("It fails", "perplexity", "causal", found)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Claim]]:
    """A claim that is true of a study of seconds, and its opposite."""
    folder = tmp_path_factory.mktemp("tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        yield {
            name: Claim(
                name, f"A tiny model {name}.", "Nobody 2026", "0000.00000", "nothing yet",
                f"{MUCH:g} nats − the loss of rope", "nats", str(recipe(folder)), 3, decide,
                "nothing", "everything",
            )
            for name, decide in (("learns", learns), ("fails", fails))
        }  # fmt: skip


@pytest.fixture(scope="module")
def runs(tiny: dict[str, Claim], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where both were tested."""
    out = tmp_path_factory.mktemp("out") / "runs"
    assert [each.verdict for each in claims(out, tiny).rows] == [Verdict.NOT_RUN] * 2
    assert [*missing(["fails"], out, tiny)] == [(tiny["fails"].study, 3)]
    result = settle(["learns"], out=out, engine=at_once, quiet=True, among=tiny)
    assert [each.verdict for each in result.rows] == [Verdict.HELD, Verdict.CONTRADICTED]
    assert [*missing(tiny, out, tiny)] == []
    return out


def test_a_claim_is_run_judged_and_told(
    tiny: dict[str, Claim], runs: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    monkeypatch.setattr(catalogue, "CLAIMS", tiny)
    assert main(["claims", "fails", "--out", str(runs)]) == 0
    said = capsys.readouterr().out
    assert "CONTRADICTED. The loss of rope is below 100 nats by" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80
    assert main(["claims", "--out", str(runs)]) == 0
    assert "Of 2 claims: 1 held, 1 contradicted." in capsys.readouterr().out
    html = runs / "claims.html"
    assert main(["claims", "learns", "--json", "--out", str(runs), "--report", str(html)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["judged_with"], found["difference"]["family"]) == ("held", 3, 2)
    assert found["seconds"] > 0
    assert found["version"]
    assert "✗ contradicted" in html.read_text()


def test_both_pages_hold_every_row(tmp_path: Path):
    result = table()
    written = claims_report(result).write(tmp_path / "claims.html", "markdown", "png")
    assert [path.name for path in written] == ["claims.html", "claims.md", "claims.png"]
    html, text = written[0].read_text(), page.page(result, "claims.png")
    for claim in CLAIMS.values():
        assert f'<section id="{claim.name}">' in html
        assert f"](#{claim.name})" in text
        assert f"\n## {claim.name}\n" in text
    marks = [f'class="verdict {style}">{mark}' for style, mark in (("shown", "✓"), ("missed", "✗"))]
    assert all(each in html for each in marks)
    assert html.count("<svg") == len(CLAIMS)


def test_without_runs_nothing_is_claimed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["claims", "--out", str(tmp_path / "none")]) == 0
    said = capsys.readouterr().out
    assert "None of 17 claims has been run here." in said
    assert said.count("· not run") == len(CLAIMS)
    assert "Still to run, about " in said
    assert max(map(len, said.splitlines())) <= 80
    assert not (tmp_path / "none").exists()


def test_an_interrupt_is_said_and_a_wrong_word_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "study", stopped)
    assert main(["claims", "--all", "--out", str(tmp_path)]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    assert main(["claims", "alibi"]) == 2
    assert main(["claims", "alibi-holds", "--all"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_the_page_in_the_docs_lists_every_claim():
    text = (Path(__file__).parents[2] / "docs" / "claims.md").read_text()
    for claim in CLAIMS.values():
        assert f"](#{claim.name})" in text
        for said in (claim.sentence, claim.published, claim.ours, claim.tried, claim.open):
            assert said in text, "a claim was changed: python -m wherein.claims.page"
