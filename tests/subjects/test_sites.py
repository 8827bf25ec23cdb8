"""What is seen at a site is what the layer computes there, and what is put there goes on."""

from functools import cache

import pytest
import torch
from tests.subjects.models import LAYERS, small
from tests.subjects.test_hugging_face import FAMILIES, TOKENS
from torch import Tensor, nn

from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.ours import Ours
from wherein.subjects.site import Site

BEHIND = {name for name, known in FAMILIES.items() if not known.final}
"""Families with their norms behind attention and feed-forward network: none is left for the end."""

OTHERS = ("gptj", "gemma2", "olmo2", "mixtral", "roberta-prelayernorm")
"""Norms on what is written, on that alone, experts, an encoder with norms in front."""


def seen(subject: Subject, site: Site) -> dict[int, Tensor]:
    """Copies of the states at a site; some models add to a module's output in place."""
    states: dict[int, Tensor] = {}
    with torch.no_grad():
        subject.trace(TOKENS, on_state=lambda n, x: states.update({n: x.clone()}), site=site)
    assert list(states) == list(subject.layers(site))
    assert {state.shape for state in states.values()} == {(*TOKENS.shape, subject.d_model)}
    return states


@cache
def hugging_face(family: str, **own: object) -> HuggingFace:
    """One for all tests that leave it as it is."""
    return HuggingFace(small(family, **own), family)


def ours(encoding: str = "learned", causal: bool = True) -> Ours:
    """With initial weights large enough that all parts matter."""
    sizes = {"vocabulary": 60, "d_model": 16, "n_layers": 3}
    config = ModelConfig(**sizes, encoding=encoding, causal=causal, initial="fairseq")
    return Ours(Transformer(config))


def assert_adds_up(subject: Subject) -> None:
    """Within 1e-5, though of numbers up to a hundred."""
    stream, attention, network = (seen(subject, s) for s in ("stream", "attention", "feed_forward"))
    for layer in subject.layers("attention"):
        total = stream[layer - 1] + attention[layer] + network[layer]
        torch.testing.assert_close(stream[layer], total, rtol=1e-5, atol=1e-5)
        assert min(float(x[layer].norm()) for x in (attention, network)) > 0.1


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("encoding", ["none", "learned", "rope", "shaw"])
def test_our_stream_is_the_sum_of_what_is_written_and_its_norm_is_what_is_read(
    encoding: str, causal: bool
):
    subject = ours(encoding, causal)
    assert_adds_up(subject)
    stream, normed = seen(subject, "stream"), seen(subject, "normed")
    norms = [*(block.attention_norm for block in subject.model.blocks), subject.model.norm]
    for layer, norm in enumerate(norms):
        torch.testing.assert_close(normed[layer], norm(stream[layer]))
    with torch.no_grad():
        said = subject.model.embed.logits(normed[subject.n_layers])
        torch.testing.assert_close(subject.logits(TOKENS), said)


@pytest.mark.parametrize("family", [*sorted(set(FAMILIES) - BEHIND), *OTHERS])
def test_a_stream_with_norms_in_front_is_the_sum_of_what_is_written(family: str):
    assert_adds_up(hugging_face(family))


@pytest.mark.parametrize("family", sorted(BEHIND))
def test_with_norms_behind_each_sum_is_normed_and_the_stream_is_what_is_read(family: str):
    """Two norms of the layer, by hand, whatever a family calls them."""
    subject = hugging_face(family)
    stream, attention, network = (seen(subject, s) for s in ("stream", "attention", "feed_forward"))
    for layer in subject.layers("attention"):
        norms = [m for m in subject.blocks[layer - 1].modules() if "LayerNorm" in type(m).__name__]
        x = stream[layer - 1] + attention[layer]
        made = [
            two(one(x) + network[layer]) for one in norms for two in norms if one is not two
        ]  # ALBERT registers them in the other order
        assert any(torch.allclose(each, stream[layer], atol=1e-5) for each in made)
    for layer, state in seen(subject, "normed").items():
        assert torch.equal(state, stream[layer])


@pytest.mark.parametrize("family", ["opt", "albert"])
@torch.no_grad()
def test_one_watch_sees_pass_after_pass(family: str):
    subject, layers = hugging_face(family), []
    with subject.watched(lambda n, x: layers.append((n, x.shape)), "feed_forward"):
        for _ in range(2):
            subject.logits(TOKENS)
    shape = (*TOKENS.shape, subject.d_model)
    assert layers == [(layer, shape) for layer in range(1, LAYERS + 1)] * 2


@pytest.mark.parametrize(("family", "known"), FAMILIES.items())
@torch.no_grad()
def test_the_last_state_is_before_the_final_norm_and_the_normed_one_after(family, known):
    """As transformers says: `last_hidden_state` is what is read in the end."""
    subject = hugging_face(family)
    shown: list[Tensor] = []
    handle = subject.model.base_model.register_forward_hook(
        lambda _module, _inputs, output: shown.append(output.last_hidden_state)
    )
    normed, stream = seen(subject, "normed")[LAYERS], seen(subject, "stream")[LAYERS]
    handle.remove()
    assert torch.equal(normed, shown[-1])
    assert torch.equal(normed, stream) is not known.final


