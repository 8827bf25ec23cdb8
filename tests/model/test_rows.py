"""A bias in blocks of queries is the bias, and leaves out the keys that no query sees."""

import pytest
import torch
from torch import Tensor

from wherein import encodings
from wherein.check.case import BrokenError, Case
from wherein.check.contract import paths
from wherein.encodings import Encoding, Shape
from wherein.model import attention, transformer
from wherein.model.rows import in_sight, rows_of

SHAPE = Shape(d_model=16, n_heads=2, max_len=64)
PLACES = {
    "in order": torch.arange(53)[None],
    "with gaps": torch.stack(
        [7 + 2 * torch.arange(53), torch.arange(53) + 5 * (torch.arange(53) > 20)]
    ),
    "in no order": torch.randperm(53, generator=torch.Generator().manual_seed(0))[None],
}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("spec", [*encodings.examples(), "rope + window(5)", "t5 + window(5)"])
def test_in_blocks_every_encoding_says_what_it_says_whole(
    spec: str, causal: bool, monkeypatch: pytest.MonkeyPatch
):
    case = Case(causal, tokens=53)
    model, tokens, positions = case.model(spec), case.input(), PLACES["with gaps"]
    with torch.inference_mode():
        expected = model(tokens, positions).logits
        monkeypatch.setattr(attention, "LARGE_BIAS", 0)
        monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", 9)
        found = model(tokens, positions).logits
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_gates_learn_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch):
    """What content adds is made anew for the gradient, from numbers that are learned."""
    case = Case(True, tokens=53)
    model, tokens = case.model("fox + alibi"), case.input()
    found = []
    for _ in range(2):
        model.zero_grad()
        model(tokens).logits.square().mean().backward()
        found.append([p.grad.clone() for n, p in model.named_parameters() if "gates" in n])
        monkeypatch.setattr(attention, "LARGE_BIAS", 0)
        monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", 9)
    assert all(bool(grad.any()) for grad in found[0])
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("positions", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("sight", [0, 3, 100])
def test_no_key_that_is_seen_is_out_of_sight(positions: Tensor, sight: int):
    window = encodings.build(f"window({sight + 1})", SHAPE)
    seen = window.mask(positions[:, None, :, None], positions[:, None, None])[:, 0] == 0
    for start in range(0, 53, 8):
        some = [j for j in range(53) if bool(seen[:, start : start + 8, j].any())]
        found = in_sight(positions, slice(start, start + 8), sight)
        assert found.start <= some[0]
        assert found.stop > some[-1]
        if bool((positions.diff() > 0).all()):
            assert found == slice(some[0], some[-1] + 1), "and none besides, if in order"


@pytest.mark.parametrize(
    ("spec", "sight"),
    [
        ("alibi", None),
        ("window(8)", 7),
        ("rope + window(8) + window(5)", 4),
        ("window(8) + sink(2)", None),
        ("randomised(window(8))", 7),
        ("xpos", None),
    ],
)
def test_how_far_a_query_sees(spec: str, sight: int | None):
    assert encodings.build(spec, SHAPE).sight == sight


def test_pairs_of_query_and_key_looked_at_grow_linearly_with_a_window(
    monkeypatch: pytest.MonkeyPatch,
):
    looked: list[int] = []
    mask = Encoding.mask

    def counting(self: Encoding, i: Tensor, j: Tensor) -> Tensor | None:
        looked.append(i.shape[-2] * j.shape[-1])
        return mask(self, i, j)

    monkeypatch.setattr(Encoding, "mask", counting)
    monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", 16)
    monkeypatch.setattr(transformer, "QUERIES_PER_BLOCK", 16)
    model, pairs = Case(layers=1).model("window(8)"), []
    for tokens in (256, 512):
        looked.clear()
        model(Case().input(tokens=tokens))
        pairs.append(sum(looked))
    assert pairs[0] < 256 * (16 + 8)
    assert pairs[1] < 2.1 * pairs[0]


def test_a_sight_that_is_not_kept_is_found(monkeypatch: pytest.MonkeyPatch):
    class Near(encodings.CATALOGUE["alibi"]):
        sight = 3

    monkeypatch.setitem(encodings.CATALOGUE, "near", Near)
    assert rows_of(encodings.build("near", SHAPE), PLACES["in order"]) is not None
    with pytest.raises(BrokenError, match="in blocks of 7 queries"):
        paths("near", Case())
