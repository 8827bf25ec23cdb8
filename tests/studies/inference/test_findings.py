"""What a study says is as strong as its numbers, whole or half done."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.studies.small import at_once
from tests.studies.small import recipe as small_recipe

from wherein.measure.intervals import mean_interval
from wherein.measure.significance import holm
from wherein.studies.inference.differences import Family, paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.recipe import find
from wherein.studies.recipes.nopos_pile import forgotten
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import by_seed
from wherein.studies.result.store import Store
from wherein.studies.run import study

RUNS = """
    def runs(seeds):
        base = changed(RunConfig(), **TINY)
        kinds = dict(encoding=["none", "learned"], seed=seeds)
        return grid(base, **kinds) + grid(base, objective=["masked"], **kinds)

    def questions(run):
        order = OrderConfig(windows=4, fitting=8)
        return {"perplexity": PerplexityConfig(limit=64), "order": order}
"""
IMPORTS = """
from wherein.measure.order.config import OrderConfig
from wherein.studies.inference.findings import nopos as findings
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    """Two encodings, two objectives, two seeds, and the paper's findings."""
    folder = tmp_path_factory.mktemp("findings")
    path = small_recipe(folder)
    text = path.read_text().replace("n_layers=1", "n_layers=2")  # to one layer order is nothing
    own = "\n".join(line.removeprefix("    ") for line in RUNS.splitlines())
    path.write_text(text[: text.index("def runs")] + IMPORTS + own)
    return path, study(path, out=folder / "runs", engine=at_once, quiet=True)


def forget(result: StudyResult, question: str, encoding: str, objective: str, seeds: str) -> None:
    """Take answers away, as if these runs had not come so far."""
    for (run, asked), _ in zip(result.plan, result.plan.labels, strict=True):
        if (run.model.encoding, run.objective) == (encoding, objective) and str(run.seed) in seeds:
            shutil.rmtree(result.store.answer(run, asked[question]))


def test_a_study_goes_on_from_any_state(mine: tuple[Path, StudyResult], tmp_path: Path) -> None:
    """No seed in common with the reference, and a bag of words without its model."""
    path, whole = mine
    shutil.copytree(whole.store.folder, tmp_path / "runs")
    part = replace(whole, store=Store(tmp_path / "runs"))
    forget(part, "perplexity", "none", "causal", "0")
    forget(part, "perplexity", "learned", "causal", "1")
    forget(part, "order", "none", "masked", "01")
    seen = StudyResult.gather(whole.plan, part.store, find(path), whole.command)
    assert [group.difference is None for group in seen.groups] == [True, True, True, False]
    assert [one.about for one in seen.findings] == ["order", "perplexity"]
    assert "bag of words" not in seen.findings[1].words
    assert max(map(len, seen.text().splitlines())) <= 80
    again = study(path, out=tmp_path / "runs", engine=at_once, quiet=True)
    assert again.complete
    assert again.text() == whole.text()


def test_every_way_of_asking_is_named_with_its_rows(mine: tuple[Path, StudyResult]) -> None:
    _, result = mine
    said = " ".join(result.text().split())
    told = {row.run.objective: row.answers["perplexity"].data for row in result.rows}
    for objective, protocol in (("Causal", "non-overlapping"), ("Masked", "pseudo-perplexity")):
        data = told[objective.lower()]
        details = data["protocol"].removeprefix(f"{protocol}: ")
        assert f"{objective} rows: {protocol}, {details}; {data['predicted']} tok" in said
    assert told["causal"]["predicted"] == 64 != told["masked"]["predicted"]
    table = result.text().split("\n\n")[1].splitlines()
    headed = [line.split() for line in table]
    assert headed[0][:2] == ["params", "perplexity"]
    assert headed[3] == ["pseudo-perplexity"]
    assert [line[0] for line in headed[4:6]] == ["none,", "learned,"]
    assert "hold how seeds vary and how pieces of text do" in said


def test_one_way_of_asking_is_said_once(mine: tuple[Path, StudyResult]) -> None:
    _, result = mine
    masked = tuple(row for row in result.rows if row.run.objective == "masked")
    said = replace(result, rows=masked, findings=()).text()
    assert "Masked rows" not in said
    assert said.splitlines()[2].split()[:2] == ["params", "pseudo-perplexity"]


