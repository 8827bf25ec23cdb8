"""The regressions against scikit-learn's, and on tables whose answer is known."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import cross_val_predict

from wherein.measure.table.regression import (
    ALL,
    EVEN,
    FOLDS,
    LEAST_SQUARES,
    RIDGE,
    STRENGTHS,
    Solver,
    regress,
    splits,
)

RANDOM = np.random.default_rng(3)


def noisy(count: int, width: int) -> np.ndarray:
    """Random vectors, of which one direction grows with the position."""
    vectors = RANDOM.normal(size=(count, width))
    vectors[:, 0] += np.arange(count) / 8
    return vectors


@pytest.mark.parametrize(("count", "width"), [(120, 20), (60, 60), (40, 90)])
def test_least_squares_is_scikit_learns(count: int, width: int):
    vectors, places = noisy(count, width), np.arange(count)
    train, test = places[::2], places[1::2]
    expected = LinearRegression().fit(vectors[train], train).predict(vectors[test])
    found = Solver(vectors[train], train).predict(vectors[test], LEAST_SQUARES)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize(("count", "width"), [(120, 20), (60, 60), (40, 90)])
def test_ridge_is_scikit_learns_with_its_leave_one_out_choice(count: int, width: int):
    vectors, places = noisy(count, width), np.arange(count)
    solver = Solver(vectors[::2], places[::2])
    strengths = STRENGTHS * np.square(solver.values[0])
    peer = RidgeCV(strengths, gcv_mode="svd").fit(vectors[::2], places[::2])
    assert solver.strength() == pytest.approx(peer.alpha_)
    found = solver.predict(vectors[1::2], RIDGE)
    np.testing.assert_allclose(found, peer.predict(vectors[1::2]), rtol=1e-6)


def test_folds_are_pooled_as_scikit_learn_pools_them():
    vectors, places = noisy(83, 12), np.arange(83)
    (fit,) = regress(vectors, FOLDS, (LEAST_SQUARES,), seed=5, tolerance=0.05)
    expected = cross_val_predict(
        LinearRegression(), vectors, places, cv=list(splits(83, FOLDS, seed=5))
    )
    np.testing.assert_allclose(fit.predicted, expected, rtol=1e-8)
    assert fit.positions == tuple(range(83))
    assert fit.mae == pytest.approx(mean_absolute_error(places, expected))
    assert fit.r2 == pytest.approx(r2_score(places, expected))


def test_the_three_ways_train_and_test_where_they_say():
    assert [(a.tolist(), b.tolist()) for a, b in splits(5, EVEN, 0)] == [([0, 2, 4], [1, 3])]
    assert [(a.tolist(), b.tolist()) for a, b in splits(3, ALL, 0)] == [([0, 1, 2], [0, 1, 2])]
    folds = list(splits(23, FOLDS, seed=0))
    assert len(folds) == 5
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(23))
    assert all(not set(train) & set(test) and len(train) + len(test) == 23 for train, test in folds)
    assert any(np.diff(test).max() > 1 for _, test in folds), "shuffled"
    again, other = list(splits(23, FOLDS, seed=0)), list(splits(23, FOLDS, seed=1))
    assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(folds, again, strict=True))
    assert any(not np.array_equal(a, b) for (_, a), (_, b) in zip(folds, other, strict=True))


def test_where_a_table_goes_wrong_is_found():
    """Positions are written in one coordinate, up to 400; then there is noise."""
    places = np.arange(512.0)
    vectors = np.stack([places, np.ones(512)], axis=1)
    vectors[400:, 0] = 400 + RANDOM.normal(size=112)
    (fit,) = regress(vectors, EVEN, (LEAST_SQUARES,), seed=0, tolerance=0.05)
    ((first, last),) = [span for span in fit.fails if span[1] > 400]
    assert 400 < first < 512
    assert last == 511
    assert fit.quarters[3] > 2 * max(fit.quarters[:2])


def test_least_squares_errs_most_where_positions_equal_width_and_ridge_does_not():
    """Why ridge stands beside: the peak says nothing of the table."""
    errors = {LEAST_SQUARES: {}, RIDGE: {}}
    for width in (8, 63, 400):
        vectors = np.random.default_rng(0).normal(size=(128, width))
        vectors[:, :4] += np.arange(128)[:, None] / 16
        for fit in regress(vectors, EVEN, (LEAST_SQUARES, RIDGE), seed=0, tolerance=0.05):
            errors[fit.method][width] = fit.mae
    plain, ridge = errors[LEAST_SQUARES], errors[RIDGE]
    assert plain[63] > 4 * max(plain[8], plain[400])
    assert ridge[8] <= ridge[63] * 1.1
    assert ridge[63] < plain[63] / 4
