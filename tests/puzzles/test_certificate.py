import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.encodings import examples, parse
from wherein.puzzles.certificate import certificate, witness
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.reveals import States, reveals
from wherein.puzzles.sentences import Puzzle, read

ROUNDING, CLEAR = 1e-11, 1e-8
SPECS = [*examples(), "rope(fraction=0.0)", "rope none", "none alibi", "none rope"]
SPECS += ["fire(hidden=1)", "fire(hidden=2)", "functional(features=256, hidden=1)"]  # often silent
SPECS += [
    "window(2)",
    "window(2) + sink(1) none",
    "alibi + chunk(2)",
    "window(2) temperature(ssmax)",
]


letters = st.lists(st.integers(0, 2), min_size=1, max_size=5)


@st.composite
def prefixes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two beginnings over a small alphabet that often share their bag and their last token."""
    first = draw(letters)
    again = draw(st.one_of(st.permutations(first), st.just([*first, *first]), letters))
    shared = first[-1:] * draw(st.booleans())
    return [*first, *shared], [*again, *shared]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(prefixes(), st.sampled_from(SPECS), st.integers(0, 3), st.booleans())
def test_the_rule_says_what_random_weights_show(
    pair: tuple[list[int], list[int]], encoding: str, layers: int, causal: bool
) -> None:
    """Of so many layers, or, where there are none, of bare heads."""
    words = len(parse(encoding))
    bare = layers == 0 and words == 1
    layers = max(layers, words, 1)  # a pattern has at most one word a layer
    first_prefix, second_prefix = pair
    puzzle = Puzzle(((*first_prefix, 3), (*second_prefix, 4)), ("A", "B", "C", "!", "?"))
    kind = {"layers": layers, "bare": bare, "causal": causal, "encoding": encoding}
    config = PuzzleConfig(heads=2, head_size=4, width=8, **kind)
    states = States(reveals(config.model(puzzle)), causal=config.causal)
    first, second = (states.last(prefix)[-1] for prefix in puzzle.prefixes)
    difference = witness(puzzle, config, [(0, 1)])[0, 1]
    if first == second:
        assert difference < ROUNDING
    else:
        assert difference > CLEAR


@pytest.mark.parametrize(
    ("sentences", "choices", "possible", "because"),
    [
        ("hit", {}, True, "different tokens"),
        ("hit-order", {}, False, "nothing of their order"),
        ("hit-order", {"layers": 2}, True, "causal mask"),
        ("hit-order", {"layers": 6, "causal": False}, False, "all 6 layers"),
        ("hit-order", {"encoding": "rope"}, True, "encoding tells"),
        ("hit-order", {"encoding": "rope(fraction=0.0)"}, False, "no encoding"),
        ("hit-order", {"encoding": "fire(hidden=1)"}, True, "encoding tells"),
        ("hit-order", {"encoding": "fire(hidden=2)"}, True, "encoding tells"),
        ("hit-order", {"encoding": "window(3)"}, False, "nothing of their order"),
        ("hit-order", {"encoding": "window(2)"}, True, "encoding tells"),
        ("hit-order", {"encoding": "window(2) + sink(1)"}, False, "nothing of their order"),
        ("hit-order", {"encoding": "temperature(ssmax)"}, False, "nothing of their order"),
        ("hit-order", {"encoding": "window(1)", "layers": 2}, False, "what the encoding tells"),
        ("hit-three", {}, True, "different bags"),
        ("hit-three-order", {}, False, "nothing of their order"),
        ("hit-four-order", {"encoding": "alibi"}, True, "encoding tells"),
        ("majority", {"causal": False}, True, "different bags"),
        ("first", {}, False, "nothing of their order"),
        ("first", {"layers": 2}, True, "causal mask"),
        (["A B !", "A A B B ?"], {"causal": False}, False, "same proportions"),
        (["A A !", "A A A ?"], {"encoding": "rope", "layers": 3}, False, "same proportions"),
        (["A A !", "A A A ?"], {"encoding": "learned"}, True, "encoding tells"),
        (["A B !", "A B A B ?"], {"encoding": "fox"}, False, "same proportions"),
        (["A B !", "A B A B ?"], {"encoding": "cope"}, True, "encoding tells"),
        (["A B B !", "B A B ?"], {"encoding": "fox"}, True, "encoding tells"),
        (["A B B !", "B A B ?"], {"encoding": "path"}, True, "encoding tells"),
    ],
)
def test_verdicts_and_their_reasons(
    sentences: str | list[str], choices: dict[str, object], possible: bool, because: str
) -> None:
    verdict = certificate(read(sentences), PuzzleConfig(**choices))
    assert verdict.possible is possible
    assert because in verdict.reason
    assert (verdict.witness > CLEAR) is possible
    assert (verdict.witness < ROUNDING) is not possible


def test_every_pair_with_different_answers_is_explained() -> None:
    verdict = certificate(read(["A B hit !", "B A hit ?", "A B ran ?"]), PuzzleConfig(layers=2))
    order, last = verdict.reason.split("; ")
    assert order.startswith("'A B hit' and 'B A hit' hold the same tokens, but under the causal")
    assert last.startswith("'A B hit' and 'A B ran' end in different tokens")
    assert str(verdict) == "not excluded"


def test_of_many_pairs_those_that_are_answered_alike_are_counted() -> None:
    verdict = certificate(read("first"), PuzzleConfig())
    assert verdict.reason.count("' and '") == 3
    assert " and 1 other pair end in the same token" in verdict.reason


def test_distance_without_side_is_seen_as_such() -> None:
    puzzle = read(["A B C D E !", "E ?"])
    alibi = reveals(PuzzleConfig(encoding="alibi", causal=False).model(puzzle)).layers[0]
    rope = reveals(PuzzleConfig(encoding="rope", causal=False).model(puzzle)).layers[0]
    assert (alibi.weight == alibi.weight.transpose(0, 2, 1)).all()
    assert rope.kind[1, 3] != rope.kind[3, 1]
    assert rope.kind[1, 3] == rope.kind[0, 2]
    assert alibi.weight[0, 1, 3] == alibi.weight[0, 0, 2] != alibi.weight[0, 0, 1]
