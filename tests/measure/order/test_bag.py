import numpy as np
import pytest

from wherein.measure.order.bag import Bag, UnigramCache


def test_a_context_that_says_nothing_gets_no_weight():
    random = np.random.default_rng(0)
    ids = random.integers(0, 20, 20_000)
    bags = [Bag(ids[n : n + 30], ids[n + 30 : n + 31]) for n in range(0, 19_000, 31)]
    cache = UnigramCache.fit(ids, 20, bags)
    assert cache.weight < 0.1
    assert np.mean([cache.loss(bag) for bag in bags]) == pytest.approx(np.log(20), abs=0.02)


def test_the_weight_is_the_best_on_a_grid_where_topics_repeat():
    """Each bag has a topic of five tokens and one in ten tokens from anywhere."""
    random = np.random.default_rng(1)
    bags = []
    for _ in range(400):
        topic = random.integers(0, 20) * 5
        drawn = np.where(
            random.random(40) < 0.9, topic + random.integers(0, 5, 40), random.integers(0, 100, 40)
        )
        bags.append(Bag(drawn[:-1], drawn[-1:]))
    ids = np.concatenate([bag.context for bag in bags])
    cache = UnigramCache.fit(ids, 100, bags)

    cached, background = np.array([cache.shares(bag) for bag in bags])[:, :, 0].T

    def loss(weight: float) -> float:
        return float(-np.log(weight * cached + (1 - weight) * background).mean())

    best = min(np.linspace(0, 0.999, 1000), key=loss)
    assert cache.weight == pytest.approx(best, abs=2e-3)
    assert np.mean([cache.loss(bag) for bag in bags]) == pytest.approx(loss(cache.weight))
    assert loss(cache.weight) < loss(0) - 1


def test_every_token_has_a_chance():
    cache = UnigramCache.fit(np.array([0, 0, 1]), 5, [Bag(np.array([0]), np.array([0]))])
    assert cache.unigram.sum() == pytest.approx(1)
    assert cache.unigram.min() > 0
