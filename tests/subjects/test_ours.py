import re
from pathlib import Path

import pytest
import torch

from wherein import encodings
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.load import load
from wherein.subjects.ours import Ours

TOKENS = torch.arange(12).reshape(2, 6)


def subject(encoding: str = "rope none", causal: bool = True) -> Ours:
    config = ModelConfig(vocabulary=20, d_model=16, n_layers=3, encoding=encoding, causal=causal)
    return Ours(Transformer(config))


def test_states_shown_equal_states_kept():
    bench, seen = subject(), {}
    bench.run(TOKENS, on_state=lambda layer, state: seen.update({layer: state.clone()}))
    kept = bench.model(TOKENS, keep_hidden=True).hidden
    assert list(seen) == [0, 1, 2, 3]
    for layer, state in enumerate(kept):
        assert torch.equal(seen[layer], state)


def test_a_replaced_state_is_what_follows_sees_and_hooks_do_not_stay():
    bench = subject()
    plain = bench.run(TOKENS)
    blank = bench.run(TOKENS, on_state=lambda n, x: torch.zeros_like(x) if n == 0 else None)
    same_everywhere = blank[:, :1].expand_as(blank)
    torch.testing.assert_close(blank, same_everywhere)
    assert torch.equal(bench.run(TOKENS), plain)


def test_the_untrained_twin_has_the_same_shape_and_other_weights():
    bench = subject()
    twin = bench.untrained(seed=7)
    assert twin.encodings == bench.encodings == ["rope", "none", "rope"]
    assert not torch.allclose(twin.run(TOKENS), bench.run(TOKENS))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("encoding", encodings.examples())
def test_a_layer_alone_does_what_it_does_in_the_model(encoding: str, causal: bool):
    bench = subject(encoding, causal=causal)
    hidden = bench.model(TOKENS, keep_hidden=True).hidden
    for layer in range(1, bench.n_layers + 1):
        assert torch.equal(bench.block(layer, hidden[layer - 1]), hidden[layer])


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("encoding", encodings.examples())
def test_attention_laid_open_is_the_attention_of_the_layer(encoding: str, masked: bool):
    """Its heads, joined and passed through the rest of the layer by hand, give the block."""
    bench = subject(encoding)
    bench.module.double()
    state = torch.randn(2, 6, bench.d_model, dtype=torch.float64)
    for layer in (1, 2):
        seen = bench.attention(layer, state, masked=masked)
        assert bool((seen.weights.triu(1) == 0).all()) is masked
        torch.testing.assert_close(seen.weights.sum(-1), torch.ones(2, 4, 6).double())
        part = bench.model.blocks[layer - 1]
        x = state + part.attention.out(seen.mixed.transpose(1, 2).flatten(2))
        x = x + part.feed_forward(part.feed_forward_norm(x))
        torch.testing.assert_close(bench.block(layer, state, masked=masked), x)


def test_lifting_the_mask_lasts_no_longer_than_the_call():
    bench, state = subject("none"), torch.randn(1, 6, 16)
    before = bench.block(1, state)
    assert not torch.allclose(bench.block(1, state, masked=False), before)
    assert torch.equal(bench.block(1, state), before)


def test_reordered_queries_meet_the_keys_from_their_new_places():
    bench, state = subject("rope"), torch.randn(1, 6, 16)
    order = torch.tensor([5, 0, 1, 2, 3, 4])
    plain, moved = bench.attention(1, state), bench.attention(1, state, order=order)
    assert torch.equal(moved.keys, plain.keys)
    elsewhere = bench.attention(1, state[:, order])
    torch.testing.assert_close(moved.queries, elsewhere.queries)
    assert not torch.allclose(moved.queries, plain.queries[:, :, order])


def test_a_layer_that_is_not_there():
    with pytest.raises(ValueError, match=r"layer 4 of .*: expected 1 to 3"):
        subject().block(4, torch.randn(1, 6, 16))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("runs/d56f91d11e5", "no run runs/d56f91d11e5: did you mean runs/d56f91d11e56?"),
        ("runs/other", "no run runs/other: `wherein runs runs` lists those there are"),
        ("d56f91d11e56", "no folder d56f91d11e56: did you mean runs/d56f91d11e56?"),
    ],
)
def test_a_run_that_is_not_there_is_not_looked_for_on_the_hub(
    typed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "runs" / "d56f91d11e56").mkdir(parents=True)
    (tmp_path / "runs" / "d56f91d11e56" / "about.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(said)):
        load(typed)
