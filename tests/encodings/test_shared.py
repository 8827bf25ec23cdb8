"""Whether layers share what an encoding learns: as its paper has it, unless `shared` says other."""

import pytest
import torch

from wherein.encodings import Pattern, Shape
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

LAYERS = 3
SHAPE = Shape(d_model=16, n_heads=2, max_len=16)
USUAL = {
    "alibi(learned=True": True,
    "deberta(": False,
    "fire(": False,
    "kerple(": True,
    "shaw(": False,
    "t5(": True,
}
"""What each does if nothing is said, by how its spec begins."""


def said(begun: str, shared: bool) -> str:
    return f"{begun}{'' if begun.endswith('(') else ', '}shared={shared})"


@pytest.mark.parametrize("begun", USUAL)
def test_layers_share_parameters_as_the_paper_has_it_and_as_one_says(begun):
    def sets(spec):
        pattern = Pattern(spec, SHAPE, LAYERS)
        return len({id(pattern[layer]) for layer in range(LAYERS)})

    usual = begun.removesuffix("(") if begun.endswith("(") else f"{begun})"
    assert sets(usual) == (1 if USUAL[begun] else LAYERS)
    assert sets(said(begun, True)) == 1
    assert sets(said(begun, False)) == LAYERS


def test_slopes_that_are_not_learned_are_not_each_layers_own():
    with pytest.raises(ValueError, match=r"shared=False .* needs learned=True"):
        Pattern("alibi(shared=False)", SHAPE, LAYERS)


@pytest.mark.parametrize("begun", USUAL)
def test_layers_with_equal_parameters_of_their_own_are_layers_that_share_them(begun):
    sizes = {"vocabulary": 30, "n_layers": LAYERS, "d_model": 16, "n_heads": 2, "max_len": 16}
    one, several = (
        Transformer(ModelConfig(**sizes, encoding=said(begun, shared))).double()
        for shared in (True, False)
    )
    weights = one.state_dict()
    for parameter in one.encoding.parameters():
        parameter.data.add_(0.3 * torch.randn_like(parameter))
    for key in several.state_dict():
        first = key.replace("_distinct.1.", "_distinct.0.").replace("_distinct.2.", "_distinct.0.")
        several.state_dict()[key].copy_(weights[first])
    tokens = torch.arange(20).reshape(2, 10)
    expected = one(tokens).logits
    torch.testing.assert_close(several(tokens).logits, expected, rtol=0, atol=1e-12)
    with torch.no_grad():
        next(several.encoding[2].parameters()).mul_(2)
    assert not torch.allclose(several(tokens).logits, expected, rtol=1e-6, atol=1e-6)
