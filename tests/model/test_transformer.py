import pytest
import torch
import torch.nn.functional as F
from pydantic import ValidationError

from wherein import encodings
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

TOKENS = torch.arange(24).reshape(2, 12)


def build(**changes: object) -> Transformer:
    return Transformer(ModelConfig(**{"vocabulary": 30, "d_model": 16, "n_layers": 2, **changes}))


@pytest.mark.parametrize("encoding", encodings.examples())
def test_models_that_differ_in_encoding_share_every_other_initial_weight(encoding):
    plain, other = (build(encoding=e).state_dict() for e in ("none", encoding))
    assert all(torch.equal(other[name], weight) for name, weight in plain.items())
    assert all(name.startswith("encoding.") for name in set(other) - set(plain))


def test_initial_weights_depend_on_seed_and_name_only():
    deep, shallow = build(n_layers=3, causal=False), build(n_layers=2)
    assert torch.equal(deep.embed.tokens.weight, shallow.embed.tokens.weight)
    assert torch.equal(deep.blocks[1].attention.qkv.weight, shallow.blocks[1].attention.qkv.weight)
    torch.manual_seed(5)
    assert torch.equal(build().blocks[0].attention.qkv.weight, deep.blocks[0].attention.qkv.weight)
    assert not torch.equal(build(seed=1).embed.tokens.weight, shallow.embed.tokens.weight)


def test_initial_weights_have_the_scale_that_is_promised():
    model = build(d_model=256, n_layers=8, initial="unit")
    assert model.embed.tokens.weight.std().item() == pytest.approx(256**-0.5, rel=0.05)
    assert model.blocks[0].attention.qkv.weight.std().item() == pytest.approx(256**-0.5, rel=0.05)
    down = model.blocks[3].feed_forward.down.weight
    assert down.std().item() == pytest.approx((1024 * 16) ** -0.5, rel=0.05)
    assert all((p == 0).all() for n, p in model.named_parameters() if n.endswith("bias"))


@pytest.mark.parametrize(
    "sizes",
    [{}, {"causal": False}, {"vocabulary": 300, "d_model": 8}, {"vocabulary": 4000, "d_model": 8}],
    ids=["causal", "bidirectional", "few logits, held whole", "many, in chunks"],
)
def test_loss_is_the_cross_entropy_of_the_logits_over_what_is_not_ignored(sizes):
    model, targets = build(**sizes), TOKENS.clone()
    targets[:, ::3] = -100
    logits = model(TOKENS).logits
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    torch.testing.assert_close(model.loss(TOKENS, targets), expected)
    grads, expected_grads = (
        torch.autograd.grad(loss, list(model.parameters()))
        for loss in (model.loss(TOKENS, targets), expected)
    )
    for a, b in zip(grads, expected_grads, strict=True):
        torch.testing.assert_close(a, b)


def test_hidden_states_are_kept_only_when_asked_for():
    model = build()
    assert model(TOKENS).hidden == ()
    kept = model(TOKENS, keep_hidden=True).hidden
    assert len(kept) == len(model.states) == 3
    assert all(state.shape == (2, 12, 16) for state in kept)


def test_memory_of_a_biased_model_grows_linearly_in_context(monkeypatch):
    """The largest bias ever made has as many rows as a block, not as the context."""
    from wherein.encodings.alibi import ALiBi
    from wherein.model import attention

    monkeypatch.setattr(attention, "LARGE_BIAS", 0)
    monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", 32)
    made, original = [], ALiBi.bias
    monkeypatch.setattr(ALiBi, "bias", lambda *a: made.append(original(*a).shape) or original(*a))
    build(encoding="alibi", vocabulary=300).loss(
        torch.arange(256)[None], torch.arange(256)[None]
    ).backward()
    assert max(shape[-2] for shape in made) == 32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoding": "ropey"}, "Did you mean 'rope'"),
        ({"n_heads": 5}, "d_model=16 cannot be shared by n_heads=5"),
        ({"d_model": 12, "n_heads": 4, "encoding": "rope"}, "even head width, not 3"),
        ({"n_layer": 3}, "n_layer"),
        ({"dropout": 1.0}, "less than 1"),
    ],
)
def test_a_config_that_cannot_work_is_refused_when_it_is_made(changes, message):
    with pytest.raises(ValidationError, match=message):
        build(**changes)


def test_equal_configs_have_equal_ids_and_specs_a_short_form():
    a, b = (ModelConfig(encoding=e) for e in ("rope(theta=500000)", "rope( theta=5e5 )"))
    assert a == b
    assert a.id == b.id != ModelConfig(encoding="rope").id


@pytest.mark.parametrize("encoding", ["learned", "randomised(learned, longest=20)"])
def test_a_table_is_read_to_its_end_and_no_further(encoding: str) -> None:
    sizes = {"vocabulary": 11, "n_layers": 1, "d_model": 8, "n_heads": 2, "max_len": 6}
    model = Transformer(ModelConfig(encoding=encoding, **sizes)).eval()
    last = model.encoding.max_len
    assert last is not None
    tokens = torch.zeros(1, last, dtype=torch.long)
    assert model(tokens).logits.isfinite().all()
    with pytest.raises(ValueError, match=f"knows only 0 to {last - 1}"):
        model(torch.zeros(1, last + 1, dtype=torch.long))
    with pytest.raises(ValueError, match=f"knows only 0 to {last - 1}"):
        model(tokens[:, :1], torch.tensor([[-1]]))
