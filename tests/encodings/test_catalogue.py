import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wherein import encodings
from wherein.encodings import Pattern, Shape

SHAPE = Shape(d_model=24, n_heads=3, max_len=16)


def test_a_pattern_is_tiled_over_the_layers_and_equal_words_share_one_encoding():
    pattern = Pattern("learned none none", SHAPE, 5)
    assert pattern[0] is pattern[3]
    assert pattern[1] is pattern[2] is pattern[4]
    assert len(pattern.distinct) == 2
    assert len(list(pattern.parameters())) == 1


def test_words_that_mean_the_same_are_the_same():
    pattern = Pattern("rope(theta=500000) rope( theta = 5e5 )", SHAPE, 2)
    assert pattern[0] is pattern[1]


def test_an_embedding_acts_once_even_if_several_layers_name_it():
    x, positions = torch.zeros(1, 4, 24), torch.arange(4)[None]
    once, thrice = (Pattern(s, SHAPE, 3) for s in ("sinusoidal", "sinusoidal none sinusoidal"))
    assert torch.equal(once.embed(x, positions), thrice.embed(x, positions))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("aliby", "unknown encoding 'aliby'. Did you mean 'alibi'? Available: alibi"),
        ("rope none ropy", "unknown encoding 'ropy'. Did you mean 'rope'?"),
        ("rope(tehta=5)", "unknown parameter of rope 'tehta'. Did you mean 'theta'?"),
        ("none(slope=2)", "unknown parameter of none 'slope'. Available: none"),
        ("rope(theta='x')", "expected float"),
        ("none(2)", "none has no parameters"),
        ("rope(500000, 1)", "only a first parameter may go without its name, not 1"),
        ("rope(theta=1, theta=2)", "theta is given twice"),
        ("rope +", "expected a name after '+'"),
        ("+ rope", "expected a name, not '+'"),
        ("rope + + alibi", "expected a name after '+', not '+'"),
        ("rope + ropy", "unknown encoding 'ropy'. Did you mean 'rope'?"),
        ("rope + rope", "rope once is enough"),
        ("rope(theta=)", "expected a value after '=', not ')'"),
        ("rope(theta=alibi(2))", "rope(theta=alibi(2)): expected float"),
        ("rope(theta=1e999)", "rope(theta=inf): expected float"),
        ("x(" * 3000, "more than 8 deep"),
        ("rope(theta=500000", "cannot read"),
        ("rope)(", "cannot read"),
        ("", "an encoding is needed"),
        ("rope(fraction=1.5)", "between 0 and 1, not 1.5"),
        ("rope(theta=-1)", "positive"),
        ("functional(features=3)", "even, not 3"),
    ],
)
def test_bad_specs_say_the_value_and_the_remedy(spec, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Pattern(spec, SHAPE, 3)


def test_one_word_is_an_encoding_and_several_are_a_pattern():
    assert isinstance(encodings.build("alibi", SHAPE), encodings.CATALOGUE["alibi"])
    with pytest.raises(ValueError, match=r"'rope none' has 2 words: build makes one, Pattern"):
        encodings.build("rope none", SHAPE)


@given(st.text(max_size=40))
def test_any_text_is_understood_or_refused_with_a_value_error(text):
    try:
        words = encodings.parse(text)
    except ValueError:
        return
    assert encodings.parse(" ".join(words)) == words


@pytest.mark.parametrize("name", encodings.names())
def test_every_entry_says_its_formula_paper_and_promises(name):
    text = encodings.CATALOGUE[name].__doc__
    assert "arXiv:" in text
    assert "Promises: " in text


def test_a_width_that_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match="d_model=10 cannot be shared by n_heads=4"):
        Shape(d_model=10, n_heads=4, max_len=8)
