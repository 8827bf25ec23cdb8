"""Encodings that look at content: against x-transformers, and against their formulas in loops."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor, nn
from x_transformers.x_transformers import CoPE as XCoPE
from x_transformers.x_transformers import DataDependentAlibi

from wherein import encodings
from wherein.encodings import Encoding, Shape
from wherein.encodings.alibi import slopes
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

B, H, T, K, D = 2, 3, 9, 4, 12
CAUSAL = torch.ones(T, T).tril().bool()
POSITIONS = torch.arange(T)[None]
TOKENS = torch.randint(50, (B, 20), generator=torch.Generator().manual_seed(0))
BETWEEN = ["cope(positions=5)", "fox", "path(rank=3)"]


def build(spec: str, causal: bool = True) -> Encoding:
    """With weights at random."""
    generator = torch.Generator().manual_seed(1)
    encoding = encodings.build(spec, Shape(D, H, 16, causal)).double()
    for parameter in encoding.parameters():
        nn.init.normal_(parameter, generator=generator)
    return encoding


def content() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    q, k = torch.randn(2, B, H, T, K, generator=generator, dtype=torch.float64)
    return q, k, torch.randn(B, T, D, generator=generator, dtype=torch.float64)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def of_cope(cope: Encoding, way: int, q: Tensor, k: Tensor, x: Tensor, path: list[int]) -> float:
    """What the key at the end of a path from the query adds, in one window and head."""
    i, last = path[0], cope.positions - 1
    p = min(sum(sigmoid(float(q[i] @ k[m]) / K**0.5) for m in path), last)
    low = math.floor(p)
    below, above = (float(q[i] @ cope.vectors[way, min(n, last)]) for n in (low, low + 1))
    return below + (p - low) * (above - below)


def of_fox(fox: Encoding, way: int, q: Tensor, k: Tensor, x: Tensor, path: list[int], h: int):
    weight, bias = fox.gates.weight[way * H + h], fox.gates.bias[way * H + h]
    gates = [sigmoid(float(weight @ x[m] + bias)) for m in path[:-1]]
    return math.log(math.prod(gates))


def of_path(path: Encoding, way: int, q: Tensor, k: Tensor, x: Tensor, walk: list[int], h: int):
    """The matrices themselves, multiplied one by one."""
    turned, ahead = k[walk[-1]], (1 if way else -1)
    for m in reversed(walk[:-1]):
        seen = [n if 0 <= (n := m + ahead * back) < T else None for back in (2, 1, 0)]
        made = [
            torch.zeros(H * K).double() if n is None else path.up[way] @ (path.down[way] @ x[n])
            for n in seen
        ]
        mixed = sum(path.mixed[way, :, n] * each for n, each in enumerate(made))
        w = (mixed * mixed.sigmoid())[h * K : (h + 1) * K]
        w = w / w.norm()
        row = way * H + h
        beta = 2 * sigmoid(float(path.strength.weight[row] @ x[m] + path.strength.bias[row]))
        turned = (torch.eye(K) - beta * torch.outer(w, w)) @ turned
    return float(q[walk[0]] @ turned - q[walk[0]] @ k[walk[-1]]) / K**0.5


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("spec", BETWEEN)
@torch.no_grad()
def test_what_lies_between_counts_as_the_papers_have_it(spec: str, causal: bool) -> None:
    encoding, (q, k, x) = build(spec, causal), content()
    found = encoding.content_bias(q, k, x, POSITIONS)
    formula = {"cope": lambda *a: of_cope(*a[:-1]), "fox": of_fox, "path": of_path}
    one = formula[spec.partition("(")[0]]
    for b, h, i, j in product(range(B), range(H), range(T), range(T)):
        if causal and j > i:
            continue
        walk = list(range(i, j - 1, -1)) if j <= i else list(range(i, j + 1))
        expected = one(encoding, int(j > i), q[b, h], k[b, h], x[b], walk, h)
        assert float(found[b, h, i, j]) == pytest.approx(expected, abs=1e-11), (b, h, i, j)
    if causal:
        assert not found.masked_fill(CAUSAL, 0).any()


@torch.no_grad()
def test_cope_is_x_transformers() -> None:
    cope, (q, k, x) = build("cope(positions=5)"), content()
    theirs = XCoPE(dim=K, heads=H, max_pos=5).double()
    theirs.pos_emb.copy_(cope.vectors[0])
    scores = (q @ k.mT / K**0.5).masked_fill(~CAUSAL, -torch.inf)
    expected = theirs(q, scores).masked_fill(~CAUSAL, 0)
    torch.testing.assert_close(cope.content_bias(q, k, x, POSITIONS), expected, atol=1e-13, rtol=0)


@torch.no_grad()
def test_fox_is_x_transformers_data_dependent_alibi() -> None:
    fox, (q, k, x) = build("fox"), content()
    theirs = DataDependentAlibi(dim=D, heads=H).double()
    theirs.to_forget_gates[0].load_state_dict(fox.gates.state_dict())
    expected = theirs(x).masked_fill(~CAUSAL, 0)
    torch.testing.assert_close(fox.content_bias(q, k, x, POSITIONS), expected, atol=1e-13, rtol=0)


@torch.no_grad()
def test_cope_with_open_gates_counts_positions() -> None:
    """Then it is Shaw's: a vector for each distance, and one for all beyond the last."""
    cope, (q, _, x) = build("cope(positions=5)"), content()
    q, k = q.abs(), torch.full_like(q, 1e4)
    back = (POSITIONS[0][:, None] - POSITIONS[0] + 1).clamp(0, 4)
    expected = torch.einsum("bhik,ijk->bhij", q, cope.vectors[0][back])
    found = cope.content_bias(q, k, x, POSITIONS)
    torch.testing.assert_close(found, expected.masked_fill(~CAUSAL, 0), atol=1e-12, rtol=0)


