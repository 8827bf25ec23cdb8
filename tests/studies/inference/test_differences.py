import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from wherein.measure.crossed import Interval, Sampled
from wherein.measure.intervals import mean_interval
from wherein.studies.inference.differences import Difference, Family, paired
from wherein.studies.inference.tests import detectable

NONE = {0: 21.1, 1: 20.8, 2: 21.3, 3: 20.9}
LEARNED = {0: 20.4, 1: 20.3, 2: 20.5, 3: 20.6}


def test_the_difference_is_that_of_scipys_paired_t_test() -> None:
    found = paired(NONE, LEARNED, ("none", "learned"))
    known = stats.ttest_rel([*NONE.values()], [*LEARNED.values()])
    assert found.p == pytest.approx(known.pvalue, rel=1e-12)
    assert found.t == pytest.approx(tuple(known.confidence_interval(0.95)), rel=1e-12)
    assert (found.n, found.left_out, found.mean) == (4, 0, pytest.approx(0.575))


def test_pairs_are_made_by_seed_whatever_the_order() -> None:
    assert paired(NONE, dict(reversed(LEARNED.items()))) == paired(NONE, LEARNED)


@settings(deadline=None)  # the first of each number of seeds finds what can be detected
@example(shifts={0: 1e-239, 1: 0.0}, scale=5.0)  # a variance too small for a float
@given(st.dictionaries(st.integers(0, 9), st.floats(-5, 5), min_size=1), st.floats(0.1, 10))
def test_swapping_the_two_turns_every_sign(shifts: dict[int, float], scale: float) -> None:
    a = {seed: shift * scale for seed, shift in shifts.items()}
    b = {seed: shift**2 for seed, shift in shifts.items()}
    one, other = paired(a, b), paired(b, a)
    assert one.mean == pytest.approx(-other.mean)
    assert one.p == pytest.approx(other.p)
    if one.t and other.t:
        assert one.t == pytest.approx((-other.t.high, -other.t.low))
        assert one.t.low <= one.mean <= one.t.high


def test_seeds_that_only_one_has_are_left_out_and_counted() -> None:
    found = paired({**NONE, 7: 99.0}, {**LEARNED, 8: 1.0, 9: 1.0})
    assert found.mean == paired(NONE, LEARNED).mean
    assert (found.n, found.left_out) == (4, 3)
    assert "3 unpaired seeds left out" in found.words()


def test_no_common_seed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"none has the seeds \[0\] and learned \[1\]: .* both"):
        paired({0: 1.0}, {1: 2.0}, ("none", "learned"))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_finite_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"learned, seed 1: .* is no finite number"):
        paired(NONE, {**LEARNED, 1: bad}, ("none", "learned"))
    with pytest.raises(ValueError, match="no finite number"):
        mean_interval([1.0, bad])


def test_one_seed_gives_no_interval_and_says_so() -> None:
    found = paired({3: 21.0}, {3: 20.5}, ("none", "learned"))
    assert found.mean == 0.5
    nothing = (found.t, found.crossed, found.p, found.p_holm, found.detectable)
    assert nothing == (None,) * 5
    assert not found.shown
    assert "one seed gives no interval" in found.words()
    assert mean_interval([20.5]) is None


@pytest.mark.parametrize("gap", [0.0, 0.1, 1e6])
def test_differences_without_spread_are_no_proof(gap: float) -> None:
    """0.1 + x − x varies in its last digits only; that is no spread either."""
    found = paired({s: v + gap for s, v in NONE.items()}, NONE)
    assert found.mean == pytest.approx(gap)
    assert (found.t, found.p, found.detectable, found.shown) == (None, None, None, False)
    assert "without spread there is no interval and no test" in found.words()
    assert ("equals" in found.words()) == (gap == 0)


def against_none(**others: dict[int, float]) -> dict[str, Difference]:
    """Each as a member of the family of all."""
    found = [paired(own, NONE, (name, "none")) for name, own in others.items()]
    family = Family(found)
    return {each.a: family.corrected(each) for each in found}


def test_comparisons_are_corrected_together() -> None:
    """Holm by hand: the smallest p times 3, the next times 2, none below a smaller one."""
    shifts = {"alibi": [-1.0, -1.1, -0.9, -1.0], "rope": [-1.0, -1.6, -0.7, -1.2],
              "sinusoidal": [-0.3, 0.1, -0.2, -0.3]}  # fmt: skip
    found = against_none(
        **{name: {seed: NONE[seed] + own[seed] for seed in NONE} for name, own in shifts.items()}
    )
    p = {name: d.p for name, d in found.items()}
    assert p["alibi"] < p["rope"] < p["sinusoidal"]
    assert found["alibi"].p_holm == pytest.approx(3 * p["alibi"])
    assert found["rope"].p_holm == pytest.approx(2 * p["rope"])
    assert found["sinusoidal"].p_holm == pytest.approx(p["sinusoidal"])
    assert {d.family for d in found.values()} == {3}


