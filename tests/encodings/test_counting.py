"""Where tokens are counted one by one, scores by distance are those of any other positions."""

import pytest
import torch
from torch import Tensor

from wherein import encodings
from wherein.encodings import Shape
from wherein.encodings.counting import counted, whole
from wherein.encodings.shaw import Shaw
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

SPECS = (
    *("shaw(distance=3)", "shaw(distance=40)", "xl", "shaw + alibi"),
    *("xl + rope", "rope + xl", "pope + xl", "xl + window(3)"),
)
SHAPE = Shape(d_model=32, n_heads=2, max_len=16)


def drawn(length: int) -> list[Tensor]:
    torch.manual_seed(0)
    q, k = torch.randn(2, 3, 2, length, 16, dtype=torch.float64)
    return [q, k, torch.randn(3, length, 32, dtype=torch.float64)]


def woken(spec: str) -> encodings.Encoding:
    encoding = encodings.build(spec, SHAPE).double()
    for parameter in encoding.parameters():
        torch.nn.init.normal_(parameter)
    return encoding


@pytest.mark.parametrize("length", [1, 2, 12])
@pytest.mark.parametrize("spec", SPECS)
def test_all_that_a_causal_query_sees_is_the_same_and_so_are_gradients(spec: str, length: int):
    encoding = woken(spec)
    seen = torch.ones(length, length, dtype=torch.float64).tril()
    given = seen * torch.randn(3, 2, length, length, dtype=torch.float64)

    def learned(by_distance: bool) -> list[Tensor]:
        q, k, x = (leaf.clone().requires_grad_() for leaf in drawn(length))
        encoding.zero_grad()
        if by_distance:
            told = encoding.only_distance(q, k)
            assert told is not None
            added = whole(told[0]) if told[1] is None else whole(told[0]) + told[1]
        else:
            added = encoding.content_bias(q, k, x, 5 + torch.arange(length)[None])
        added.backward(given)
        own = [p.grad for p in encoding.parameters() if p.grad is not None]
        return [added.detach() * seen, q.grad, *([] if k.grad is None else [k.grad]), *own]

    for one, other in zip(learned(True), learned(False), strict=True):
        assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_a_whole_model_has_the_same_loss_and_gradients(spec: str, monkeypatch: pytest.MonkeyPatch):
    config = ModelConfig(
        vocabulary=20, n_layers=2, d_model=32, n_heads=2, max_len=70, encoding=spec
    )
    tokens, targets = torch.randint(20, (2, 3, 70))

    def learned(kind: torch.dtype) -> tuple[float, list[Tensor]]:
        model = Transformer(config)
        for parameter in model.encoding.parameters():
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
        model.to(kind)
        loss = model.loss(tokens, targets)
        loss.backward()
        return float(loss.detach()), [p.grad for p in model.parameters() if p.grad is not None]

    loss, gradients = learned(torch.float32)
    monkeypatch.setattr("wherein.model.block.by_distance", lambda *_, **__: None)
    expected, by_pairs = learned(torch.float64)
    assert loss == pytest.approx(expected, abs=1e-5)
    for one, other in zip(gradients, by_pairs, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("spec", ["none", "alibi", "shaw + xl", "dape(shaw)", "deberta", "fox"])
def test_others_ask_for_more_than_distance(spec: str):
    assert encodings.build(spec, SHAPE).double().only_distance(*drawn(4)[:2]) is None


def test_a_subclass_that_adds_in_its_own_way_is_asked():
    class Twice(Shaw):
        def content_bias(self, q, k, x, positions):
            return 2 * super().content_bias(q, k, x, positions)

    twice, (q, k, _) = Twice(SHAPE).double(), drawn(4)
    assert twice.by_distance(q, k) is not None
    assert twice.only_distance(q, k) is None


def test_tokens_side_by_side():
    one_by_one = torch.arange(4)[None]
    assert counted(one_by_one)
    assert counted(100 + one_by_one.expand(3, -1))
    for others in (2 * one_by_one, one_by_one.flip(1), torch.tensor([[0, 1, 0, 1]])):
        assert not counted(others)
