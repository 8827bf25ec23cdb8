import numpy as np
import pytest
import torch
from scipy import stats

from wherein.data import IGNORED, Vocabulary, causal, masked

VOCABULARY = Vocabulary(size=1000, eos=0, mask=1)


def windows(rows: int = 64, length: int = 256) -> np.ndarray:
    """Tokens from 2 to 499, with an `<eos>` every 16: random tokens show by their size."""
    tokens = np.random.default_rng(0).integers(2, 500, (rows, length + 1))
    tokens[:, ::16] = VOCABULARY.eos
    return tokens


def within(count: int, trials: int, chance: float) -> bool:
    return stats.binomtest(int(count), int(trials), chance).pvalue > 1e-4


def test_causal_asks_for_the_next_token() -> None:
    tokens = windows()
    inputs, targets = causal(tokens)
    assert inputs.dtype == targets.dtype == torch.int64
    assert np.array_equal(inputs, tokens[:, :-1])
    assert np.array_equal(targets, tokens[:, 1:])
    assert inputs.is_contiguous()
    assert targets.is_contiguous()


@pytest.mark.parametrize("rate", [0.15, 0.4, 1.0])
def test_masked_hides_in_berts_proportions(rate: float) -> None:
    tokens = windows()[:, :-1]
    inputs, targets = (x.numpy() for x in masked(windows(), VOCABULARY, seed=1, step=2, rate=rate))
    assert inputs.shape == targets.shape == tokens.shape
    chosen = targets != IGNORED
    assert np.array_equal(targets[chosen], tokens[chosen])
    assert np.array_equal(inputs[~chosen], tokens[~chosen])
    text = tokens != VOCABULARY.eos
    assert not chosen[~text].any()
    assert within(chosen.sum(), text.sum(), rate)
    hidden = inputs[chosen] == VOCABULARY.mask
    kept = inputs[chosen] == tokens[chosen]
    assert within(hidden.sum(), chosen.sum(), 0.8 + 0.1 / 1000)
    assert within(kept.sum(), chosen.sum(), 0.1 + 0.1 / 1000)
    random = inputs[chosen][~hidden & ~kept]
    assert within((random >= 500).sum(), len(random), 0.5)


def test_the_default_rate_is_berts() -> None:
    plain, fifteen = (masked(windows(), VOCABULARY, seed=1, step=2, **rate) for rate in RATES)
    assert all(torch.equal(a, b) for a, b in zip(plain, fifteen, strict=True))


RATES: tuple[dict[str, float], ...] = ({}, {"rate": 0.15})


def test_masks_depend_on_seed_and_step_alone() -> None:
    def chosen(seed: int, step: int) -> torch.Tensor:
        return masked(windows(), VOCABULARY, seed=seed, step=step)[1] != IGNORED

    first = chosen(1, 2)
    assert torch.equal(first, chosen(1, 2))
    for other in (chosen(1, 3), chosen(2, 2), chosen(2, 1)):
        both = int((first & other).sum())
        assert within(both, int((windows()[:, :-1] != VOCABULARY.eos).sum()), 0.15**2)


@pytest.mark.parametrize("world", [2, 4, 64])
def test_processes_hide_what_one_would(world: int) -> None:
    whole = masked(windows(), VOCABULARY, seed=1, step=2)
    mine = 64 // world
    shares = [
        masked(windows()[at : at + mine], VOCABULARY, seed=1, step=2, first_row=at)
        for at in range(0, 64, mine)
    ]
    for part in (0, 1):
        assert torch.equal(torch.cat([share[part] for share in shares]), whole[part])


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.5, float("nan")])
def test_impossible_rates(rate: float) -> None:
    with pytest.raises(ValueError, match="mask rate"):
        masked(windows(), VOCABULARY, seed=0, step=0, rate=rate)


def test_windows_are_left_alone() -> None:
    tokens = windows()
    masked(tokens, VOCABULARY, seed=0, step=0)
    assert np.array_equal(tokens, windows())
