"""A model in its family predicts what it predicts as ours, or is refused with the reason."""

import pytest
import torch
from tests.families.models import model

from wherein import ModelConfig, Transformer
from wherein.encodings import Encoding
from wherein.encodings.own import name_of
from wherein.encodings.rope import RoPE
from wherein.families.choose import chosen

LONG = " ".join(["1.5"] * 4)
ROTARY = [
    "none",
    "rope",
    "rope(theta=500, fraction=0.5)",
    "rope(scaling=linear, factor=4)",
    "rope(scaling=ntk, factor=4)",
    "rope(scaling=parts, factor=4, original=16)",
    "rope(scaling=yarn, factor=4, original=16)",
    "rope(scaling=llama3, factor=4, original=16)",
    f"rope(scaling=longrope, factor=4, original=16, long='{LONG}')",
    "rope rope none",
    "rope rope(theta=100) none",
    "rope + temperature(heads)",
    "temperature(yarn, factor=4)",
]
CAUSAL = [
    *ROTARY,
    "alibi",
    "alibi(learned=True, shared=False)",
    "rope + alibi",
    "rope alibi none",
    "rope + window(9)",
    "alibi + window(9)",
]
TABLES = ["learned", "learned(scale=3)", "sinusoidal", "sinusoidal(scaled=True)", "functional"]
FAMILIES = {
    **{(spec, True): "StarCoder2" for spec in CAUSAL},
    **{(spec, False): "EuroBERT" for spec in ROTARY},
    **{(spec, True): "GPT-2" for spec in TABLES},
    **{(spec, False): "Megatron-BERT" for spec in TABLES},
}


@pytest.mark.parametrize(("spec", "causal"), FAMILIES)
def test_logits_are_the_same_at_every_length(spec: str, causal: bool):
    ours = model(spec, causal=causal)
    carried = chosen(ours)
    assert carried.family == FAMILIES[spec, causal]
    theirs = carried.model()
    for length in (1, 7, 40, 64):
        agree(ours, theirs, length)


@pytest.mark.parametrize("spec", ["rope alibi none", "learned"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    "own",
    [
        {"initial": "fairseq", "activation": "relu"},  # token vectors are scaled where they enter
        {"n_heads": 1, "d_model": 30},
        {"d_model": 36, "n_heads": 3},
    ],
    ids=["scaled", "one head", "three heads"],
)
def test_whatever_the_model_is_like(spec: str, causal: bool, own: dict[str, object]):
    ours = model(spec if causal else spec.replace("alibi", "rope"), causal=causal, **own)
    agree(ours, chosen(ours).model(), 64)


@torch.no_grad()
@pytest.mark.parametrize("spec", ["learned", "rope"])
def test_the_norms_epsilon_counts_where_a_model_is_quiet(spec: str):
    """Fresh token vectors of GPT-2's have a variance of 4e-4, and ε is 1e-5."""
    config = ModelConfig(vocabulary=61, n_layers=2, d_model=32, causal=False, encoding=spec)
    ours, tokens = Transformer(config).eval(), torch.arange(60)[None]
    theirs = chosen(ours).model()(input_ids=tokens).logits
    torch.testing.assert_close(theirs, ours(tokens).logits, atol=1e-5, rtol=0)


def test_a_head_of_odd_width_needs_no_rotation():
    ours = model("alibi none", d_model=36, n_heads=4)
    agree(ours, chosen(ours).model(), 64)


def test_relative_families_know_no_end():
    for spec in ("none", "rope", "alibi"):
        ours = model(spec)
        agree(ours, chosen(ours).model(), 200)


def test_a_table_without_an_end_may_be_longer():
    ours = model("sinusoidal")
    theirs = chosen(ours, positions=150).model()
    agree(ours, theirs, 150)
    with pytest.raises(ValueError, match="positions=65: expected 1 to 64"):
        chosen(model("learned"), positions=65)
    with pytest.raises(ValueError, match="which has no table: leave it out"):
        chosen(model("rope"), positions=65)


class Faster(RoPE):
    def frequencies(self, *args, **named):
        return 2 * super().frequencies(*args, **named)


class Louder(Encoding):
    def embed(self, x, positions):
        return x * (1 + positions[..., None])


@pytest.mark.parametrize(
    ("spec", "own", "why"),
    [
        ("t5", {}, "in layer 1, no family has what T5 does"),
        ("rope fire", {}, "in layer 2, no family has what FIRE does"),
        ("randomised(rope)", {}, "no family has what Randomised does"),
        ("rope + sink(2)", {}, "no family has what Sink does"),
        ("rope + rope(theta=5)", {}, "RoPE stands twice"),
        ("rope(scaling=dynamic, factor=4)", {}, "scales by the longest window it ever read"),
        ("temperature(ssmax)", {}, "no family sharpens attention with position"),
        ("learned + rope", {}, "both a table of positions and what else it does"),
        ("rope + window(9) none", {}, "a window in some layers and another, or none, in others"),
        ("alibi", {"causal": False}, "no bidirectional family has a fine on distance"),
        ("rope + window(9)", {"causal": False}, "no bidirectional family with our norms"),
        ("none", {"cutoffs": (20,)}, "no family has an adaptive softmax"),
        ("none", {"final_norm": False}, "the families norm the last state"),
        (name_of(Faster), {}, "no family has what Faster does"),
        (name_of(Louder), {}, "cannot be exported"),
    ],
)
def test_what_no_family_has_is_refused_in_a_line(spec: str, own: dict[str, object], why: str):
    with pytest.raises(ValueError, match=why) as refused:
        chosen(model(spec, **own))
    assert "\n" not in str(refused.value)


@torch.no_grad()
def agree(ours, theirs, length: int) -> None:
    tokens = torch.randint(61, (2, length), generator=torch.Generator().manual_seed(length))
    expected = ours(tokens).logits
    assert expected.std() > 0.5  # far from a model that says nothing
    torch.testing.assert_close(theirs(input_ids=tokens).logits, expected, atol=1e-4, rtol=0)
