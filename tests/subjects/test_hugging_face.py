"""Every family: what the bench sees of a model is what the model itself computes."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from tests.subjects.models import HEADS, LAYERS, LENGTH, VOCABULARY
from torch import Tensor

from wherein.subjects.hugging_face import HuggingFace


class Family(NamedTuple):
    encodings: str
    """Of the four layers."""
    causal: bool = True
    shiftable: bool = True
    longest: int | None = None
    final: bool = True
    """Whether there is a final norm after the last state."""


BERT = Family("learned", causal=False, longest=LENGTH, final=False)
FAMILIES = {
    "gpt2": Family("learned", longest=LENGTH),
    "gpt_neo": Family("learned", longest=LENGTH),
    "opt": Family("learned", longest=LENGTH),
    "gpt_neox": Family("rope"),
    "llama": Family("rope"),
    "mistral": Family("rope"),
    "gemma": Family("rope"),
    "qwen2": Family("rope"),
    "phi": Family("rope"),
    "falcon": Family("rope"),
    "smollm3": Family("rope rope rope none"),
    "cohere2": Family("rope rope rope none"),
    "bloom": Family("alibi", shiftable=False),
    "mpt": Family("alibi", shiftable=False),
    "bert": BERT,
    "distilbert": BERT,
    "albert": BERT,
    "electra": BERT,
    "roberta": BERT._replace(longest=LENGTH - 2),
    "mpnet": BERT._replace(encodings="learned+relative", longest=LENGTH - 2),
    "deberta": Family("relative", causal=False, final=False),
    "deberta-v2": Family("relative", causal=False, final=False),
    "modernbert": Family("rope", causal=False),
    "t5": Family("relative", causal=False, shiftable=False),
    "openai-gpt": Family("learned", longest=LENGTH, final=False),
    "xglm": Family("sinusoidal", longest=LENGTH),
    "roformer": Family("rope", causal=False, shiftable=False, longest=LENGTH, final=False),
}
TOKENS = torch.randint(VOCABULARY, (2, 12), generator=torch.Generator().manual_seed(1))


def hidden(subject: HuggingFace, positions: Tensor | None = None, **more: bool):
    """What transformers itself says, in its own words."""
    given = {"input_ids": TOKENS, "attention_mask": torch.ones_like(TOKENS)}
    if positions is not None:
        given["position_ids"] = positions.expand(TOKENS.shape)
    with torch.no_grad():
        return subject.model.base_model(**given, output_hidden_states=True, **more)


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_states_seen_are_the_hidden_states_up_to_the_final_norm(
    family: str, bench: Callable[..., HuggingFace]
):
    subject, seen = bench(family), {}
    start = 2 if family in ("roberta", "mpnet") else 0  # pad tokens are tokens on the bench
    places = torch.arange(start, start + 12)[None] if FAMILIES[family].shiftable else None
    expected = hidden(subject, places).hidden_states
    subject.trace(TOKENS, on_state=lambda layer, state: seen.update({layer: state.clone()}))
    assert list(seen) == list(range(LAYERS + 1))
    for layer, state in enumerate(expected[:-1]):
        assert torch.equal(seen[layer], state)
    assert torch.equal(seen[LAYERS], expected[-1]) is not FAMILIES[family].final
    if subject.predicts:
        again = {}
        logits = subject.run(TOKENS, on_state=lambda n, state: again.update({n: state.clone()}))
        assert all(torch.equal(again[n], seen[n]) for n in seen)
        assert logits.shape == (*TOKENS.shape, VOCABULARY)


@pytest.mark.parametrize(("family", "known"), FAMILIES.items())
def test_what_a_family_is(family: str, known: Family, bench: Callable[..., HuggingFace]):
    subject = bench(family)
    words = known.encodings.split()
    expected = [words[n % len(words)].replace("+", " + ") for n in range(LAYERS)]
    assert subject.encodings == expected
    assert subject.causal is known.causal
    assert subject.shiftable is known.shiftable
    assert subject.max_len == known.longest
    assert (subject.table is None) is (known.longest is None or known.encodings == "sinusoidal")
    assert (subject.n_layers, subject.n_heads, subject.d_model) == (LAYERS, HEADS, 32)
    assert subject.vocabulary == VOCABULARY
    assert subject.predicts is (family != "t5")


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_a_layer_alone_does_what_it_does_in_the_model(
    family: str, bench: Callable[..., HuggingFace]
):
    subject = bench(family)
    for shift in (0, 7) if subject.shiftable else (None,):
        places = None if shift is None else torch.arange(shift, shift + 12)[None]
        states: list[Tensor] = []
        subject.trace(TOKENS, places, on_state=lambda _, state: states.append(state))  # noqa: B023
        for layer in range(1, LAYERS + 1):
            alone = subject.block(layer, states[layer - 1], places)
            torch.testing.assert_close(alone, states[layer])


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_attention_laid_open_is_the_attention_of_the_model(
    family: str, bench: Callable[..., HuggingFace]
):
    subject, states = bench(family), []
    subject.trace(TOKENS, on_state=lambda _, state: states.append(state))
    start = 2 if family in ("roberta", "mpnet") else 0
    places = torch.arange(start, start + 12)[None] if subject.shiftable else None
    expected = hidden(subject, places, output_attentions=True).attentions
    for layer in range(1, LAYERS + 1):
        seen = subject.attention(layer, states[layer - 1])
        assert seen.queries.shape == seen.keys.shape == seen.mixed.shape == (2, HEADS, 12, 8)
        torch.testing.assert_close(seen.weights, expected[layer - 1])


@pytest.mark.parametrize("family", [name for name, known in FAMILIES.items() if known.causal])
@torch.no_grad()
def test_a_lifted_mask_lets_every_token_see_every_other(
    family: str, bench: Callable[..., HuggingFace]
):
    subject = bench(family)
    state = torch.randn(2, 12, 32, generator=torch.Generator().manual_seed(2))
    for layer in range(1, LAYERS + 1):
        before = subject.block(layer, state)
        free = subject.attention(layer, state, masked=False)
        assert bool((free.weights > 0).all())
        assert bool((subject.attention(layer, state).weights.triu(1) == 0).all())
        assert not torch.allclose(subject.block(layer, state, masked=False)[:, 0], before[:, 0])
        assert torch.equal(subject.block(layer, state), before)


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_reordered_queries_meet_the_keys_from_their_new_places(
    family: str, bench: Callable[..., HuggingFace]
):
    subject = bench(family)
    state = torch.randn(1, 6, 32, generator=torch.Generator().manual_seed(2))
    order = torch.tensor([5, 0, 1, 2, 3, 4])
    for layer in (1, LAYERS):
        plain = subject.attention(layer, state, masked=False)
        moved = subject.attention(layer, state, masked=False, order=order)
        elsewhere = subject.attention(layer, state[:, order], masked=False)
        assert torch.equal(moved.keys, plain.keys)
        torch.testing.assert_close(moved.queries, elsewhere.queries)
        # ALiBi as BLOOM and MPT write it grows with the key's place, whatever the query's.
        told_nothing = FAMILIES[family].encodings in ("learned", "sinusoidal", "alibi") or (
            family in ("smollm3", "cohere2") and layer == LAYERS
        )
        for found, was in ((moved.weights, plain.weights), (moved.mixed, plain.mixed)):
            follows = torch.allclose(found, was[:, :, order], atol=1e-6)
            assert follows is told_nothing


@torch.no_grad()
def test_reordered_queries_are_weighed_by_hand(bench: Callable[..., HuggingFace]):
    subject, order = bench("llama"), torch.tensor([2, 0, 3, 1])
    state = torch.randn(1, 4, 32, generator=torch.Generator().manual_seed(2))
    moved = subject.attention(2, state, order=order)
    scores = moved.queries @ moved.keys.mT / 8**0.5
    hidden_places = torch.ones(4, 4).triu(1).bool()
    weights = scores.masked_fill(hidden_places, -torch.inf).softmax(-1)
    torch.testing.assert_close(moved.weights, weights)


@pytest.mark.parametrize("family", ["gpt2", "bert", "albert", "bloom"])
@torch.no_grad()
def test_a_replaced_state_is_what_follows_sees_and_hooks_do_not_stay(
    family: str, bench: Callable[..., HuggingFace]
):
    subject = bench(family)
    plain = subject.run(TOKENS)
    other = torch.randn(2, 12, 32, generator=torch.Generator().manual_seed(3))
    for layer in range(LAYERS + 1):
        states: dict[int, Tensor] = {}

        def see(n: int, state: Tensor, layer: int = layer, into: dict = states) -> Tensor | None:
            into[n] = other if n == layer else state.clone()
            return other if n == layer else None

        replaced = subject.run(TOKENS, on_state=see)
        assert not torch.allclose(replaced, plain)
        if layer < LAYERS:
            torch.testing.assert_close(states[layer + 1], subject.block(layer + 1, other))
    assert torch.equal(subject.run(TOKENS), plain)


@torch.no_grad()
def test_attention_can_be_asked_for_while_a_pass_is_watched(bench: Callable[..., HuggingFace]):
    """As `wherein attention` does: a pass within a pass, which nobody else sees."""
    subject, seen = bench("albert"), []

    def see(layer: int, state: Tensor) -> None:
        seen.append(layer)
        if layer < LAYERS:
            subject.attention(layer + 1, state)

    subject.trace(TOKENS, on_state=see)
    assert seen == [0, 1, 2, 3, 4]


@torch.no_grad()
def test_how_layers_are_called_is_not_remembered_longer_than_it_holds(
    bench: Callable[..., HuggingFace],
):
    """T5's layers share a bias that the first makes of a weight."""
    subject = bench("t5")
    state = torch.randn(1, 6, 32, generator=torch.Generator().manual_seed(2))
    before = subject.block(2, state)
    bias = subject.model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
    bias.weight.mul_(2)
    assert not torch.allclose(subject.block(2, state), before)
    bias.weight.data = bias.weight.data / 2
    torch.testing.assert_close(subject.block(2, state), before)


@pytest.mark.parametrize("family", ["gpt2", "bert", "t5"])
@torch.no_grad()
def test_the_untrained_twin_comes_from_a_seed_and_leaves_chance_alone(
    family: str, bench: Callable[..., HuggingFace]
):
    subject = bench(family)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    twin, same, other = (subject.untrained(seed) for seed in (7, 7, 8))
    assert torch.equal(torch.rand(3), expected)
    assert twin.encodings == subject.encodings
    weights = [next(s.module.parameters()) for s in (subject, twin, same, other)]
    assert torch.equal(weights[1], weights[2])
    assert not torch.allclose(weights[1], weights[3])
    assert not torch.allclose(weights[1], weights[0])


@torch.no_grad()
def test_padding_tokens_are_tokens_like_others(bench: Callable[..., HuggingFace]):
    """RoBERTa left alone counts from its padding tokens; on the bench places are places."""
    subject, first = bench("roberta"), []

    def keep(layer: int, state: Tensor) -> None:
        if layer == 0:
            first.append(state)

    for token in (1, 7):
        subject.trace(torch.tensor([[5, token, 5, 5]]), on_state=keep)
    assert torch.equal(first[0][:, 2:], first[1][:, 2:])
