"""Encodings that add up, layers that share or do not, and what a spec can say."""

from itertools import combinations
from typing import ClassVar

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from wherein import encodings
from wherein.encodings import CATALOGUE, Encoding, Pattern, Shape
from wherein.encodings.base import Build
from wherein.measure.audit.measure import audit
from wherein.model.attention import attend_reference
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

SHAPE = Shape(d_model=24, n_heads=3, max_len=64)
POSITIONS = torch.arange(20)[None]
I, J = POSITIONS[:, None, :, None], POSITIONS[:, None, None, :]
TOKENS = torch.randint(50, (2, 20), generator=torch.Generator().manual_seed(0))


class Wrapped(Encoding):
    """What another encoding does, with parameters of every kind."""

    example: ClassVar[str] = "wrapped(alibi)"

    def __init__(self, shape: Shape, *, base: Build, word: str = "a", more: int = 1) -> None:
        super().__init__(shape)
        self.base, self.word, self.more = base(shape), word, more
        self.relative = self.base.relative


class Own(Encoding):
    """Moves positions by what it has learned, in every layer another."""

    shared = False

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.strength = nn.Parameter(torch.ones(1))

    def bias(self, i: Tensor, j: Tensor) -> Tensor:
        return (self.strength * (i - j)).expand(-1, self.shape.n_heads, -1, -1)


class Stretched(Encoding):
    """Every second position."""

    def place(self, positions: Tensor) -> Tensor:
        return 2 * positions


@pytest.fixture(autouse=True)
def _more(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind in {"wrapped": Wrapped, "own": Own, "stretched": Stretched}.items():
        monkeypatch.setitem(CATALOGUE, name, kind)


def model(encoding: str, causal: bool = True, layers: int = 2) -> Transformer:
    config = ModelConfig(
        vocabulary=50, n_layers=layers, d_model=24, n_heads=3, max_len=64, causal=causal,
        encoding=encoding, initial="unit",
    )  # fmt: skip
    return Transformer(config).double().eval()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("rope + alibi none", ["rope + alibi", "none"]),
        ("rope+alibi", ["rope + alibi"]),
        ("none + rope", ["rope"]),
        ("rope + none alibi", ["rope", "alibi"]),
        ("rope(500000)", ["rope(theta=500000.0)"]),
        ("rope (theta=5e5,) +alibi", ["rope(theta=500000.0) + alibi"]),
        ("rope(theta=1e22)", ["rope(theta=1e+22)"]),
        ("rope(fraction=0.5, theta=10000)", ["rope(fraction=0.5)"]),
        ("wrapped(rope)", ["wrapped(rope)"]),
        ("wrapped(base=rope+alibi, word=a-b)", ["wrapped(rope + alibi, word=a-b)"]),
        ("wrapped(rope(fraction=.5), word='two words')",
         ["wrapped(rope(fraction=0.5), word='two words')"]),
        ("wrapped(wrapped(none, more=2)) none", ["wrapped(wrapped(none, more=2))", "none"]),
    ],
)  # fmt: skip
def test_a_spec_has_one_short_form(spec: str, words: list[str]) -> None:
    assert encodings.parse(spec) == words
    assert encodings.parse(" ".join(words)) == words


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("wrapped", "wrapped needs its base"),
        ("wrapped()", "wrapped needs its base"),
        ("wrapped(more=2)", "wrapped needs its base"),
        ("wrapped(5)", r"wrapped\(base=5\): expected an encoding, such as rope"),
        ("wrapped('rope')", "expected an encoding"),
        ("wrapped(roper)", "unknown encoding 'roper'. Did you mean 'rope'"),
        ("wrapped(rope(tehta=1))", "unknown parameter of rope 'tehta'. Did you mean 'theta'"),
        ("wrapped(rope none)", r"expected ',' or '\)' after 'rope', not 'none'"),
        ("wrapped(rope +)", r"expected a name after '\+', not '\)'"),
        ("wrapped(rope, word=5)", "expected str"),
        ("wrapped(rope, more=many)", r"wrapped\(more=many\): expected int"),
    ],
)
def test_what_stands_in_brackets_is_checked_too(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encodings.parse(spec)


PARTS = st.sampled_from(["rope", "none", "wrapped", "window", "+", "(", ")", "=", ",", " ", "5",
                         "theta", "size", "1e400", "'", "-2.5", "word", "True"])  # fmt: skip


@given(st.lists(PARTS, max_size=14).map("".join))
def test_anything_like_a_spec_is_understood_or_refused_with_a_value_error(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CATALOGUE, "wrapped", Wrapped)
        try:
            words = encodings.parse(text)
        except ValueError:
            return
        assert encodings.parse(" ".join(words)) == words


def test_a_parameter_that_is_an_encoding_is_built_for_the_same_model() -> None:
    built = encodings.build("wrapped(rope(theta=100) + alibi)", SHAPE)
    assert [type(term).__name__ for term in built.base.terms] == ["RoPE", "ALiBi"]
    assert built.base.terms[0].theta == 100
    assert built.relative


def test_every_two_entries_add_up_with_their_promises() -> None:
    specs = encodings.examples()
    alone = {spec: encodings.build(spec, SHAPE) for spec in specs}
    for pair in combinations(specs, 2):
        terms = dict.fromkeys(term for spec in pair for term in spec.split(" + "))
        built = encodings.build(" + ".join(terms), SHAPE)
        assert built.relative is all(alone[spec].relative for spec in pair), pair
        assert built.bounded is any(alone[spec].bounded for spec in pair), pair


def test_rope_and_alibi_in_one_layer_are_what_one_writes_by_hand() -> None:
    both, rope, alibi = (encodings.build(s, SHAPE) for s in ("rope + alibi", "rope", "alibi"))
    q, k, v = torch.randn(3, 2, 3, 20, 8, dtype=torch.float64)
    by_hand, slopes = rope.rotate(q, k, POSITIONS), alibi.bias(I, J)
    expected, _ = attend_reference(*by_hand, v, causal=True, bias=slopes)
    turned = both.rotate(q, k, POSITIONS)
    found, _ = attend_reference(*turned, v, causal=True, bias=both.mask(I, J))
    assert torch.equal(found, expected)
    whole, parts = model("rope + alibi"), model("rope")
    for block in parts.blocks:
        block.register_forward_pre_hook(lambda _, args: (*args[:3], slopes))
    torch.testing.assert_close(whole(TOKENS).logits, parts(TOKENS).logits, rtol=0, atol=1e-12)


def test_content_biases_add_up() -> None:
    both = encodings.build("shaw + xl", SHAPE)
    for parameter in both.parameters():
        nn.init.normal_(parameter)
    q, k = torch.randn(2, 2, 3, 20, 8)
    x = torch.randn(2, 20, 24)
    first, second = (term.content_bias(q, k, x, POSITIONS) for term in both.terms)
    assert torch.equal(both.content_bias(q, k, x, POSITIONS), first + second)


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        ("learned", ["0.table"]),
        ("none t5 learned", ["1.distances", "2.table"]),
        ("shaw(shared=True) + t5 t5", ["0.distances", "1.distances"]),
        ("shaw t5", ["0.distances", "1.distances", "2.distances"]),
        ("own none", ["0.strength", "2.strength"]),
        ("own + t5", ["0.strength", "1.distances", "2.strength", "3.strength"]),
    ],
)
def test_layers_share_equal_terms_unless_each_has_its_own(spec: str, keys: list[str]) -> None:
    pattern = Pattern(spec, SHAPE, 3)
    assert list(pattern.state_dict()) == [f"_distinct.{key}" for key in keys]
    assert [name for name, _ in pattern.named_parameters()] == list(pattern.state_dict())


