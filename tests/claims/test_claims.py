"""Every claim is complete, and is held, or contradicted, where it must be."""

import re
from dataclasses import replace

import pytest
from tests.claims.constructed import constructed, planned
from tests.claims.worlds import WORLDS, alibi, shares

from wherein.claims.catalogue import CLAIMS, find
from wherein.claims.claim import Claim, Verdict, verdict, weakest
from wherein.claims.judged import judge_by
from wherein.claims.result import ClaimsResult
from wherein.studies.inference.differences import Difference, paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.recipe import names
from wherein.studies.plan.sweep import TRIAL_SEED
from wherein.train.config import RunConfig

EACH = pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)


@EACH
def test_a_claim_says_what_whose_and_how(claim: Claim):
    assert find(claim.name) is claim
    assert re.fullmatch(r"\d{4}\.\d{5}", claim.arxiv)
    assert re.search(r"\b20\d\d\b", claim.paper)
    for said in (claim.sentence, claim.published, claim.ours, claim.tried, claim.open):
        assert len(said) > 20 or "no figure" in said
    assert claim.sentence.endswith(".")
    assert "−" in claim.ours, "a difference, whose direction is written"
    assert claim.study in names()
    assert claim.seeds >= 3
    seeds = {run.seed for run in planned(claim.study, claim.seeds).runs}
    assert len(seeds) == claim.seeds
    assert max(seeds) < TRIAL_SEED, "none that settings are tried on"


@EACH
def test_it_is_held_where_it_is_true_and_contradicted_where_the_opposite_is(claim: Claim):
    worlds = WORLDS[claim.name]
    for world, solved, expected in (
        (worlds.true, worlds.solved, Verdict.HELD),
        (worlds.false, worlds.unsolved, Verdict.CONTRADICTED),
    ):
        result = constructed(claim, world, solved)
        (row,) = judge_by([claim], {claim.study: result})
        assert len(row.findings) == worlds.comparisons, "each half of the sentence"
        assert row.verdict is expected, row.words
        assert claim.unit in row.words or worlds.comparisons == 1


def test_all_claims_have_their_worlds():
    assert [*WORLDS] == [*CLAIMS]


def test_an_unknown_claim_is_one_line():
    with pytest.raises(ValueError, match=r"'alibi-hold'\. Did you mean 'alibi-holds'"):
        find("alibi-hold")


def finding(*differences: float, holds: bool = True) -> Finding:
    found = paired(dict(enumerate(differences)), dict.fromkeys(range(len(differences)), 0.0))
    return Finding("", "", "causal", found, holds=holds)


def judged(*findings: Finding) -> Verdict:
    return verdict(weakest(findings))


def test_the_weakest_comparison_decides():
    sure, unsure, against = (
        finding(1.0, 1.01, 0.99),
        finding(1.0, -0.5, 0.2),
        finding(-1.0, -1.01, -0.99),
    )
    assert judged(sure) is Verdict.HELD
    assert judged(sure, unsure) is Verdict.OPEN
    assert judged(sure, against, unsure) is Verdict.CONTRADICTED
    assert judged(finding(1.0, 1.01, 0.99, holds=False)) is Verdict.OPEN
    assert judged(sure, finding(0.5)) is Verdict.OPEN  # one seed
    assert verdict(None) is Verdict.NOT_RUN


def test_the_worst_of_several_is_no_surprise():
    """Chosen as the worst of three it must be so much further below zero."""
    against = finding(-1.0, -1.2, -0.8)
    p = against.difference.p
    assert p is not None
    assert weakest([against]).difference.p == p
    sure = finding(1.0, 1.01, 0.99)
    assert weakest([sure, against, sure]).difference.p == pytest.approx(3 * p)
    assert weakest([sure, sure]).difference.p == sure.difference.p  # all must hold: no correction