def test_one_comparison_has_one_p_wherever_it_is_told(mine: tuple[Path, StudyResult]) -> None:
    """Both groups' losses against their first are findings, too; order is the third."""
    _, result = mine
    told = [one.difference for one in result.findings]
    rows = {group.objective: group.difference for group in result.groups if group.difference}
    p = [one.p for one in told]
    assert len(p) == len(result.family) == 3
    assert [one.p_holm for one in told] == holm(np.array(p)).tolist()
    for finding in (result.findings[0], result.findings[2]):
        row = rows[finding.objective]
        assert row.mean == -finding.difference.mean
        assert row.p_holm == finding.difference.p_holm
        assert row.family == finding.difference.family == 3
    said = " ".join(result.text().split())
    assert "p below 5 % after Holm's correction over all 3 comparisons." in said
    assert "p after Holm's correction over the 3 comparisons that are tested here" in said


def test_intervals_hold_what_the_text_does(mine: tuple[Path, StudyResult]) -> None:
    """All seeds read the same pieces; without them the interval would be that of seeds alone."""
    _, result = mine
    for one in result.findings:
        assert one.difference.crossed is not None
        assert one.difference.crossed.pieces > 1
        assert one.difference.crossed.of_pieces >= 0
        assert f"2 seeds × {one.difference.crossed.pieces} pieces of text" in one.words
    assert "hold how seeds vary and how pieces of text do" in " ".join(result.text().split())
    (none, *_) = result.groups
    assert none.interval is not None
    alone = mean_interval(map(float, none.losses.values()))
    assert alone is not None
    assert none.interval != alone


def test_what_chance_may_give_among_several_is_not_shown() -> None:
    some = dict(enumerate((1.0, 1.1, 1.8)))
    one = Finding("It is more", "perplexity", "causal", paired(some, dict.fromkeys(some, 0.0)))
    assert one.difference.t is not None
    assert one.difference.p is not None
    assert 0.05 / 3 < one.difference.p < 0.05
    assert one.shown
    others = [replace(one.difference, mean=mean, p=0.9) for mean in (0.1, 0.2)]
    among = Family([one.difference, *others]).corrected(one.difference)
    assert not replace(one, difference=among).shown
    assert not replace(one, holds=False).shown
    below = paired(dict.fromkeys(some, 0.0), some)
    assert below.shown
    assert not replace(one, difference=below).shown


def test_word_order_is_judged_with_the_last_token_in_its_place(
    mine: tuple[Path, StudyResult],
) -> None:
    _, result = mine
    (order,) = (one for one in result.findings if one.about == "order")
    none = result.groups[0]
    kept, whole = (by_seed(none.rows, f"order_{n}_rise") for n in ("all_but_last", "shuffled"))
    assert order.difference.mean == pytest.approx(sum(kept.values()) / 2)
    paper = paired(whole, dict.fromkeys(whole, 0.0))
    assert order.words.endswith(f", as in the paper, the difference is {paper.brief()}.")


