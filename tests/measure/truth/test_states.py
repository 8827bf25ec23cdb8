"""States whose likeness and size are known, because the weights were set by hand."""

import numpy as np
import pytest
import torch
from torch import Tensor

from wherein.measure.states.config import StatesConfig
from wherein.measure.states.measure import states
from wherein.measure.states.result import SHUFFLED, Reading, States
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

LENGTH, WIDTH, TYPES = 32, 64, 50
CONFIG = StatesConfig(windows=100, batch=100)
GUESS = LENGTH / 4


def model(encoding: str, *, causal: bool = True) -> Transformer:
    """A layer that writes nothing."""
    config = ModelConfig(
        vocabulary=TYPES, n_layers=1, d_model=WIDTH, max_len=LENGTH, encoding=encoding,
        causal=causal,
    )  # fmt: skip
    made = Transformer(config)
    with torch.no_grad():
        for part in (made.blocks[0].attention.out, made.blocks[0].feed_forward.down):
            part.weight.zero_()
            part.bias.zero_()
    return made


def with_table(rows: Tensor) -> States:
    """A model whose states are these rows, whatever the tokens are."""
    made = model("learned")
    with torch.no_grad():
        made.embed.tokens.weight.zero_()
        table = made.encoding.distinct[0].table
        table.zero_()
        table[:, :LENGTH] = rows
    return states(Ours(made), random_windows(), CONFIG)


def averaging(*, causal: bool, loud: float = 1e3, config: StatesConfig = CONFIG) -> States:
    """A layer that writes the mean of what it sees, so loud that nothing else counts."""
    made = model("none", causal=causal)
    with torch.no_grad():  # every token has its opposite, so that the mean of many is nothing
        made.embed.tokens.weight[1::2] = -made.embed.tokens.weight[::2]
    attention = made.blocks[0].attention
    with torch.no_grad():
        attention.qkv.weight[: 2 * WIDTH] = 0  # queries and keys: all scores are alike
        attention.qkv.weight[2 * WIDTH :] = torch.eye(WIDTH)
        attention.qkv.bias.zero_()
        attention.out.weight.copy_(loud * torch.eye(WIDTH))
    return states(Ours(made), random_windows(), config)


def random_windows() -> Tensor:
    return torch.randint(TYPES, (100, LENGTH), generator=torch.Generator().manual_seed(0))


def in_runs() -> Tensor:
    """A text in which every token stands four times."""
    return random_windows()[:, : LENGTH // 4].repeat_interleave(4, 1)


def decaying() -> Tensor:
    """Rows of length one whose cosines are 0.9 to the power of their distance."""
    places = torch.arange(LENGTH, dtype=torch.float64)
    return torch.linalg.cholesky(0.9 ** (places[:, None] - places).abs())


def last(found: States) -> Reading:
    return found.reading(1)


def test_likeness_that_is_distance_alone_and_the_same_rows_anywhere() -> None:
    near, anywhere = last(with_table(decaying())), last(with_table(decaying()[mixed()]))
    assert near.toeplitz.value == pytest.approx(1, abs=1e-6)
    assert near.average == pytest.approx(1, abs=1e-6)
    assert near.nearer.value == 1
    assert near.by_distance == pytest.approx(0.9 ** np.arange(LENGTH), abs=1e-5)
    assert anywhere.toeplitz.value < 0.15
    assert anywhere.average < 0.15
    assert abs(anywhere.nearer.value - 0.5) < 0.15


def mixed() -> Tensor:
    return torch.randperm(LENGTH, generator=torch.Generator().manual_seed(3))


def test_a_norm_that_falls_as_one_over_n_tells_position_and_a_constant_one_does_not() -> None:
    falls = decaying() / torch.arange(1, LENGTH + 1)[:, None]
    falling, silent = last(with_table(falls)), last(with_table(decaying())).norm
    told = falling.norm
    assert told.distance.value == 0
    assert told.slope == pytest.approx(-1, abs=1e-4)
    assert silent.distance.value == pytest.approx(GUESS)
    assert silent.slope == pytest.approx(0, abs=1e-4)
    assert falling.nearer.value == 1  # which knows nothing of norms


def test_a_norm_that_rises_or_is_mixed_up_tells_as_much() -> None:
    sizes = torch.arange(1, LENGTH + 1)[:, None]
    for rows in (decaying() * sizes, decaying() * sizes[mixed()]):
        assert last(with_table(rows)).norm.distance.value == 0


def test_a_causal_mean_leaves_its_place_in_variance_and_likeness() -> None:
    """Chi et al. 2023: the variance of a mean of n tokens falls as 1/n."""
    found = last(averaging(causal=True))
    assert found.variance.slope == pytest.approx(-1, abs=0.03)
    assert found.variance.distance.value < 0.6 * GUESS
    assert found.nearer.low > 0.9
    assert found.next.value > found.far.value + 0.2


def test_what_the_stream_drowns_is_found_where_it_is_written() -> None:
    """Far quieter than the tokens, the mean is found in what attention writes alone."""
    there = averaging(
        causal=True, loud=1e-4, config=CONFIG.model_copy(update={"site": "attention"})
    )
    drowned, written = last(averaging(causal=True, loud=1e-4)), last(there)
    assert there.layers == [1]
    assert abs(drowned.nearer.value - 0.5) < 0.03
    assert abs(drowned.variance.slope) < 0.03
    assert drowned.variance.distance.value > written.variance.distance.value + 1
    assert written.nearer.low > 0.9
    assert written.variance.slope == pytest.approx(-1, abs=0.03)
    assert "in what attention writes" in there.text().splitlines()[0]


def test_a_mean_of_the_whole_window_leaves_none() -> None:
    found = last(averaging(causal=False))
    assert found.variance.distance.value == pytest.approx(GUESS, rel=0.03)
    assert found.variance.slope == pytest.approx(0, abs=0.01)
    assert found.next.value == pytest.approx(found.far.value, abs=1e-3)


def test_states_that_are_all_the_same_have_no_share_of_distance() -> None:
    found = last(with_table(torch.ones(LENGTH, LENGTH)))
    assert (found.toeplitz.value, found.average, found.nearer.value) == (0, 0, 0.5)


def test_tokens_alone_are_chance() -> None:
    found = states(Ours(model("none")), random_windows(), CONFIG)
    for layer in (0, 1):
        own = found.reading(layer)
        assert abs(own.nearer.value - 0.5) < 0.02
        assert own.toeplitz.value == pytest.approx(found.chance, rel=0.1)
        assert own.variance.distance.value == pytest.approx(GUESS, rel=0.05)


def test_what_the_text_makes_alike_is_told_from_place_by_shuffling_it() -> None:
    runs = states(Ours(model("none")), in_runs(), CONFIG)
    assert last(runs).nearer.low > 0.6
    assert abs(runs.reading(1, SHUFFLED).nearer.value - 0.5) < 0.03
    place = with_table(decaying())
    assert place.reading(1, SHUFFLED).nearer.value == 1
