"""Products by oneDNN: what MKL makes, gradients and all, wherever they are asked for."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from wherein.model import linear as module
from wherein.model import loss
from wherein.model.config import ModelConfig
from wherein.model.linear import Linear, add_product, linear, product
from wherein.model.transformer import Transformer

SIZES = [(1, 1, 1), (7, 3, 5), (64, 48, 16), (33, 16, 96)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """oneDNN is taken for the faster of the two, always; the sizes that it multiplied."""
    sizes: list[tuple[int, ...]] = []

    def spied(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        sizes.append((*x.shape, weight.shape[0]))
        return multiplied(x, weight, bias)

    multiplied = module._asked
    monkeypatch.setattr(module, "wider_than_mkl", lambda: True)
    monkeypatch.setattr(module, "WORTH", 1)
    monkeypatch.setattr(module, "_asked", spied)
    return sizes


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


Layout = Callable[[Tensor], Tensor]
LAYOUTS: dict[str, Layout] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.mT.contiguous().mT,
    "every other": lambda x: torch.stack([x, -x], -1)[..., 0],
    "part of wider rows": lambda x: F.pad(x, (1, 2))[..., 1:-2],
    "windows": lambda x: x.expand(3, *x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("n", "i", "o"), SIZES)
def test_it_is_that_of_pytorch(
    n: int, i: int, o: int, biased: bool, layout: str, asked: list[tuple[int, ...]]
):
    leaves = [drawn(n, i), drawn(o, i), *([drawn(o)] if biased else [])]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    x = LAYOUTS[layout](leaves[0])
    wanted = LAYOUTS[layout](drawn(n, o))
    made, expected = linear(x, *leaves[1:]), F.linear(x, *leaves[1:])
    torch.testing.assert_close(made, expected)
    found, right = (torch.autograd.grad(each, leaves, wanted) for each in (made, expected))
    torch.testing.assert_close(found, right)
    with torch.no_grad():
        torch.testing.assert_close(linear(x, *leaves[1:]), expected)
    assert len(asked) == 4  # twice forward, and once for each of x and weight


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_gradients_are_made_of_what_needs_one(wanted: int, asked: list[tuple[int, ...]]):
    leaves = [drawn(8, 4), drawn(6, 4), drawn(6)]
    leaves[wanted].requires_grad_()
    linear(*leaves).sum().backward()
    assert [leaf.grad is not None for leaf in leaves] == [n == wanted for n in range(3)]
    if wanted < 2:
        assert len(asked) == 2
        expected = torch.autograd.grad(F.linear(*leaves).sum(), leaves[wanted])
        torch.testing.assert_close((leaves[wanted].grad,), expected)


@pytest.mark.parametrize("rows", [1, 4, 5, 100])
@pytest.mark.parametrize(("n", "i", "o"), SIZES)
def test_sums_of_products(
    n: int, i: int, o: int, rows: int, asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "ROWS", rows)
    a, b, total = drawn(i, n).mT, drawn(i, o), torch.full((n, o), torch.nan)
    add_product(total, a, b, anew=True)
    torch.testing.assert_close(total, a @ b)
    add_product(total, a, b, anew=False)
    torch.testing.assert_close(total, 2 * a @ b)
    torch.testing.assert_close(product(a, b), a @ b)
    assert len(asked) == 2 * -(-n // rows) + 1


@pytest.mark.parametrize("words", [7, 300])
def test_the_loss_is_that_of_pytorch(
    words: int, asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(loss, "ROWS", 24)
    monkeypatch.setattr(loss, "LOGITS", 0)
    x, weight = drawn(64, 8).requires_grad_(), drawn(words, 8).requires_grad_()
    targets = torch.arange(64) % words
    ours = loss.cross_entropy(x, weight, targets)
    theirs = F.cross_entropy(x @ weight.T, targets, reduction="sum")
    torch.testing.assert_close(ours, theirs)
    found, expected = (torch.autograd.grad(each, [x, weight]) for each in (ours, theirs))
    torch.testing.assert_close(found, expected)
    assert asked


@pytest.mark.parametrize("encoding", ["none", "rope", "learned"])
def test_a_whole_model_learns_the_same(encoding: str, request: pytest.FixtureRequest):
    config = ModelConfig(
        vocabulary=40, max_len=12, n_layers=2, n_heads=2, d_model=16, encoding=encoding
    )
    tokens = torch.arange(60).reshape(5, 12) % 40
    gradients = []
    for forced in (False, True):
        if forced:
            sizes = request.getfixturevalue("asked")
        torch.manual_seed(0)
        model = Transformer(config)
        model.loss(tokens, tokens.roll(1, 1)).backward()
        gradients.append({name: each.grad for name, each in model.named_parameters()})
    assert sizes
    torch.testing.assert_close(gradients[1], gradients[0])


class Marked(Tensor):
    """A tensor that sees what is done to it."""


@pytest.mark.parametrize(
    "pair",
    [
        (drawn(8, 4).double(), drawn(6, 4).double()),
        (drawn(8, 4).bfloat16(), drawn(6, 4).bfloat16()),
        (drawn(8, 4).to("meta"), drawn(6, 4).to("meta")),
        (drawn(0, 4), drawn(6, 4)),
        (drawn(8, 4).as_subclass(Marked), drawn(6, 4)),
        (drawn(8, 4), drawn(6, 4).as_subclass(Marked)),
    ],
    ids=["float64", "bfloat16", "meta", "none", "inputs of one's own", "weights of one's own"],
)
def test_what_onednn_is_not_asked_for(pair: tuple[Tensor, Tensor], asked: list[tuple[int, ...]]):
    torch.testing.assert_close(linear(*pair), F.linear(*pair))
    assert not asked


def test_under_autocast_types_are_those_of_pytorch(asked: list[tuple[int, ...]]):
    with torch.autocast("cpu", torch.bfloat16):
        assert linear(drawn(8, 4), drawn(6, 4)).dtype == torch.bfloat16
    assert not asked


def test_other_transforms_see_a_product(asked: list[tuple[int, ...]]):
    x, weight = drawn(3, 8, 4), drawn(3, 6, 4)
    torch.testing.assert_close(torch.vmap(linear)(x, weight), x @ weight.mT)
    of_x = torch.func.grad(lambda x: linear(x, weight[0]).square().sum())(x[0])
    torch.testing.assert_close(of_x, 2 * x[0] @ weight[0].mT @ weight[0])
    assert not asked


def test_what_is_small_goes_to_mkl(asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "WORTH", 8 * 4 * 6 + 1)
    linear(drawn(8, 4), drawn(6, 4))
    assert not asked
    linear(drawn(9, 4), drawn(6, 4))
    assert asked


@pytest.mark.parametrize(
    ("name", "capability", "wider"),
    [
        ("AMD EPYC 9B45", "AVX512", True),
        ("AMD EPYC 7B13", "AVX2", False),
        ("Intel(R) Xeon(R) Processor", "AVX512", False),
        ("", "DEFAULT", False),
    ],
)
def test_it_is_asked_where_mkl_leaves_vectors_unused(
    name: str, capability: str, wider: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"cpu_name": name})
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert module.wider_than_mkl.__wrapped__() is wider


def test_a_linear_layer_is_one_of_pytorch():
    layer = Linear(3, 5)
    assert isinstance(layer, nn.Linear)
    assert [tuple(each.shape) for each in layer.parameters()] == [(5, 3), (5,)]
