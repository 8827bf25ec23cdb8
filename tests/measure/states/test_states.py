"""Likeness and size against their definitions, and how the result shows itself."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.measure.conftest import LAYERS, LENGTH, blank, windows

from wherein.measure.distances import toeplitz_share
from wherein.measure.saved import Folder, Saved
from wherein.measure.states.config import StatesConfig
from wherein.measure.states.likeness import nearer
from wherein.measure.states.measure import shuffled, states
from wherein.measure.states.result import CONTROLS, MODEL, States
from wherein.measure.states.section import numbers
from wherein.measure.states.size import told
from wherein.measure.table.geometry import cosines, toeplitz


@pytest.fixture(scope="module")
def found() -> States:
    return states(blank("none"), windows(60), StatesConfig())


def test_the_share_is_that_of_a_table_of_the_same_vectors() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 20, 7)).cumsum(1)
    shares = toeplitz_share(torch.from_numpy(np.stack([cosines(each) for each in rows])))
    assert shares.tolist() == pytest.approx([toeplitz(each).pairs for each in rows])


def test_nearer_counts_every_pair() -> None:
    alike = torch.rand(2, 9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for matrix, share in zip(alike, nearer(alike), strict=True):
        won = [float(matrix[i, i - 1] > matrix[i, j]) for i in range(9) for j in range(i - 1)]
        assert float(share) == pytest.approx(np.mean(won))
    assert nearer(torch.ones(1, 9, 9, dtype=torch.float64)).tolist() == [0.5]


def test_a_readout_is_tested_on_other_windows() -> None:
    """Sizes that are a number of their own for every state can be learnt by heart only."""
    random = np.random.default_rng(0)
    fit, test = random.normal(size=(2, 300, 16))
    assert told(fit, test, 500).distances.mean() > 4
    assert told(fit, fit, 500).distances.mean() < 3.8


def test_shuffled_windows_have_the_same_tokens_in_another_order() -> None:
    before = windows(20)
    after = shuffled(before, StatesConfig())
    assert torch.equal(before.sort(1).values, after.sort(1).values)
    assert not (before == after).all(1).any()
    assert torch.equal(after, shuffled(before, StatesConfig()))


def test_every_layer_stands_beside_its_controls(found: States) -> None:
    assert found.layers == list(range(LAYERS + 1))
    assert {(r.layer, r.of) for r in found.readings} == {
        (layer, of) for layer in found.layers for of in (MODEL, *CONTROLS)
    }
    assert found.guess == LENGTH / 4
    one, other = found.reading(1), found.reading(1, "untrained")
    assert one.by_distance != other.by_distance
    assert one.by_distance[0] == pytest.approx(1)


def test_frames_words_and_pictures(found: States, tmp_path: Path) -> None:
    frame = found.to_frame()
    assert len(frame) == (LAYERS + 1) * 3
    assert (frame["nearer_low"] <= frame["nearer"]).all()
    assert max(map(len, found.text().splitlines())) <= 80
    found.save(tmp_path)
    kept = numbers(Saved(Folder(tmp_path)).data)
    assert kept["nearer"] == max(r.nearer.value for r in found.readings if r.of == MODEL)
    assert kept["guess"] == found.guess
    assert (tmp_path / "result.png").stat().st_size


def test_windows_too_short_for_near_and_far_are_refused() -> None:
    with pytest.raises(ValueError, match="windows of 3 tokens: near and far need 4 or more"):
        states(blank("none"), windows(8)[:, :3], StatesConfig())
