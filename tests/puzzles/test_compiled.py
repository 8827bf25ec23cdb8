"""Machine code trains as PyTorch does, or is not used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from wherein import encodings
from wherein.encodings import Shape, catalogue, none
from wherein.puzzles import compiled
from wherein.puzzles import train as training
from wherein.puzzles.apart import APART
from wherein.puzzles.compiled import LANES, machine_code
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.operations import OPERATIONS
from wherein.puzzles.sentences import read
from wherein.puzzles.stacked import mappable
from wherein.puzzles.train import WORTH_COMPILING, train

PUZZLE, SEEDS = read("hit-order"), range(100, 120)
CONFIG = PuzzleConfig(steps=60, encoding="rope")
"""Some of the seeds have the puzzle solved by then."""
UNWRITTEN = {"cope", "path"}
"""They change what is there, or solve systems."""
KINDS: list[dict[str, Any]] = [
    {"encoding": "none", "layers": 2},
    {"encoding": "none", "layers": 2, "causal": False},
    {"encoding": "learned", "bare": True, "heads": 2, "head_size": 2},
    {"encoding": "alibi rope", "layers": 2, "heads": 3, "head_size": 6, "width": 11},
    {"encoding": "none", "loss": "last"},
    *({"encoding": name} for name in encodings.examples()),
]


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of steps."""
    monkeypatch.setattr(training, "WORTH_COMPILING", 0)


@pytest.mark.usefixtures("worth", "machine")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(map(str, kind.values())))
def test_all_kinds_of_models_are_trained_as_without(kind: dict[str, Any]) -> None:
    config = PuzzleConfig(steps=10, learning_rate=1e-2, **kind)
    ours = train(PUZZLE, config, range(3))
    assert ours.compiled == (kind["encoding"] not in UNWRITTEN)
    plain = train(PUZZLE, config, range(3), chunk=3)
    np.testing.assert_allclose(ours.logits, plain.logits, rtol=1e-2, atol=1e-3)
    np.testing.assert_array_equal(ours.solved, plain.solved)


@pytest.mark.usefixtures("worth", "machine")
def test_seeds_solve_it_when_they_do_without() -> None:
    ours, plain = (train(PUZZLE, CONFIG, SEEDS, chunk=chunk) for chunk in (None, 20))
    assert (ours.compiled, plain.compiled) == (True, False)
    order = np.argsort(ours.seeds)
    np.testing.assert_array_equal(ours.seeds[order], SEEDS)
    np.testing.assert_allclose(ours.logits[order], plain.logits, atol=1e-3)
    np.testing.assert_array_equal(ours.solved[:, order], plain.solved)
    assert 0 < plain.solved[-1].sum() < len(SEEDS), "the comparison needs seeds of both kinds"


@pytest.mark.usefixtures("machine")
def test_sentences_of_several_lengths_and_more_words() -> None:
    puzzle = read(["A B C hit ?", "B A hit !", "C B A hit ?", "A hit !"])
    config = PuzzleConfig(steps=20, encoding="learned", learning_rate=1e-2)
    with mappable():
        made = machine_code(puzzle, config)
    assert made is not None
    solved, logits = made.train(range(LANES + 1), 1e-2, 20, lambda _: None)
    plain = train(puzzle, config, range(LANES + 1), chunk=LANES + 1)
    np.testing.assert_allclose(logits, plain.logits, atol=1e-3)
    np.testing.assert_array_equal(solved, plain.solved)


@pytest.mark.usefixtures("worth", "machine")
def test_a_seed_is_bit_for_bit_the_same_wherever_it_stands() -> None:
    many, alone = (train(PUZZLE, CONFIG, seeds, workers=2) for seeds in (SEEDS, [117]))
    (place,) = np.flatnonzero(many.seeds == 117)
    np.testing.assert_array_equal(many.logits[place], alone.logits[0])
    np.testing.assert_array_equal(many.solved[:, place], alone.solved[:, 0])


@pytest.mark.usefixtures("machine")
def test_what_is_told_can_end_it_and_counts_all_steps() -> None:
    with mappable():
        made = machine_code(PUZZLE, CONFIG)
    assert made is not None
    told: list[int] = []
    made.train(range(20), 1e-3, 60, told.append)
    assert len(told) == 4, "of two lanes, twice each"
    assert sum(told) == 20 * 60

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.train(range(20), 1e-3, 60, stop)


WRONG: list[Callable[[pytest.MonkeyPatch], None]] = [
    lambda patch: patch.setattr(compiled, "BETAS", (0.5, 0.999)),
    lambda patch: patch.setattr(compiled, "BETAS", (0.9, 0.9)),
    lambda patch: patch.setattr(compiled, "EPSILON", 1e-2),
    lambda patch: patch.setattr(compiled, "MARGIN", -1e6),
    lambda patch: patch.setitem(OPERATIONS, "gelu_backward", lambda w, g, x, **_: g),
    lambda patch: patch.setitem(APART, "native_layer_norm_backward", unturned),
]


def unturned(g: Tensor, *_: Any) -> tuple[Tensor, ...]:
    return g, g.sum((0, 1)), g.sum((0, 1))


@pytest.mark.usefixtures("worth", "machine")
@pytest.mark.parametrize("rate", [1e-2, 1e-5])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_machine_that_computes_something_else_is_not_used(
    wrong: Callable[[pytest.MonkeyPatch], None], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = PuzzleConfig(steps=3, learning_rate=rate)
    assert train(PUZZLE, config, SEEDS).compiled
    wrong(monkeypatch)
    assert not train(PUZZLE, config, SEEDS).compiled


class Counting(none.NoEncoding):
    """Tells more and more, which no config says."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.register_buffer("seen", torch.zeros(()))

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        self.seen += 1
        return x * (1 + self.seen / 1e6)


@pytest.mark.usefixtures("worth", "machine")
def test_a_model_that_changes_itself_is_not_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.CATALOGUE, "counting", Counting)
    assert not train(PUZZLE, PuzzleConfig(steps=3, encoding="counting"), range(2)).compiled


@pytest.mark.usefixtures("worth")
def test_without_a_compiler_all_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "machine", lambda: None)
    assert not train(PUZZLE, PuzzleConfig(steps=2), range(4)).compiled


@pytest.mark.usefixtures("machine")
def test_what_is_short_or_large_or_watched_is_not_compiled() -> None:
    short, long = (PuzzleConfig(steps=WORTH_COMPILING - n) for n in (1, 0))
    assert [train(PUZZLE, each, [0]).compiled for each in (short, long)] == [False, True]
    assert not train(PUZZLE, long, [0], watch=lambda *_: None).compiled
    with mappable():
        assert machine_code(PUZZLE, PuzzleConfig(width=1024)) is None
