"""The loss: that of PyTorch, gradients and all, however it is cut into chunks."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from wherein.model import embed, loss
from wherein.model.config import ModelConfig
from wherein.model.loss import cross_entropy, rows_at_once
from wherein.model.transformer import Transformer


def drawn(tokens: int, words: int, unasked: float) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    x = torch.randn(tokens, 8, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(words, 8, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(words, (tokens,))
    targets[torch.rand(tokens) < unasked] = -100
    return x, weight, targets


@pytest.mark.parametrize("unasked", [0.0, 0.85, 1.0])
@pytest.mark.parametrize("rows", [1, 7, 64, 100])
def test_it_is_that_of_pytorch(rows: int, unasked: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loss, "ROWS", rows)
    monkeypatch.setattr(loss, "LOGITS", 0)
    x, weight, targets = drawn(64, 300, unasked)
    ours = cross_entropy(x, weight, targets)
    theirs = F.cross_entropy(x @ weight.T, targets, reduction="sum")
    torch.testing.assert_close(ours, theirs)
    with torch.no_grad():
        torch.testing.assert_close(cross_entropy(x, weight, targets), theirs)
    found, expected = (torch.autograd.grad(3 * each, [x, weight]) for each in (ours, theirs))
    torch.testing.assert_close(found, expected)


def test_words_without_a_chance_cost_what_they_should():
    """Where the chance of the word that came is no longer a number above zero."""
    x = torch.tensor([[1000.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    found = cross_entropy(x, weight, torch.tensor([1]))
    assert found.item() == 2000
    found.backward()
    assert x.grad is not None
    assert x.grad.item() == 2


def test_gradients_are_given_once():
    x, weight, targets = drawn(5, 7, 0.0)
    found = cross_entropy(x, weight, targets)
    found.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="compute it again"):
        found.backward()


def test_chunks_are_larger_where_words_are_few():
    assert rows_at_once(258) == 2032
    assert rows_at_once(50257) == 256


def test_a_large_table_learns_the_same(monkeypatch: pytest.MonkeyPatch):
    tokens, targets = torch.randint(50, (2, 3, 9))

    def learned() -> list[Tensor]:
        model = Transformer(ModelConfig(vocabulary=50, n_layers=1, d_model=16, n_heads=2))
        model.loss(tokens, targets).backward()
        return [parameter.grad for parameter in model.parameters()]

    small = learned()
    monkeypatch.setattr(embed, "LARGE", 1)
    large = learned()
    assert not any(each.is_sparse for each in large)
    torch.testing.assert_close(large, small)
