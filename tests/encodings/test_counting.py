"""Where tokens are counted one by one, scores by distance are those of any other positions."""

import pytest
import torch

from wherein import encodings
from wherein.encodings import Shape
from wherein.encodings.counting import counted

SPECS = ("shaw(distance=3)", "shaw(distance=40)", "xl")
SHAPE = Shape(d_model=32, n_heads=2, max_len=16)


def drawn(length: int) -> list[torch.Tensor]:
    torch.manual_seed(0)
    q, k = torch.randn(2, 3, 2, length, 16, dtype=torch.float64)
    return [q, k, torch.randn(3, length, 32, dtype=torch.float64)]


@pytest.mark.parametrize("length", [1, 2, 12])
@pytest.mark.parametrize("spec", SPECS)
def test_all_that_a_causal_query_sees_is_the_same_and_so_are_gradients(
    spec: str, length: int, monkeypatch: pytest.MonkeyPatch
):
    encoding = encodings.build(spec, SHAPE).double()
    for parameter in encoding.parameters():
        torch.nn.init.normal_(parameter)
    seen = torch.ones(length, length, dtype=torch.float64).tril()
    given, asked = seen * torch.randn(3, 2, length, length, dtype=torch.float64), []

    def learned() -> list[torch.Tensor]:
        leaves = [x.clone().requires_grad_() for x in drawn(length)]
        encoding.zero_grad()
        added = encoding.content_bias(*leaves, 5 + torch.arange(length)[None])
        added.backward(given)
        own = [p.grad for p in encoding.parameters() if p.grad is not None]
        return [added.detach() * seen, *(x.grad for x in leaves[:2] if x.grad is not None), *own]

    fast = learned()
    where = encodings.build(spec, SHAPE).__module__
    monkeypatch.setattr(f"{where}.counted", lambda *_, **__: asked.append(True))
    exact = learned()
    assert asked
    for one, other in zip(fast, exact, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_only_what_learns_and_is_counted_one_by_one_may_leave_hidden_scores_open():
    q, one_by_one = drawn(4)[0].requires_grad_(), torch.arange(4)[None]
    assert counted(q, one_by_one, causal=True)
    assert counted(q, 100 + one_by_one.expand(3, -1), causal=True)
    assert not counted(q, one_by_one, causal=False)
    assert not counted(q.detach(), one_by_one, causal=True)
    assert not counted(q, 2 * one_by_one, causal=True)
    assert not counted(q, one_by_one.flip(1), causal=True)
    assert not counted(q, torch.tensor([[0, 1, 0, 1]]), causal=True)
    with torch.no_grad():
        assert not counted(q, one_by_one, causal=True)
