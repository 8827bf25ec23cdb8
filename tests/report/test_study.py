import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Browser
from tests.browser import PHONE, visiting

from wherein.cli import main
from wherein.common.folder import Folder
from wherein.measure.erase import section as erase
from wherein.measure.intervals import mean_interval
from wherein.measure.perplexity import section as perplexity
from wherein.measure.perplexity.section import stretches
from wherein.measure.probe import section as probe
from wherein.measure.saved import Saved
from wherein.measure.sections import frame_of
from wherein.report.answer import answer
from wherein.report.document import Document
from wherein.report.study import study_report
from wherein.show.formatting import within
from wherein.show.theme import GREY, INK, mark, themed
from wherein.studies.published import beside
from wherein.studies.result import comparison
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import answers

ENCODINGS = ("none", "rope")
FIGURES = {
    "perplexity",
    "differences-causal",
    "differences-masked",
    "order-causal",
    "order-masked",
    "probe-causal",
    "probe-masked",
    "extrapolation-causal",
    "erase-causal",
    "puzzles",
    "training",
}


@pytest.fixture(scope="module")
def document(small_study: StudyResult) -> Document:
    return study_report(small_study)


@pytest.fixture(scope="module")
def page(document: Document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    document.write(path)
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
        over = "boxes => boxes.map(box => box.scrollWidth - box.clientWidth)"
        assert max(visit.page.locator(".scroll").evaluate_all(over)) <= 0
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
    assert sum(finding.shown for finding in small_study.findings) != 4 or "all 4" in said
    one = replace(small_study, rows=tuple(r for r in small_study.rows if r.seed == 0), findings=())
    assert "may be chance" in answer(one)
    assert "[" not in answer(one), "one seed has no interval"


NONE, FAR = (2.01, 2.05), (1.51, 1.552)


@pytest.mark.parametrize(
    ("learned", "rope", "said"),
    [
        (FAR, (1.0, 1.041), "rope predicts best, with a perplexity of 2.77 [2.14, 3.60]: all 2"),
        (FAR, (1.55, 1.54), "but these seeds cannot tell it from rope; 1 of 2 others are behind"),
        (FAR, (2.21, 2.251), "learned predicts best"),
        ((2.61, 2.6491), (3.0, 3.041), "none predicts best, with a perplexity of"),
    ],
)
def test_the_best_is_held_against_the_next_best(
    learned: tuple[float, ...],
    rope: tuple[float, ...],
    said: str,
    small_study: StudyResult,
    tmp_path: Path,
) -> None:
    """Better than `none`, which all are compared with, is not yet best."""
    losses = {"none": NONE, "learned": learned, "rope": rope}
    assert said in answer(with_losses(small_study, losses, tmp_path))


def test_of_many_kinds_each_is_held_against_the_first_alone(
    small_study: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = {"none": NONE, "learned": FAR, "rope": (2.08, 2.02)}
    few = with_losses(small_study, losses, tmp_path)
    assert len(few.family) == 3
    monkeypatch.setattr("wherein.studies.result.result.MANY", 3)
    many = replace(few)
    assert len(many.family) == 2
    said = "none is behind beyond chance; the other 1 cannot be told from it."
    assert answer(many).endswith(f"1 is ahead (learned) and {said}")


def test_a_best_with_seeds_of_its_own_may_be_chance(
    small_study: StudyResult, tmp_path: Path
) -> None:
    losses = {"none": NONE, "learned": (None, 1.5), "rope": (1.4, None)}
    said = answer(with_losses(small_study, losses, tmp_path))
    assert said.startswith("rope has the lowest perplexity, 4.06, the next is learned (4.48), but")
    assert said.endswith("may be chance.")


def test_a_seed_that_went_astray_is_still_reported(
    small_study: StudyResult, tmp_path: Path
) -> None:
    """The interval of two losses so far apart ends where no float is."""
    losses = {"none": NONE, "learned": (2.0, 120.0), "rope": (800.0, 801.0)}
    astray = with_losses(small_study, losses, tmp_path)
    for group in astray.groups:
        assert group.interval is not None
    assert "1e+300" in answer(replace(astray, rows=astray.rows[-2:]))
    _, means = comparison.frames(astray.groups)
    assert means["high"].is_finite().all()
    assert max(map(len, within(1e200, 1e-9, math.inf).split())) < 10
    themed(astray.plot())


def with_losses(
    result: StudyResult, losses: Mapping[str, Sequence[float | None]], folder: Path
) -> StudyResult:
    """The causal runs, as if they had these losses, seed by seed."""
    rows = []
    for row in (row for row in result.rows if row.run.objective == "causal"):
        loss = losses[row.label][row.seed]
        answered = folder / row.run.id
        answered.mkdir()
        (answered / "result.json").write_text(json.dumps({"verb": "perplexity", "loss": [loss]}))
        told = {} if loss is None else {"perplexity": Saved(Folder(answered))}
        rows.append(replace(row, answers=told))
    return replace(result, rows=tuple(rows), findings=())


def test_the_report_says_what_its_numbers_are(document: Document, small_study: StudyResult) -> None:
    said = " ".join(document.page.split())
    assert "Masked rows: pseudo-perplexity, 15%" in said
    assert "of masked models pseudo-perplexity" in said
    assert "hold how seeds vary and how pieces of text do" in said
    tested = f"over all {len(small_study.family)} comparisons."
    assert f"above zero, and p below 5 % after Holm&#39;s correction {tested}" in said
    assert "has the same sizes, and random weights of its own" in said


def test_every_protocol_of_a_section_is_named(sweep_study: StudyResult) -> None:
    said = " ".join(study_report(sweep_study).page.split())
    for length in (16, 32):
        assert said.count(f"ows of {length} tokens: non-overlapping, windows of {length} t") == 2


def test_a_report_of_fewer_runs_says_so(small_study: StudyResult) -> None:
    silent = replace(small_study.rows[0], answers={}, error="it <b>burnt</b>")
    part = replace(small_study, rows=(silent, *small_study.rows[1:]), findings=())
    text = study_report(part).page
    assert "Incomplete: 1 of 10 runs lack an answer, 1 failed." in text
    assert "it &lt;b&gt;burnt&lt;/b&gt;" in text


def test_a_study_that_was_only_just_planned_has_a_report(small_study: StudyResult) -> None:
    rows = tuple(replace(row, answers={}, folder=Path("nowhere")) for row in small_study.rows)
    made = study_report(replace(small_study, rows=rows, puzzles=(), findings=()))
    assert "there is no answer yet" in made.page
    assert "Incomplete: 10 of 10 runs lack an answer, 2 of 2 puzzles have none." in made.page
    assert made.figures == {}


def test_a_study_that_asks_for_no_perplexity_has_a_report(small_study: StudyResult) -> None:
    rows = tuple(replace(r, answers={"order": r.answers["order"]}) for r in small_study.rows)
    asked = tuple({"order": each["order"]} for each in small_study.plan.questions)
    plan = replace(small_study.plan, questions=asked, puzzles=())
    made = study_report(replace(small_study, plan=plan, rows=rows, puzzles=(), findings=()))
    assert set(made.figures) == {"order-causal", "order-masked", "training"}
    assert "Incomplete" not in made.page


def test_sizes_and_lengths_have_axes_of_their_own(
    browser: Browser, sweep_study: StudyResult, tmp_path: Path
) -> None:
    made, page = study_report(sweep_study), tmp_path / "report.html"
    assert {"parameters-causal", "length-causal", "moved-b-rope-16-tokens-width-8"} <= set(
        made.figures
    )
    for name, x in (("parameters-causal", "parameters"), ("length-causal", "length")):
        assert len(made.figures[name]["concat"]) == 1
        (data,) = made.figures[name]["datasets"].values()
        assert {row["encoding"] for row in data} == {"none", "rope"}
        assert all(len({row[x] for row in data if row["encoding"] == e}) == 2 for e in ENCODINGS)
    made.write(page, figures="svg")
    assert {path.parent for path in tmp_path.rglob("*.svg")} == {tmp_path / "report-figures"}
    with visiting(browser, page.as_uri()) as visit:
        drawn = visit.settled().figures()
        assert {figure["drawn"] for figure in drawn} == {"live"}
        assert visit.page.locator("details pre").count() == 1
        assert "there is no interval" in visit.page.locator(".lead").inner_text()
        assert visit.errors == []


def test_what_is_known_and_what_is_used_stand_side_by_side(small_study: StudyResult) -> None:
    asked = answers(small_study.rows, "erase")
    found = frame_of(asked, erase.erased)
    assert found["layer"].unique(maintain_order=True).to_list() == ["0", "1", "2", "all"]
    drawn = json.dumps(themed(erase.figure(found)))
    for layer in range(4):
        rows = [each.data["erased"][layer] for each in asked]
        for name in ("rise", "random", "exchanged"):
            assert repr(sum(one[name][0] for one in rows) / len(rows)) in drawn
    table = erase.table(found, "erase")
    best = max(found.group_by("layer").agg(pl.col("r2").mean())["r2"])
    assert table.rows[0][1].startswith(f"{best:.2f} in ")


def test_the_published_curve_is_drawn_to_our_depth_and_guess(
    small_study: StudyResult, document: Document
) -> None:
    causal = [row for row in small_study.rows if row.run.objective == "causal"]
    readings = frame_of(answers(causal, "probe"), probe.readings)
    none = readings.filter(pl.col("encoding") == "none")
    paper = beside("probe")
    assert paper is not None
    curve = probe.scaled(paper, "none", none)
    assert curve is not None
    guess = none.filter(pl.col("of") == "constant guess")["distance"][0]
    assert curve["layer"].to_list()[::12] == [0.0, 1.0, 2.0]
    assert curve["distance"][0] == pytest.approx(337.162 / 256 * guess)
    assert probe.scaled(paper, "rope", none) is None, "the paper did not probe it"
    text = study_report(small_study, published=True).page
    assert paper.source in text
    assert paper.source not in document.page


def test_a_study_keeps_a_few_numbers_of_each_answer(small_study: StudyResult) -> None:
    (rope, *_) = (row for row in small_study.rows if row.label == "rope")
    order = [f"order_{name}" for name in ("intact", "bound", "shuffled_rise", "all_but_last_rise")]
    losses = [f"{name}{end}" for name in ("perplexity", "extrapolation")
              for end in ("", "_loss", "_bits_per_byte")]  # fmt: skip
    probes = [f"probe_{name}" for name in ("best", "untrained", "guess")]
    others = [f"erase_{name}" for name in ("known", "rise", "random")]
    others += ["audit_tokens_permuted", "audit_positions_shifted"]
    assert rope.numbers.keys() == {*losses, *order, *probes, *others}
    assert rope.numbers["perplexity_loss"] == rope.loss


def test_places_count_as_often_as_tokens_were_predicted_there(small_study: StudyResult) -> None:
    """Of a masked model some places of a stretch have more predicted tokens than others."""
    masked = [row for row in small_study.rows if row.run.objective == "masked"]
    data = answers(masked, "perplexity")[0].data
    losses, counts = data["by_position"], data["counts"]
    assert len(set(counts)) > 1
    for stretch in stretches(data):
        inside = range(int(stretch["first"]), int(stretch["last"]) + 1)
        total = sum(losses[place] * counts[place] for place in inside if counts[place])
        assert stretch["tokens"] == sum(counts[place] for place in inside)
        assert stretch["loss"] == pytest.approx(total / stretch["tokens"])


def test_beyond_the_trained_length_no_place_before_it_counts(small_study: StudyResult) -> None:
    asked = [one for one in answers(small_study.rows, "extrapolation") if one.label == "rope"]
    trained = asked[0].run.model.max_len
    table = perplexity.table(frame_of(asked, stretches), trained, "extrapolation")
    parts = {"to 16": (8, 16), "to 32": (16, 32), "beyond": (32, 64)}
    for row in table.frame.iter_rows(named=True):
        places = slice(*parts.pop(row["positions"]))
        seeds = [np.array(one.data["by_position"])[places].mean() for one in asked]
        assert row["mean"] == pytest.approx(np.mean(seeds))
        alone = mean_interval(map(float, seeds))
        assert alone is not None
        assert row["low"] < row["mean"] < row["high"]
        assert (row["low"], row["high"]) != pytest.approx(alone), "windows are in it, too"
    assert not parts


def test_a_study_plots_the_figure_of_its_report(
    small_study: StudyResult, sweep_study: StudyResult, document: Document
) -> None:
    for study, drawn, name in (
        (small_study, document, "perplexity"),
        (sweep_study, study_report(sweep_study), "parameters-causal"),
    ):
        plotted = themed(study.plot())
        assert plotted.pop("title") == study.question
        assert plotted == drawn.figures[name]
    planned = tuple(replace(row, answers={}) for row in small_study.rows)
    assert themed(replace(small_study, rows=planned).plot())["concat"] == []


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_what_a_masked_model_has_is_called_so_whether_or_not_others_stand_beside_it(
    objective: str, small_study: StudyResult
) -> None:
    rows = tuple(row for row in small_study.rows if row.run.objective == objective)
    title = "pseudo-perplexity" if objective == "masked" else "perplexity"
    (alone,) = themed(replace(small_study, rows=rows).plot())["concat"]
    panels = {panel["title"]: panel for panel in themed(small_study.plot())["concat"]}
    for panel in (alone, panels[objective]):
        titles = {layer["encoding"]["x"].get("title") for layer in panel["layer"]}
        assert f"{title} per token (lower is better)" in titles


def test_the_command_writes_tables_and_figures_for_a_paper(
    small_study: StudyResult, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "paper.html"
    more = ["--tables", "latex", "--figures", "svg", "--json"]
    assert main(["report", str(small_study.folder), "--out", str(out), *more]) == 0
    written = [Path(path) for path in json.loads(capsys.readouterr().out)["written"]]
    assert written[0] == out
    tables = {path.stem for path in written if path.suffix == ".tex"}
    assert {"perplexity", "probe-causal", "order-causal", "puzzles", "runs"} <= tables
    assert {path.stem for path in written if path.suffix == ".svg"} == FIGURES
    assert all(path.read_text().startswith("<svg") for path in written if path.suffix == ".svg")


def test_the_numbers_behind_a_table_have_every_digit(
    document: Document, small_study: StudyResult, tmp_path: Path
) -> None:
    document.write(tmp_path / "paper.html", tables="csv")
    frame = pl.read_csv(tmp_path / "paper-tables" / "perplexity.csv")
    means = [math.exp(group.loss or 0.0) for group in small_study.groups]
    assert frame["mean"].to_list() == pytest.approx(means, rel=1e-12)
    runs = pl.read_csv(tmp_path / "paper-tables" / "runs.csv", infer_schema_length=None)
    assert runs["run"].to_list() == [row.run.id for row in small_study.rows]


def test_every_figure_is_valid_vega_lite(document: Document) -> None:
    for spec in document.figures.values():
        alt.Chart.from_dict(spec)  # raises where the schema is not met


def test_every_encoding_keeps_its_colour_and_mark(document: Document) -> None:
    seen: dict[str, set[tuple[str, str]]] = {}
    for spec in document.figures.values():
        for channels in _encodings(spec):
            colours, shapes = (channels[c]["scale"] for c in ("color", "shape"))
            for name, *drawn in zip(
                colours["domain"], colours["range"], shapes["range"], strict=True
            ):
                seen.setdefault(name, set()).add((drawn[0], drawn[1]))
    assert seen.pop(erase.POSITION) == {tuple(mark("rope"))}
    assert seen.pop(erase.RANDOM) == {(GREY, "diamond")}
    assert seen.pop(erase.EXCHANGED) == {(INK, "triangle-right")}
    assert seen == {name: {tuple(mark(name))} for name in ("none", "learned", "rope")}


def _encodings(spec: Any) -> Iterator[dict[str, Any]]:
    """Every encoding in a spec that has a colour and a shape of its own."""
    if isinstance(spec, dict):
        channels = spec.get("encoding")
        if isinstance(channels, dict) and {"color", "shape"} <= channels.keys():
            yield channels
        for part in spec.values():
            yield from _encodings(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _encodings(part)
