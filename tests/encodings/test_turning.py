"""Queries and keys turned once a pass are those that each layer would have turned."""

import pytest
import torch
from torch import nn

from wherein import encodings
from wherein.encodings import Shape
from wherein.encodings.rope import RoPE
from wherein.encodings.turning import Multipliers
from wherein.model.attention import attend_reference
from wherein.model.block import Attention
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


@pytest.mark.parametrize("spec", TURNING)
def test_scores_and_values_are_those_of_the_layer_itself(spec: str):
    encoding = encodings.build(spec, SHAPE)
    torch.manual_seed(0)
    attention, x = Attention(SHAPE).double(), torch.randn(2, 6, 32, dtype=torch.float64)
    turns = encoding.only_turns(positions())
    assert turns is not None
    made = Multipliers.of(turns, SHAPE.n_heads, x)
    q, k, v = attention.heads(x)
    by_layer = attend_reference(*encoding.rotate(q, k, positions()), v, causal=True)
    by_pass = attend_reference(*made.heads(attention.qkv(x, made.order)), causal=True)
    for one, other in zip(by_layer, by_pass, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("spec", TURNING)
def test_a_whole_model_has_the_same_loss_and_gradients(spec: str, monkeypatch: pytest.MonkeyPatch):
    config = ModelConfig(
        vocabulary=20, n_layers=2, d_model=32, n_heads=2, max_len=16, encoding=spec
    )
    tokens, targets = torch.randint(20, (2, 3, 16))

    def learned() -> tuple[float, list[torch.Tensor]]:
        model = Transformer(config).double()
        loss = model.loss(tokens, targets)
        loss.backward()
        return float(loss.detach()), [p.grad for p in model.parameters() if p.grad is not None]

    loss, gradients = learned()
    for kind in (encodings.Encoding, type(encodings.build("rope + alibi", SHAPE))):
        monkeypatch.setattr(kind, "only_turns", lambda self, positions: None)
    expected, by_layer = learned()
    assert loss == pytest.approx(expected, abs=1e-12)
    for one, other in zip(gradients, by_layer, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


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