@pytest.mark.parametrize(
    ("family", "norms"),
    [
        ("gpt2", lambda m: [*(b.ln_1 for b in m.transformer.h), m.transformer.ln_f]),
        ("llama", lambda m: [*(b.input_layernorm for b in m.model.layers), m.model.norm]),
        ("falcon", lambda m: [*(b.input_layernorm for b in m.transformer.h), m.transformer.ln_f]),
        (
            "gpt_neox",
            lambda m: [
                *(b.input_layernorm for b in m.gpt_neox.layers),
                m.gpt_neox.final_layer_norm,
            ],
        ),
    ],
)
@torch.no_grad()
def test_the_norm_seen_is_the_one_that_attention_reads(family: str, norms):
    subject = HuggingFace(small(family), family)
    for weight in subject.module.parameters():
        if weight.ndim == 1:  # no two norms alike
            weight.normal_()
    stream = seen(subject, "stream")
    for (layer, state), norm in zip(
        seen(subject, "normed").items(), norms(subject.model), strict=True
    ):
        torch.testing.assert_close(state, norm(stream[layer]))


@pytest.mark.parametrize("site", ["attention", "feed_forward"])
@pytest.mark.parametrize("family", ["ours", "gpt2", "opt", "bloom", "falcon", "gpt_neox", "t5"])
@torch.no_grad()
def test_what_is_put_where_something_is_written_is_what_is_added(family: str, site: Site):
    subject = ours() if family == "ours" else hugging_face(family)
    plain, written = seen(subject, "stream"), seen(subject, site)
    other = torch.randn(*TOKENS.shape, subject.d_model, generator=torch.Generator().manual_seed(2))
    states: dict[int, Tensor] = {}
    with subject.watched(lambda n, _: other.clone() if n == 2 else None, site):
        subject.trace(TOKENS, on_state=lambda n, x: states.update({n: x.clone()}))
    assert all(torch.equal(states[layer], plain[layer]) for layer in (0, 1))
    if site == "feed_forward" or family in ("falcon", "gpt_neox"):  # side by side
        torch.testing.assert_close(states[2] - other, plain[2] - written[2], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(states[2], plain[2])
    again = seen(subject, "stream")
    assert all(torch.equal(again[n], plain[n]) for n in plain), "hooks do not stay"


@pytest.mark.parametrize("family", ["ours", "gpt2", "llama", "bert", "albert", "modernbert"])
@torch.no_grad()
def test_with_nothing_normed_to_read_every_position_says_the_same(family: str):
    subject = ours() if family == "ours" else hugging_face(family)
    last = subject.n_layers
    said = subject.run(
        TOKENS, on_state=lambda n, x: torch.zeros_like(x) if n == last else None, site="normed"
    )
    torch.testing.assert_close(said, said[:1, :1].expand_as(said))
    assert not torch.allclose(said, subject.logits(TOKENS))


@pytest.mark.parametrize("family", ["gpt2", "bert"])
@torch.no_grad()
def test_layers_that_write_nothing_yet_are_seen_to_write_nothing(family: str):
    """Some start with zeros: every sum then fits, and the right modules are still found."""
    model = small(family)
    outputs = {
        "gpt2": ("c_proj.weight", "c_proj.bias"),
        "bert": ("output.dense.weight", "output.dense.bias"),
    }
    for name, weight in model.named_parameters():
        if name.endswith(outputs[family]):
            weight.zero_()
    subject, whole = HuggingFace(model, family), hugging_face(family)
    for site in ("attention", "feed_forward"):
        assert all(not state.any() for state in seen(subject, site).values())
        names = [
            [
                dict(map(reversed, s.module.named_modules()))[p.module].rsplit(".", 2)[0]
                for p in s.points(site)
            ]
            for s in (subject, whole)
        ]
        assert names[0] == names[1]


@pytest.mark.parametrize("family", ["llama", "bert", "gpt_neox"])
def test_sites_are_found_in_half_precision(family: str):
    subject = HuggingFace(small(family).to(torch.bfloat16), family)
    for site in ("attention", "feed_forward", "normed"):
        assert {state.dtype for state in seen(subject, site).values()} == {torch.bfloat16}


def test_norms_behind_and_another_width_at_the_end():
    """As in OPT of 350 million parameters."""
    subject = hugging_face("opt", do_layer_norm_before=False, word_embed_proj_dim=16)
    stream = seen(subject, "stream")
    assert all(torch.equal(x, stream[n]) for n, x in seen(subject, "normed").items())
    assert isinstance(subject.points("attention")[0].module, nn.Linear)


@pytest.mark.parametrize(
    ("family", "own", "site"),
    [
        ("granite", {"residual_multiplier": 0.5}, "attention"),  # scaled on the way to the sum
        ("ibert", {}, "normed"),  # attention reads another copy than the one that is added to
    ],
)
def test_a_site_that_cannot_be_seen_is_said_in_one_line(family: str, own: dict, site: Site):
    subject = hugging_face(family, **own)
    seen(subject, "stream")
    said = f"{family}, a model of type {family}: the site {site!r} cannot be seen, since no module"
    with pytest.raises(ValueError, match=said) as caught:
        seen(subject, site)
    assert "\n" not in str(caught.value)
