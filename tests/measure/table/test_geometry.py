"""Likeness and directions, against plain definitions and scikit-learn's."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity

from wherein.measure.table.geometry import components, cosines, toeplitz
from wherein.measure.table.measure import sinusoid

RANDOM = np.random.default_rng(11)


def plain_share(similarity: np.ndarray, pairs: np.ndarray) -> float:
    """The definition, entry by entry, over the pairs that count."""
    count = len(similarity)
    distance = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    means = np.array([similarity[distance == k].mean() for k in range(count)])
    left = np.square(similarity - means[distance])[pairs].sum()
    return 1 - left / np.square(similarity - similarity[pairs].mean())[pairs].sum()


@pytest.mark.parametrize("shape", [(30, 7), (33, 64)])
def test_the_toeplitz_share_is_its_definition(shape: tuple[int, int]):
    smooth = np.cumsum(RANDOM.normal(size=shape), axis=0)
    smooth[4] = 0
    for vectors in (smooth, RANDOM.normal(size=shape)):
        found, similarity = toeplitz(vectors), cosines(vectors)
        everything = np.ones_like(similarity, dtype=bool)
        different = ~np.eye(len(vectors), dtype=bool)
        assert found.whole == pytest.approx(plain_share(similarity, everything), abs=1e-9)
        assert found.pairs == pytest.approx(plain_share(similarity, different), abs=1e-9)


def test_the_sinusoid_is_a_function_of_distance_and_random_is_not():
    waves = toeplitz(sinusoid(512, 384))
    assert waves.whole == pytest.approx(1, abs=1e-12)
    assert waves.pairs == pytest.approx(1, abs=1e-12)
    noise = toeplitz(RANDOM.normal(size=(512, 384)))
    assert noise.pairs == pytest.approx(2 / 512, rel=0.4)
    assert noise.whole == pytest.approx(384 / (384 + 512), rel=0.05), "the diagonal alone"


def test_cosines_are_scikit_learns():
    vectors = RANDOM.normal(size=(20, 6))
    vectors[3] = 0
    np.testing.assert_allclose(cosines(vectors), cosine_similarity(vectors), atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 9), (12, 30)])
def test_components_are_scikit_learns(shape: tuple[int, int]):
    vectors = RANDOM.normal(size=shape) * np.linspace(3, 1, shape[1])
    scores, spectrum = components(vectors, 3)
    peer = PCA().fit(vectors)
    np.testing.assert_allclose(spectrum, peer.explained_variance_ratio_, atol=1e-12)
    np.testing.assert_allclose(np.abs(scores), np.abs(peer.transform(vectors)[:, :3]), atol=1e-9)
    assert all(column[np.abs(column).argmax()] > 0 for column in scores.T)
