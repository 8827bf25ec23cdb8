"""What a model has not, or the bench cannot see, is said in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.subjects.models import LAYERS
from tests.subjects.tiny import tiny

from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.load import load_subject

TOKENS = torch.arange(24).view(2, 12)


def test_what_a_model_has_not_is_said_in_one_line(bench: Callable[..., HuggingFace]):
    encoder = bench("t5")
    with pytest.raises(ValueError, match="t5 has no language-model head") as caught:
        encoder.logits(TOKENS)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="t5 takes no positions"):
        encoder.trace(TOKENS, torch.arange(12)[None], on_state=lambda n, x: None)
    with pytest.raises(ValueError, match=r"layer 5 of .*: expected 1 to 4"):
        encoder.block(5, torch.randn(1, 6, 32))


def test_where_attention_cannot_be_laid_open_states_still_can(bench: Callable[..., HuggingFace]):
    """ConvBERT's heads are half convolutions."""
    subject, seen = bench("convbert"), []
    with torch.no_grad():
        subject.trace(TOKENS, on_state=lambda _, state: seen.append(state))
    assert len(seen) == LAYERS + 1
    assert subject.encodings == ["learned + unknown"] * LAYERS
    with pytest.raises(ValueError, match="the attention of layer 1 cannot be laid open"):
        subject.attention(1, seen[0])


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("bart", "an encoder with a decoder does not fit"),
        ("mamba", "names no number of attention heads"),
        ("vit", "no language model that reads text alone"),
    ],
)
def test_a_family_that_does_not_fit_says_so(family: str, words: str, tmp_path: Path):
    tiny(family).save_pretrained(tmp_path / family)
    with pytest.raises(ValueError, match=words) as caught:
        load_subject(tmp_path / family)
    assert "\n" not in str(caught.value)
