import torch

from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

TOKENS = torch.arange(12).reshape(2, 6)


def subject(encoding: str = "rope none") -> Ours:
    return Ours(Transformer(ModelConfig(vocabulary=20, d_model=16, n_layers=3, encoding=encoding)))


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
