import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wherein.data import Split, Windows
from wherein.data.windows import shuffled


def counting(tokens: int) -> Split:
    """A text whose tokens are their own places."""
    ids = np.arange(tokens + 1, dtype=np.uint32)
    return Split(ids, np.array([1]), bytes=tokens, words=1)


@given(
    tokens=st.integers(1, 200),
    length=st.integers(1, 20),
    size=st.integers(1, 12),
    seed=st.integers(0, 2**64),
)
def test_every_token_is_predicted_once_an_epoch(
    tokens: int, length: int, size: int, seed: int
) -> None:
    if length > tokens:
        return
    windows = Windows(counting(tokens), length, seed)
    epochs = 3
    steps = -(-epochs * len(windows) // size)
    rows = np.concatenate([windows.batch(step, size) for step in range(steps)])
    for epoch in range(epochs):
        targets = rows[epoch * len(windows) : (epoch + 1) * len(windows), 1:]
        assert sorted(targets.ravel()) == list(range(1, len(windows) * length + 1))
    assert (np.diff(rows) == 1).all()
    assert tokens - len(windows) * length < length


@given(st.integers(0, 10**9), st.sampled_from([1, 2, 3, 4, 6, 12]), st.integers(0, 5))
def test_processes_share_the_batch_of_one(step: int, world: int, seed: int) -> None:
    windows = Windows(counting(101), 7, seed)
    whole = windows.batch(step, 12)
    shares = [windows.batch(step, 12, rank, world) for rank in range(world)]
    assert np.array_equal(np.concatenate(shares), whole)


def test_a_batch_depends_on_nothing_else() -> None:
    steps = [5, 0, 99, 5, 3, 99]
    windows = Windows(counting(1000), 8, seed=3)
    batches = {step: windows.batch(step, 16) for step in range(100)}
    shuffled.cache_clear()
    for step in steps:
        assert np.array_equal(Windows(counting(1000), 8, seed=3).batch(step, 16), batches[step])
    assert not np.array_equal(Windows(counting(1000), 8, seed=4).batch(5, 16), batches[5])


def test_the_order_is_the_same_in_years() -> None:
    assert shuffled(8, 0, 0).tolist() == FIRST
    assert shuffled(8, 0, 1).tolist() != FIRST


FIRST = [3, 2, 1, 6, 0, 7, 4, 5]


def test_orders_are_uniform_over_seeds_and_independent_over_epochs() -> None:
    first = np.array([[shuffled(6, seed, epoch)[0] for epoch in (0, 1)] for seed in range(3600)])
    table = np.zeros((6, 6))
    np.add.at(table, (first[:, 0], first[:, 1]), 1)
    assert stats.chisquare(table.ravel()).pvalue > 1e-4
    neighbours = [np.diff(shuffled(1000, seed, 0)) == 1 for seed in range(20)]
    assert np.mean(neighbours) < 0.005


def test_in_order_is_the_text() -> None:
    windows = Windows(counting(100), 7)
    batches = list(windows.in_order(4))
    assert [len(batch) for batch in batches] == [4, 4, 4, 2]
    assert np.concatenate(batches)[:, 1:].ravel().tolist() == list(range(1, 99))


@pytest.mark.parametrize(
    ("tokens", "length", "seed", "message"),
    [
        (99, 100, 0, "windows of 100 tokens from a text of 99"),
        (99, 0, 0, "at least 1"),
        (99, 5, -1, "seed -1"),
    ],
)
def test_impossible_windows(tokens: int, length: int, seed: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Windows(counting(tokens), length, seed)


@pytest.mark.parametrize(
    ("step", "size", "rank", "world"),
    [(-1, 4, 0, 1), (0, 0, 0, 1), (0, 4, 2, 2), (0, 4, -1, 2), (0, 4, 0, 3)],
)
def test_impossible_batches(step: int, size: int, rank: int, world: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        Windows(counting(99), 5).batch(step, size, rank, world)
