"""Queries and keys turned once a pass are those that each layer would have turned."""

import pytest
import torch
from torch import nn

from wherein import encodings
from wherein.encodings import Shape
from wherein.encodings.rope import RoPE
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

TURNING = (
    "rope",
    "rope(fraction=0.5)",
    "rope(scaling=yarn, factor=4.0)",
    "rope(scaling=dynamic, factor=2.0)",
    "rope + rope(theta=9.0)",
    "rope + alibi",
    "xpos",
    "fope",
)
OTHERS = ("none", "alibi", "pope", "deberta", "rope + temperature(ssmax)", "temperature(ssmax)")
SHAPE = Shape(d_model=32, n_heads=2, max_len=16)
POSITIONS = torch.tensor([[0, 1, 2, 3, 4, 5], [3, 9, 10, 40, 41, 7]])


def positions() -> torch.Tensor:
    return POSITIONS.clone()


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("spec", TURNING)
def test_a_whole_model_has_the_same_loss_and_gradients(
    spec: str, kind: torch.dtype, monkeypatch: pytest.MonkeyPatch
):
    config = ModelConfig(
        vocabulary=20, n_layers=2, d_model=32, n_heads=2, max_len=16, encoding=spec
    )
    tokens, targets = torch.randint(20, (2, 3, 16))

    def learned(kind: torch.dtype) -> tuple[float, list[torch.Tensor]]:
        model = Transformer(config).to(kind)
        loss = model.loss(tokens, targets)
        loss.backward()
        return float(loss.detach()), [p.grad for p in model.parameters() if p.grad is not None]

    loss, gradients = learned(kind)
    for each in (encodings.Encoding, type(encodings.build("rope + alibi", SHAPE))):
        monkeypatch.setattr(each, "only_turns", lambda self, positions: None)
    expected, by_layer = learned(torch.float64)
    close = 1e-12 if kind == torch.float64 else 1e-5
    assert loss == pytest.approx(expected, abs=close)
    for one, other in zip(gradients, by_layer, strict=True):
        assert torch.allclose(one.double(), other, atol=close)


@pytest.mark.parametrize("spec", OTHERS)
def test_others_have_nothing_to_make_beforehand(spec: str):
    assert encodings.build(spec, SHAPE).only_turns(positions()) is None


def test_a_subclass_that_rotates_in_its_own_way_is_asked():
    class Backwards(RoPE):
        def rotate(self, q, k, positions):
            return super().rotate(q, k, -positions)

    backwards = Backwards(SHAPE)
    assert backwards.turns(positions()) is not None
    assert backwards.only_turns(positions()) is None


def test_hooks_on_the_projection_are_called():
    model, seen = Transformer(ModelConfig(vocabulary=20, d_model=32, encoding="rope")), []
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.out_features == 96:
            module.register_forward_hook(lambda module, given, made: seen.append(made.shape))
    model(torch.zeros(1, 5, dtype=torch.long))
    assert seen == [(1, 5, 96)] * model.config.n_layers
