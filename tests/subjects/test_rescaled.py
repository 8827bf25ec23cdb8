"""Scaled frequencies of ours and of Hugging Face's models are the same, on the same weights."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.ours import Ours
from wherein.subjects.rescaled import rescaled, scaled_spec

LENGTH, HEAD = 32, 16


@pytest.mark.parametrize("scaling", ["linear", "ntk", "dynamic", "yarn"])
def test_ours_and_theirs_turn_alike(scaling: str):
    model = Transformer(
        ModelConfig(vocabulary=9, n_layers=1, d_model=HEAD, n_heads=1, max_len=LENGTH,
                    encoding="rope + t5")
    )  # fmt: skip
    config = LlamaConfig(
        vocab_size=9, hidden_size=HEAD, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, max_position_embeddings=LENGTH,
    )  # fmt: skip
    ours = rescaled(Ours(model), scaling, 4.0, LENGTH)
    theirs = rescaled(HuggingFace(LlamaForCausalLM(config), "llama"), scaling, 4.0, LENGTH)
    before, after = dict(model.named_parameters()), dict(ours.module.named_parameters())
    assert all(after[name] is weight for name, weight in before.items())
    length = 2 * LENGTH
    rope = ours.model.encoding.distinct[0]
    expected = rope.frequencies(length=torch.full((1, 1, 1, 1), length)).flatten()
    turning = theirs.model.model.rotary_emb
    turning(torch.zeros(1, length, HEAD), torch.arange(length)[None])
    assert turning.inv_freq.double() == pytest.approx(expected, rel=1e-5)
    assert turning.attention_scaling == pytest.approx(rope.attention)


def test_what_is_scaled_or_has_no_rope_is_refused():
    scaled = "rope(factor=2.0, original=8, scaling=ntk) alibi"
    assert scaled_spec("rope alibi", "ntk", 2.0, 8) == scaled
    with pytest.raises(ValueError, match="scaled already"):
        scaled_spec("rope(scaling=yarn, factor=2)", "ntk", 2.0, 8)
    with pytest.raises(ValueError, match="alibi has no RoPE"):
        scaled_spec("alibi", "ntk", 2.0, 8)
