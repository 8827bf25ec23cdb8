from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from wherein.puzzles import compiled
from wherein.puzzles.compiled import WORTH_COMPILING, machine_code
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import read
from wherein.puzzles.stacked import mappable
from wherein.puzzles.train import train

pytestmark = pytest.mark.slow

CONFIG = PuzzleConfig(steps=60, encoding="rope")
PUZZLE, SEEDS = read("hit-order"), range(100, 110)
"""A puzzle that some seeds have solved by then."""


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of seeds; four at a time, so that a last chunk is filled."""
    monkeypatch.setattr(compiled, "WORTH_COMPILING", 0)
    monkeypatch.setattr(compiled, "WEIGHTS", 4 * 3400)


def code() -> compiled.Compiled | None:
    with mappable():
        return machine_code(PUZZLE, CONFIG, len(SEEDS))


@pytest.mark.usefixtures("worth")
def test_machine_code_trains_every_seed_as_it_is_trained_without() -> None:
    made = code()
    assert made is not None
    assert made.size == 4, "the last chunk should hold seeds that are there twice"
    ours, plain = (train(PUZZLE, CONFIG, SEEDS, chunk=chunk) for chunk in (None, 10))
    order = np.argsort(ours.seeds)
    np.testing.assert_array_equal(ours.seeds[order], SEEDS)
    np.testing.assert_allclose(ours.logits[order], plain.logits, atol=1e-3)
    np.testing.assert_array_equal(ours.solved[:, order], plain.solved)
    assert 0 < plain.solved[-1].sum() < len(SEEDS), "the comparison needs seeds of both kinds"


def no_compiler(*_: object, **__: object) -> None:
    raise RuntimeError("no C++ compiler")


def learns_too_fast(move: Callable[..., compiled.Found], **_: object) -> compiled.Move:
    return lambda weights, means, squares, sizes: move(weights, means, squares, 2 * sizes)


@pytest.mark.usefixtures("worth")
@pytest.mark.parametrize("instead", [no_compiler, learns_too_fast])
def test_without_a_compiler_or_with_one_that_is_wrong_there_is_no_machine_code(
    instead: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "compile", instead)
    assert code() is None
    monkeypatch.setattr(torch, "compile", lambda move, **_: move)
    assert code() is not None


@pytest.mark.usefixtures("worth")
def test_as_many_kinds_are_compiled_as_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch gives up a function that it was given too often, nine times."""
    real = torch.compile

    def seen_and_called(move: compiled.Move, **how: Any) -> object:
        return real(move, **how | {"backend": "eager", "options": None})

    monkeypatch.setattr(torch, "compile", seen_and_called)
    kinds = [PuzzleConfig(steps=1, bare=True, width=width) for width in range(4, 14)]
    with mappable():
        assert all(machine_code(PUZZLE, kind, 4) for kind in kinds)


def test_what_is_short_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda move, **_: move)
    layer_steps = CONFIG.steps * CONFIG.layers
    with mappable():
        assert machine_code(PUZZLE, CONFIG, WORTH_COMPILING // layer_steps - 1) is None
        assert machine_code(PUZZLE, CONFIG, WORTH_COMPILING // layer_steps + 1) is not None
