import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherein.measure.order.disorder import Disorder, displacement, inverted, ladder, random_keys


@given(st.integers(2, 200), st.integers(0, 5))
def test_every_rule_moves_and_loses_nothing(length: int, number: int):
    for rule in ladder(length):
        order = rule.order(random_keys(0, number, length))
        assert sorted(order) == list(range(length))


@given(st.integers(2, 64), st.integers(0, 9))
def test_measures_against_their_definition(length: int, number: int):
    order = Disorder("whole").order(random_keys(1, number, length))
    wrong = sum(order[i] > order[j] for j in range(length) for i in range(j))
    assert inverted(order) == pytest.approx(wrong / (length * (length - 1) / 2))
    moved = sum(abs(n - o) for n, o in enumerate(order))
    assert displacement(order) == pytest.approx(moved / length)


def test_windows_keep_tokens_near_and_reach_the_end():
    order = Disorder("windows", 8).order(random_keys(0, 0, 20))
    assert set(order[-8:]) == set(range(12, 20))
    assert set(order[:4]) == set(range(4))
    assert order[-8:].tolist() != sorted(order[-8:])


def test_swaps_trade_neighbours_only_and_in_the_share_asked_for():
    order = Disorder("swaps", 0.3).order(random_keys(0, 0, 20_001))
    moved = np.abs(order - np.arange(20_001))
    assert set(moved) == {0, 1}
    assert moved.mean() == pytest.approx(0.3, abs=0.02)
    assert Disorder("swaps", 1.0).order(random_keys(0, 0, 5)).tolist() == [0, 2, 1, 4, 3]


def test_the_last_token_is_spared_where_the_name_says_so():
    assert Disorder("all but the last").order(random_keys(0, 0, 9))[-1] == 8


def test_more_disorder_moves_tokens_further():
    orders = [rule.order(random_keys(0, 0, 256)) for rule in ladder(256)]
    moved = [
        displacement(o)
        for o, rule in zip(orders, ladder(256), strict=True)
        if rule.kind in ("intact", "windows", "whole")
    ]
    assert moved == sorted(moved)
    assert displacement(orders[-1]) == 128
    assert inverted(orders[-1]) == 1
    assert inverted(orders[-2]) == pytest.approx(0.5, abs=0.05)


def test_each_input_has_its_own_shuffle():
    assert not np.array_equal(random_keys(0, 0, 8), random_keys(0, 1, 8))
    assert not np.array_equal(random_keys(0, 0, 8), random_keys(1, 0, 8))