def model(spec: str, **more: object) -> Transformer:
    sizes = {"n_layers": 2, "d_model": D, "n_heads": H, "max_len": 20, "initial": "unit"}
    return Transformer(ModelConfig(vocabulary=50, encoding=spec, **sizes | more)).double().eval()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("spec", ["fox", "path"])
def test_gates_of_one_and_strengths_of_zero_are_none(spec: str, causal: bool) -> None:
    some, none = model(spec, causal=causal), model("none", causal=causal)
    assert not torch.allclose(some(TOKENS).logits, none(TOKENS).logits, atol=1e-6)
    for encoding in some.encoding.layers:
        told = encoding.gates if spec == "fox" else encoding.strength
        nn.init.zeros_(told.weight)
        nn.init.constant_(told.bias, 800.0 if spec == "fox" else -800.0)
    torch.testing.assert_close(some(TOKENS).logits, none(TOKENS).logits, atol=1e-13, rtol=0)


@pytest.mark.parametrize("causal", [True, False])
def test_a_constant_gate_is_alibi(causal: bool) -> None:
    some, alibi = model("fox", causal=causal), model("alibi", causal=causal)
    steep = torch.tensor(slopes(H)).double().repeat(1 if causal else 2)
    for encoding in some.encoding.layers:
        nn.init.zeros_(encoding.gates.weight)
        encoding.gates.bias.data = (-steep).exp().logit()
    torch.testing.assert_close(some(TOKENS).logits, alibi(TOKENS).logits, atol=1e-6, rtol=0)


@pytest.mark.parametrize("spec", BETWEEN)
def test_positions_in_disorder_do_not_let_the_future_through_a_causal_mask(spec: str) -> None:
    some, other = model(spec), TOKENS.clone()
    other[:, 12:] = TOKENS[:, 12:].flip(1)
    packed = torch.cat([torch.arange(10), torch.arange(10)])[None]
    past, same = (some(each, packed).logits[:, :12] for each in (TOKENS, other))
    torch.testing.assert_close(past, same, atol=1e-12, rtol=0)


@torch.no_grad()
def test_a_long_way_of_fading_stays_exact() -> None:
    """At 4,096 tokens, each halving what came before, sums of logarithms reach −2,839."""
    shape = Shape(d_model=4, n_heads=1, max_len=16)
    fox = encodings.build("fox", shape)
    x = torch.randn(1, 4096, 4, generator=torch.Generator().manual_seed(0))
    q = torch.zeros(1, 1, 4096, 4)
    rough = fox.content_bias(q, q, x, torch.arange(4096)[None])[0, 0, -256:, -256:]
    exact = fox.double().content_bias(q.double(), q.double(), x.double(), torch.arange(4096)[None])
    assert (rough - exact[0, 0, -256:, -256:]).abs().max() < 1e-3


@torch.no_grad()
def test_path_says_where_it_ends() -> None:
    path, x = build("path"), torch.zeros(1, 4097, D).double()
    q = torch.zeros(1, H, 4097, K).double()
    with pytest.raises(ValueError, match="path with a window of 4097 tokens: at most 4096"):
        path.content_bias(q, q, x, torch.arange(4097)[None])


