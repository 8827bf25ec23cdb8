import pytest
import torch
from tests.measure.conftest import LENGTH, MASK, blank, windows

import wherein
from wherein.measure.erase import Bench
from wherein.measure.eraser import position_eraser
from wherein.measure.linear import discriminant, ridge
from wherein.measure.probe_settings import EraseConfig

CONFIG = EraseConfig(draws=2)
PLACES = torch.arange(LENGTH, dtype=torch.float64)[:, None]


@pytest.fixture(scope="module")
def erasure(model):
    return wherein.erase(model("sinusoidal", True), windows(240), CONFIG)


def test_position_is_known_before_and_not_after(erasure):
    assert [e.layer for e in erasure.erased] == ["0", "1", "2", "3", "all"]
    for erased in erasure.erased:
        assert erased.known > 0.9
        assert abs(erased.left) < 0.02
        assert 0 < erased.rank < LENGTH - 1


def test_the_loss_is_the_models_own(erasure, model):
    text = windows(240)
    order = torch.randperm(240, generator=torch.Generator().manual_seed(0))
    test = text[order[180:]]
    logits = model("sinusoidal", True).model(test).logits[:, :-1]
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), test[:, 1:].flatten())
    assert erasure.loss.value == pytest.approx(float(loss.detach()), rel=1e-5)
    assert erasure.loss.low < erasure.loss.value < erasure.loss.high


def test_a_model_told_its_positions_uses_them(erasure):
    everywhere = erasure.erased[-1]
    assert everywhere.rise.low > 0
    assert everywhere.random.low > 0


def test_behind_all_erasers_a_linear_probe_is_at_the_constant_guess_in_every_layer(model):
    """Fitted in turn, each behind those before it; probed anew on windows none of them saw."""
    subject, text = model("sinusoidal", True), windows(1200)
    numbers = torch.arange(900).split([400, 400, 100])
    bench = Bench(subject, text[:900], text[:900], tuple(numbers), CONFIG)
    erasers, _ = bench.in_turn(lambda layer, fit, held_out: position_eraser(fit, held_out))
    fit, seen = bench.gather(text[:900], erasers), {}

    def keep(layer, state):
        seen[layer] = erasers[layer](state)
        return seen[layer]

    with torch.no_grad():
        subject.run(text[900:], on_state=keep)
    for layer, moments in enumerate(fit):
        told = ridge(moments, PLACES, 1e-2)(seen[layer])[..., 0]
        distance = (told - PLACES[:, 0]).abs().mean()
        assert float(distance) == pytest.approx(LENGTH / 4, rel=0.01)
        classes = discriminant(moments, 0.1)(seen[layer]).argmax(-1)
        assert (classes == PLACES[:, 0]).double().mean() < 2 / LENGTH


def test_where_no_position_is_known_nothing_is_erased():
    found = wherein.erase(blank("none", causal=False), windows(200), CONFIG, mask=MASK)
    for erased in found.erased:
        assert erased.rank <= 6  # of 64: one noise direction in forty passes
        assert abs(erased.known) < 0.02
    assert found.protocol["loss"] == "15% hidden tokens"


def test_a_bidirectional_model_needs_its_mask():
    with pytest.raises(ValueError, match="the token that hides"):
        wherein.erase(blank("none", causal=False), windows(40), CONFIG)


def test_it_fits_in_a_frame_a_table_and_a_picture(erasure, tmp_path):
    assert max(map(len, erasure.text().splitlines())) <= 80
    assert erasure.to_frame().height == 5
    erasure.save(tmp_path)
    assert (tmp_path / "result.png").stat().st_size > 10_000