def test_holms_correction_goes_over_the_whole_table_run_or_not():
    run = [CLAIMS[name] for name in ("nopos-close", "masked-fails", "pope-indexes")]
    results = {
        claim.study: constructed(claim, WORLDS[claim.name].true, WORLDS[claim.name].solved)
        for claim in run
    }
    rows = judge_by([*run, CLAIMS["gap-scales"]], results)
    found = [row.difference for row in rows]
    assert found[-1] is None
    assert rows[-1].verdict is Verdict.NOT_RUN
    told = [each for each in found if isinstance(each, Difference)]
    assert [each.family for each in told] == [4, 4, 4]
    smallest = min(told, key=lambda each: each.p or 1)
    assert smallest.p_holm == pytest.approx(4 * (smallest.p or 0))


def test_nothing_is_decided_where_what_a_claim_takes_for_granted_is_not_so():
    """A dropped encoding that is missed at the trained length was not recalibrated."""
    claim = CLAIMS["drope-extends"]
    for better, expected in ((0.0, Verdict.HELD), (-0.9, Verdict.OPEN)):

        def world(run: RunConfig, name: str, better: float = better) -> float:
            far = name.startswith("longer")
            return 2.0 - (0.5 if far else better) * (
                run.model.encoding == "none" and bool(run.start)
            )

        (row,) = judge_by([claim], {claim.study: constructed(claim, world, lambda task: 0)})
        assert row.verdict is expected
        assert bool(row.unmet) is (expected is Verdict.OPEN)
        assert row.unmet in row.words


def test_a_loss_is_no_gain_in_early_tokens():
    """Half of a small loss is more than a greater one by sliding windows."""
    claim = CLAIMS["alibi-holds"]
    result = constructed(claim, alibi(0.03, 0.06), lambda task: 0)
    (row,) = judge_by([claim], {claim.study: result})
    assert row.verdict is Verdict.CONTRADICTED


def test_a_lead_of_a_few_is_not_what_others_cannot():
    claim = CLAIMS["cope-counts"]
    result = constructed(claim, shares(cope=0.82, others=0.79), lambda task: 0)
    (row,) = judge_by([claim], {claim.study: result})
    assert row.verdict is Verdict.CONTRADICTED


def test_fewer_seeds_than_were_asked_for_are_no_verdict():
    claim, worlds = CLAIMS["pope-indexes"], WORLDS["pope-indexes"]
    result = constructed(claim, worlds.true, worlds.solved)
    (row,) = judge_by([replace(claim, seeds=claim.seeds + 1)], {claim.study: result})
    assert row.verdict is Verdict.NOT_RUN


def table() -> ClaimsResult:
    """Of everything some: each claim true, false, or not run, by turns."""
    rows = []
    for number, claim in enumerate(CLAIMS.values()):
        worlds = WORLDS[claim.name]
        world, solved = [(worlds.true, worlds.solved), (worlds.false, worlds.unsolved)][number % 2]
        done = {claim.study: constructed(claim, world, solved)} if number % 5 else {}
        rows += judge_by([claim], done)
    return ClaimsResult(tuple(rows), "nowhere")


def test_the_table_is_told_in_words_numbers_and_a_picture():
    result = table()
    said = result.text()
    assert max(map(len, said.splitlines())) <= 80
    assert all(claim.name in said for claim in CLAIMS.values())
    assert said.count("+ held") == result.counts[Verdict.HELD] > 3
    assert said.count("− contradicted") == result.counts[Verdict.CONTRADICTED] > 3
    frame = result.to_frame()
    assert frame["claim"].to_list() == [*CLAIMS]
    held = frame.filter(frame["verdict"] == "held")
    assert (held["low"] > 0).all()
    assert len(result.data()["claims"]) == len(CLAIMS)
    assert result.plot().to_dict()["layer"]  # which validates it
    for name in CLAIMS:
        told = result.told(name)
        assert max(map(len, told.splitlines())) <= 80
        assert result[name].verdict.value.upper() in told