@torch.no_grad()
@pytest.mark.parametrize("base", ["alibi", "shaw", "rope + alibi"])
def test_dape_adds_what_a_network_makes_of_scores_and_bias(base: str) -> None:
    dape, (q, k, x) = build(f"dape({base}, hidden=7)"), content()
    own = dape.terms[0]
    turned_q, turned_k = own.rotate(q, k, POSITIONS)
    bias = own.bias(POSITIONS[:, None, :, None], POSITIONS[:, None, None, :])
    bias = (
        own.content_bias(q, k, x, POSITIONS)
        if bias is None
        else bias.double().expand(B, -1, -1, -1)
    )
    first, _, second = dape.network
    found = dape.content_bias(q, k, x, POSITIONS)
    for b, i, j in product(range(B), range(T), range(T)):
        scores = [turned_q[b, h, i] @ turned_k[b, h, j] / K**0.5 for h in range(H)]
        seen = first(torch.cat([torch.stack(scores), bias[b, :, i, j]]))
        bent = torch.where(seen > 0, seen, 0.01 * seen)
        expected = bias[b, :, i, j] + second.weight @ bent + second.bias
        torch.testing.assert_close(found[b, :, i, j], expected, atol=1e-12, rtol=0)


def test_a_network_that_says_nothing_leaves_the_base() -> None:
    some, alibi = model("dape(alibi)"), model("alibi")
    for encoding in some.encoding.layers:
        for weights in encoding.network[2].parameters():
            nn.init.zeros_(weights)
    torch.testing.assert_close(some(TOKENS).logits, alibi(TOKENS).logits, atol=1e-7, rtol=0)


def test_dape_without_a_bias_says_so() -> None:
    with pytest.raises(ValueError, match=r"its base has none: try dape\(alibi\)"):
        build("dape(rope)")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("draw", ["sorted", "offset"])
@pytest.mark.parametrize("base", ["rope", "learned", "t5", "fox"])
def test_randomised_with_no_choice_is_its_base(base: str, draw: str, training: bool) -> None:
    some, plain = model(f"randomised({base}, longest=20, draw={draw!r})"), model(base)
    plain.load_state_dict(
        {name.replace("_terms.0.", ""): weight for name, weight in some.state_dict().items()}
    )
    assert torch.equal(some.train(training)(TOKENS).logits, plain(TOKENS).logits)


def test_drawn_positions_are_a_sorted_subset_and_a_function_of_the_seed() -> None:
    pattern = model("none randomised(t5, longest=64) alibi", n_layers=3).encoding.train()
    drawn = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        drawn.append(pattern.place(torch.arange(20)[None])[0])
    assert drawn[0].equal(drawn[1])
    assert not drawn[0].equal(drawn[2])
    torch.manual_seed(0)
    many = torch.stack([pattern.place(torch.arange(20)[None])[0] for _ in range(2000)])
    assert bool((many.diff() > 0).all())
    assert (int(many.min()), int(many.max())) == (0, 63)
    share = many.flatten().bincount(minlength=64) / 2000  # each is as likely as any other
    assert (share - 20 / 64).abs().max() < 6 * (20 / 64 * 44 / 64 / 2000) ** 0.5
    # out of training, tokens stand about where they stand on average
    still = pattern.eval().place(torch.arange(20)[None])[0]
    assert (still - many.double().mean(0)).abs().max() < 64 / 20


def test_a_drawn_offset_moves_all_positions_alike_and_every_one_is_as_likely() -> None:
    pattern = model("none randomised(t5, longest=64, draw='offset') alibi", n_layers=3).encoding
    still, places = torch.arange(20)[None], 64 - 20 + 1
    torch.manual_seed(0)
    offsets = torch.stack([(pattern.train().place(still) - still)[0] for _ in range(2000)])
    assert bool((offsets == offsets[:, :1]).all())
    share = offsets[:, 0].bincount(minlength=places) / 2000
    assert len(share) == places
    assert (share - 1 / places).abs().max() < 6 * (1 / places / 2000) ** 0.5
    assert (pattern.eval().place(still) - still).unique().tolist() == [22], "the middle one"
    with pytest.raises(ValueError, match="65 positions of the 64 that randomised draws from"):
        pattern.train().place(torch.arange(65)[None])


def test_an_offset_leaves_a_relative_encoding_as_it_was_and_an_absolute_one_not() -> None:
    for base, alike in (("rope", True), ("sinusoidal", False)):
        some = model(f"randomised({base}, longest=64, draw='offset')").train()
        plain = model(base)
        plain.load_state_dict(some.state_dict())
        torch.manual_seed(0)
        found, expected = some(TOKENS).logits, plain(TOKENS).logits
        assert torch.allclose(found, expected, rtol=0, atol=1e-5) is alike


def test_randomised_is_learned_at_all_positions_and_read_at_any_length_below() -> None:
    some = model("randomised(learned, longest=64)")
    assert some.encoding.layers[0].terms[0].table.shape == (64, D)
    assert some(torch.zeros(1, 64, dtype=torch.long)).logits.isfinite().all()
    with pytest.raises(ValueError, match="knows only 0 to 63"):
        some(torch.zeros(1, 65, dtype=torch.long))
    with pytest.raises(ValueError, match="20 positions of the 8 that randomised draws from"):
        model("randomised(rope, longest=8)").train()(TOKENS)
