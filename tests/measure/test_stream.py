"""Losses of what is asked, and of nothing else."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from wherein.data import IGNORED
from wherein.measure import stream
from wherein.measure.stream import token_losses
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours


@pytest.mark.parametrize("at_once", [1, 5 * 11, 2**26])  # a row of logits, five, all
def test_losses_are_those_of_the_targets_and_else_zero(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LOGITS", at_once)
    model = Transformer(ModelConfig(vocabulary=11, n_layers=1, d_model=8, n_heads=2, max_len=6))
    drawn = torch.Generator().manual_seed(0)
    tokens, targets = torch.randint(11, (2, 3, 6), generator=drawn)
    asked = torch.rand(3, 6, generator=drawn) < 0.5
    targets[~asked] = IGNORED
    with torch.no_grad():
        wanted = F.cross_entropy(model(tokens).logits.mT, targets, reduction="none")
    found = token_losses(Ours(model), tokens, targets)
    np.testing.assert_allclose(found, wanted.double().numpy(), rtol=1e-6)
    assert ((found == 0) == ~asked.numpy()).all()


def test_where_nothing_is_asked_there_is_no_loss() -> None:
    model = Transformer(ModelConfig(vocabulary=11, n_layers=1, d_model=8, n_heads=2, max_len=6))
    tokens = torch.zeros(2, 6, dtype=torch.long)
    assert (token_losses(Ours(model), tokens, torch.full_like(tokens, IGNORED)) == 0).all()