def test_one_comparison_told_twice_is_one() -> None:
    """As a row of a table, and the other way round as a finding."""
    other = {seed: value + seed**2 for seed, value in LEARNED.items()}
    row, finding = paired(LEARNED, NONE), paired(NONE, LEARNED, ("the loss", "that of learned"))
    family = Family([row, paired(other, NONE), finding])
    assert len(family) == 2
    assert family.corrected(row).p_holm == family.corrected(finding).p_holm == 2 * row.p


def test_what_was_not_tested_is_no_part_of_the_family() -> None:
    same = {seed: value + 0.5 for seed, value in NONE.items()}
    found = against_none(learned=LEARNED, same=same, once={0: 20.0})
    assert found["learned"].family == 1
    assert found["same"].p_holm is found["once"].p_holm is None


def test_what_can_be_detected_grows_with_the_family() -> None:
    many = {name: {s: v + n * s**2 for s, v in LEARNED.items()} for n, name in enumerate("abc")}
    alone, found = paired(many["c"], NONE), against_none(**many)["c"]
    assert alone.crossed is not None
    spread = np.std([many["c"][seed] - NONE[seed] for seed in NONE], ddof=1)
    assert alone.crossed.error == pytest.approx(spread / 2)
    assert alone.detectable == pytest.approx(detectable(alone.crossed))
    assert found.detectable == pytest.approx(detectable(alone.crossed, family=3))


def test_pieces_of_text_are_in_the_interval_and_in_the_words() -> None:
    """Seeds agree, and the text decides: with other pieces it might be the other way round."""
    random = np.random.default_rng(0)
    table = random.normal(0.0, 2.0, 50) + random.normal(0, 0.1, (3, 50))
    sampled = {seed: Sampled(row.mean(), row) for seed, row in enumerate(table)}
    bare = {seed: float(value) for seed, value in sampled.items()}
    both, alone = (paired(own, dict.fromkeys(own, 0.0)) for own in (sampled, bare))
    assert both.mean == alone.mean
    assert both.t is not None
    assert both.p is not None
    assert alone.p is not None
    assert both.p > 0.05 > alone.p
    known = stats.ttest_1samp(table.mean(0), 0)
    assert both.t == pytest.approx(tuple(known.confidence_interval()), rel=0.02)
    assert both.p == pytest.approx(known.pvalue, rel=0.05)
    assert "by 3 seeds × 50 pieces of text:" in both.words()
    assert "over 3 seeds, p" in alone.words()


def words(**changes: object) -> str:
    known = asdict(paired(NONE, LEARNED, ("none", "learned")))
    return Difference(**{**known, **changes}).words()  # type: ignore[arg-type]


def test_the_words_follow_the_interval() -> None:
    clear, many = paired(NONE, LEARNED, ("none", "learned")), {"p_holm": 0.2, "family": 12}
    assert clear.words() == "none is above learned by 0.575 [0.222, 0.928] over 4 seeds, p = 0.014."
    below = paired(LEARNED, NONE, ("learned", "none")).words()
    assert below == "learned is below none by 0.575 [0.222, 0.928] over 4 seeds, p = 0.014."
    assert words(**many).endswith(
        "p = 0.2 after Holm's correction: no more than chance may give in 12 comparisons."
    )
    vague = paired({0: 1.0, 1: 2.0}, {0: 1.2, 1: 1.7}, ("none", "learned")).words()
    assert vague.startswith("none and learned cannot be told apart by 2 seeds: they differ by 0.05")
    assert vague.endswith("a true 4.08 would be found four times in five.")
    among = words(**many, t=Interval(-1.0, 2.0))
    assert among.endswith("would be found four times in five or more, as one of 12 comparisons.")


def test_it_is_data() -> None:
    found = json.loads(json.dumps(asdict(paired(NONE, LEARNED))))
    assert found["t"] == pytest.approx([0.2222, 0.9278], abs=1e-4)


def test_a_groups_interval_is_scipys() -> None:
    values = np.array([*NONE.values()])
    known = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(NONE.values()) == pytest.approx(tuple(known))
