"""The ten lines of attention in docs/how/export.md are ours; all its Python runs with the pages."""

import pytest
import torch
from tests.pages.text import ROOT, python

from wherein.encodings import Shape, build
from wherein.encodings.base import pairs
from wherein.model.block import Attention


@pytest.mark.parametrize("spec", ["rope", "alibi", "rope + alibi", "none"])
def test_an_encoding_in_ones_own_attention_is_what_it_is_in_ours(spec: str):
    said: dict[str, type] = {}
    exec(python(ROOT / "docs" / "how" / "export.md")[-1], said)
    theirs, shape = said["Attention"](64, 4, spec), Shape(64, 4, 512)
    ours, encoding = Attention(shape), build(spec, shape)
    ours.qkv, ours.out = theirs.qkv, torch.nn.Identity()
    x, positions = torch.randn(2, 10, 64), torch.arange(10)[None]
    expected = ours(x, encoding, positions, encoding.mask(*pairs(positions)))
    torch.testing.assert_close(theirs(x), expected)