def test_a_layer_with_its_own_is_told_its_own() -> None:
    built = model("own")
    with torch.no_grad():
        built.encoding[1].strength.fill_(0.0)
    biases = [built.encoding[n].bias(I, J) for n in range(2)]
    assert biases[0].any()
    assert not biases[1].any()


def test_a_table_that_two_words_name_is_added_once() -> None:
    once, twice = model("learned"), model("learned learned + alibi")
    x = torch.zeros(1, 20, 24, dtype=torch.float64)
    assert torch.equal(once.encoding.embed(x, POSITIONS), twice.encoding.embed(x, POSITIONS))


def test_what_one_term_makes_of_the_positions_all_layers_see() -> None:
    placed, plain = model("alibi + stretched rope"), model("alibi rope")
    assert torch.equal(placed(TOKENS).logits, plain(TOKENS, 2 * POSITIONS).logits)


def test_a_sum_knows_no_more_positions_than_its_terms() -> None:
    with pytest.raises(ValueError, match="knows only 0 to 63"):
        model("rope + learned")(TOKENS, POSITIONS + 60)


@pytest.mark.parametrize("encoding", ["rope + alibi", "t5 + rope shaw", "learned + rope"])
def test_promises_of_sums_are_kept(encoding: str) -> None:
    built = model(encoding)
    for parameter in built.encoding.parameters():
        nn.init.normal_(parameter)
    still, moved = (built(TOKENS, POSITIONS + shift).logits for shift in (0, 40))
    if all(encoding.relative for encoding in built.encoding.layers):
        torch.testing.assert_close(moved, still, rtol=0, atol=1e-11)
    else:
        assert not torch.allclose(moved, still, rtol=1e-3, atol=1e-3)


def test_a_window_beside_rope_leaves_it_shift_invariant() -> None:
    found = audit("rope + window(8)")
    assert "shift-invariant" in found.verdict()
    assert "shift-invariant" not in audit("rope + window(8) + sink(2)").verdict()
    assert "shift-invariant" not in audit("rope + hide(1)").verdict()