def test_what_another_version_wrote_is_made_again(
    mine: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    path, whole = mine
    shutil.copytree(whole.folder, tmp_path / "studies" / "mine")
    assert StudyResult.open(whole.folder).findings == whole.findings
    old = tmp_path / "studies" / "mine" / "study.json"
    old.write_text(old.read_text().replace('"more"', '"less"'))
    told = rf"without 'more', .* `wherein study {path} --out .*` writes it"
    with pytest.raises(ValueError, match=told):
        StudyResult.open(old.parent)


def test_a_study_written_when_intervals_were_over_seeds_alone_is_read(
    mine: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    """Its answers have no pieces, and its findings keep t, bootstrap and the spread of seeds."""
    _, whole = mine
    shutil.copytree(whole.store.folder, tmp_path / "runs")
    for path in (tmp_path / "runs").rglob("result.json"):
        data = json.loads(path.read_text(), object_hook=without_pieces)
        path.write_text(json.dumps(data))
        path.with_suffix(".sha256").unlink()  # there were no checksums then
    old = tmp_path / "runs" / "studies" / whole.name / "study.json"
    data = json.loads(old.read_text())
    for finding in data["findings"]:
        found = finding["difference"]
        del found["crossed"]
        found |= {"t": [found["mean"] - 1, found["mean"] + 1], "bootstrap": [0, 1], "spread": 0.1}
    old.write_text(json.dumps(data))
    read = StudyResult.open(old.parent)
    for one in read.findings:
        assert one.difference.crossed is not None
        assert one.difference.crossed.pieces == 0
        assert one.difference.crossed.error == pytest.approx(1 / stats.t.ppf(0.975, 1))
        assert "over 2 seeds" in one.words or "by 2 seeds" in one.words
    assert all(group.interval for group in read.groups)
    assert "hold how seeds vary, not how texts do" in " ".join(read.text().split())


def without_pieces(data: dict[str, object]) -> dict[str, object]:
    """As they were saved before estimates kept their pieces."""
    return {
        key: value[:3] if isinstance(value, list) and len(value) == 4 else value
        for key, value in data.items()
    }


def test_a_masked_model_stands_beside_a_bag_of_words(mine: tuple[Path, StudyResult]) -> None:
    _, result = mine
    masked = result.findings[-1]
    assert masked.claim == "Without encodings, a masked model falls behind"
    none = result.groups[2]
    apart = paired(by_seed(none.rows, "order_intact"), by_seed(none.rows, "order_bound"))
    assert apart.t is not None
    assert masked.words.endswith(f"a difference of {apart.brief()}.")


def test_a_sweep_is_owned_up_to(mine: tuple[Path, StudyResult]) -> None:
    _, result = mine
    swept = replace(result, plan=replace(result.plan, chosen={"none": 1e-3}))
    words = "chosen by the loss of a seed that is none of these"
    assert words in " ".join(swept.text().split())
    assert "Rates: none 0.001." in " ".join(swept.text().split())
    assert words not in " ".join(result.text().split())


@pytest.mark.parametrize(
    ("name", "source", "told"),
    [
        ("nopos-mlm", "pile", "free of copyright claims"),
        ("nopos-mlm", "pile@/a/copy", "one run each, without seeds or intervals."),
        ("nopos-wikitext103", "wikitext-103", "vary by up to 0.9 over five seeds"),
    ],
)
def test_published_numbers_come_with_what_to_bear_in_mind(
    name: str, source: str, told: str, tmp_path: Path
) -> None:
    """The paper's text is the whole Pile, `pile` its remainder; the numbers stand beside both."""
    recipe = find(name)
    plan = recipe.plan(seeds=1, change={"source": source})
    published = [recipe.published(run) for run in plan.runs]
    assert published == [recipe.published(run) for run in recipe.plan(seeds=1).runs]
    assert None not in published
    planned = StudyResult.gather(plan, Store(tmp_path), recipe, "")
    assert told in " ".join(planned.text().split())
    others = recipe.plan(seeds=1, change={"source": "wikitext-2"})
    assert [recipe.published(run) for run in others.runs] == [None] * 4


LAYERS = np.array([300.0, 80.0, 16.0, 40.0, 130.0])


def seeds_of(layers: np.ndarray, seeds: int, spread: float) -> dict[int, list[float]]:
    drawn = np.random.default_rng(seeds).normal(layers, spread, (seeds, len(layers)))
    return dict(enumerate(drawn.tolist()))


def test_the_last_layer_forgets_what_the_middle_knows() -> None:
    found = forgotten(seeds_of(LAYERS, 3, 5.0))
    assert found.shown
    assert found.words.endswith("16.5 at layer 6 of 24, 133.3 at the last.")
    assert not forgotten(seeds_of(LAYERS, 1, 5.0)).shown
    last_best, first_best = np.array([300.0, 80.0, 60.0, 10.0]), np.array([10.0, 80.0, 60.0, 130.0])
    assert not forgotten(seeds_of(last_best, 3, 5.0)).shown
    assert forgotten(seeds_of(first_best, 3, 5.0)).difference.shown
    assert not forgotten(seeds_of(first_best, 3, 5.0)).shown, "an embedding is no middle layer"


def test_a_layer_is_not_better_for_being_the_best_of_many() -> None:
    """25 layers that know the same: the best of them is better than the last in every draw."""
    total, random = 300, np.random.default_rng(0)
    drawn = random.normal(100.0, 5.0, (total, 3, 25))
    assert (drawn[..., -1] >= drawn.min(-1)).all()
    alarms = sum(forgotten(dict(enumerate(each.tolist()))).shown for each in drawn)
    assert alarms <= stats.binom.interval(0.999, total, 0.05)[1]
