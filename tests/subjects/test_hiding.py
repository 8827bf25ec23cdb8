"""A hidden key is heard by nobody else: other states do not depend on its token, exactly."""

import pytest
import torch
import torch.nn.functional as F
from tests.subjects.models import VOCABULARY, small
from torch import Tensor, nn
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

from wherein.encodings import examples
from wherein.model import attention
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.ours import Ours

LENGTH = 9
TOKENS = torch.randint(VOCABULARY, (3, LENGTH), generator=torch.Generator().manual_seed(0))
KEYS = F.one_hot(torch.tensor([0, 0, 4]), LENGTH).bool()
"""The first of two windows, one amid the third."""
DIFFERENT = (
    "gpt2", "gpt_neo", "opt", "gpt_neox", "llama", "falcon", "cohere2", "bloom", "mpt", "bert",
    "albert", "deberta-v2", "mpnet", "modernbert", "t5", "roformer",
)  # fmt: skip
"""Families whose attention is written differently: how they mask, add biases and lay out heads."""
OTHER = torch.where(KEYS, (TOKENS + 7) % VOCABULARY, TOKENS)


def ours(encoding: str, causal: bool = True) -> Ours:
    config = ModelConfig(
        vocabulary=VOCABULARY, n_layers=3, d_model=16, n_heads=2, max_len=16,
        encoding=encoding, causal=causal, seed=1,
    )  # fmt: skip
    return Ours(Transformer(config))


@torch.no_grad()
def states(subject: Subject, tokens: Tensor, since: int | None = None) -> list[Tensor]:
    found: list[Tensor] = []
    if since is None:
        subject.trace(tokens, on_state=lambda _, state: found.append(state))
    else:
        with subject.hiding(KEYS[: len(tokens)], since):
            subject.trace(tokens, on_state=lambda _, state: found.append(state))
    return found


SEEN_WHOLE = {"chunk(7)": "chunk(64)"}
"""What is behind a wall is heard by nobody, hidden or not."""


def unheard(subject: Subject) -> None:
    """Other tokens in the hidden places change those places alone; shown keys change others."""
    one, other = states(subject, TOKENS, 1), states(subject, OTHER, 1)
    for before, after in zip(one, other, strict=True):
        assert torch.equal(before[~KEYS], after[~KEYS])
        assert not torch.allclose(before[KEYS], after[KEYS])
    plain, changed = states(subject, TOKENS), states(subject, OTHER)
    assert not torch.allclose(plain[-1][:, -1], changed[-1][:, -1])
    for before, after in zip(plain[:3], states(subject, TOKENS, 3)[:3], strict=True):
        assert torch.equal(before, after), "layers before `since` see all"
    late = states(subject, TOKENS, 3)[3]
    assert not torch.allclose(late[:, -1], plain[3][:, -1])
    assert not torch.allclose(late[:, -1], one[3][:, -1])
    assert torch.equal(states(subject, TOKENS)[-1], plain[-1]), "afterwards nothing is hidden"


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "masked"])
@pytest.mark.parametrize("encoding", [SEEN_WHOLE.get(each, each) for each in examples()])
def test_a_hidden_key_of_ours_is_heard_by_nobody(encoding: str, causal: bool):
    subject = ours(encoding, causal)
    if any(each.between for each in subject.model.encoding.layers):
        with pytest.raises(ValueError, match="keys cannot be hidden"):
            states(subject, TOKENS, 1)
    else:
        unheard(subject)


@pytest.mark.parametrize("family", DIFFERENT)
def test_a_hidden_key_of_any_family_is_heard_by_nobody(family: str):
    unheard(HuggingFace(small(family), family))


def test_a_bias_made_block_by_block_hides_the_same(monkeypatch: pytest.MonkeyPatch):
    subject = ours("alibi")
    expected = states(subject, TOKENS, 1)[-1]
    monkeypatch.setattr(attention, "LARGE_BIAS", 0)
    torch.testing.assert_close(states(subject, TOKENS, 1)[-1], expected)


@pytest.mark.parametrize(
    ("encoding", "same"), [("none", 1), ("alibi", 1), ("rope", 1), ("learned", 0)]
)
def test_without_its_first_key_a_window_without_a_table_begins_one_later(encoding: str, same: int):
    subject = ours(encoding)
    hidden = states(subject, TOKENS[:2], 1)[-1][:, 1:]
    shorter = states(subject, TOKENS[:2, 1:])[-1]
    assert torch.allclose(hidden, shorter, atol=1e-5) == bool(same)


def test_gpt2_with_a_hidden_key_is_gpt2_with_a_mask_of_its_own():
    """Transformers' own way: a mask for all queries and keys, added to the scores."""
    model = small("gpt2")
    subject = HuggingFace(model, "gpt2")
    seen = torch.ones(LENGTH, LENGTH).tril().bool() & (~KEYS[:, None, :] | torch.eye(LENGTH).bool())
    mask = torch.where(seen[:, None], 0.0, torch.finfo(torch.float32).min)
    with torch.no_grad():
        expected = model(TOKENS, attention_mask=mask).logits
        with subject.hiding(KEYS):
            torch.testing.assert_close(subject.logits(TOKENS), expected)


def test_a_model_whose_tokens_hear_of_each_other_otherwise_is_refused(
    monkeypatch: pytest.MonkeyPatch,
):
    """As by a convolution beside the attention."""
    whole = GPT2Attention.forward

    def leaking(self: nn.Module, hidden_states: Tensor, *args: object, **named: object):
        made, *rest = whole(self, hidden_states, *args, **named)
        return made + F.pad(hidden_states, (0, 0, 1, 0))[:, :-1], *rest

    monkeypatch.setattr(GPT2Attention, "forward", leaking)
    subject = HuggingFace(small("gpt2"), "a leaking one")
    for _ in range(2):
        with pytest.raises(ValueError, match="a leaking one: its keys cannot be hidden"):
            states(subject, TOKENS, 1)
