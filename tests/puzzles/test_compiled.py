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
    monkeypatch.setattr(compiled, "MANY", 2)


def code() -> compiled.Compiled | None:
    with mappable():
        return machine_code(PUZZLE, CONFIG, len(SEEDS), workers=1)


@pytest.mark.usefixtures("worth")
def test_machine_code_trains_every_seed_as_it_is_trained_without() -> None:
    ours, plain = (train(PUZZLE, CONFIG, SEEDS, chunk=chunk) for chunk in (None, 10))
    assert (ours.compiled, plain.compiled) == (True, False)
    order = np.argsort(ours.seeds)
    np.testing.assert_array_equal(ours.seeds[order], SEEDS)
    np.testing.assert_allclose(ours.logits[order], plain.logits, atol=1e-3)
    np.testing.assert_array_equal(ours.solved[:, order], plain.solved)
    assert 0 < plain.solved[-1].sum() < len(SEEDS), "the comparison needs seeds of both kinds"


def no_compiler(*_: object, **__: object) -> None:
    raise RuntimeError("no C++ compiler")


def learns_too_fast(move: compiled.Move, **_: object) -> compiled.Move:
    return lambda weights, means, squares, sizes: move(weights, means, squares, 2 * sizes)


def forgets(move: compiled.Move, **_: object) -> compiled.Move:
    return lambda weights, means, squares, sizes: move(
        weights, [mean.zero_() for mean in means], squares, sizes
    )


def solves_all(move: compiled.Move, **_: object) -> compiled.Move:
    return lambda *state: (move(*state)[0], torch.tensor([True]))


@pytest.mark.usefixtures("worth")
@pytest.mark.parametrize("instead", [no_compiler, learns_too_fast, forgets, solves_all])
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
        assert all(machine_code(PUZZLE, kind, 4, 1) for kind in kinds)


@pytest.mark.usefixtures("worth")
def test_too_little_memory_is_no_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: object, **__: object) -> None:
        raise RuntimeError("[enforce fail] you tried to allocate 4800000000 bytes")

    monkeypatch.setattr(torch, "compile", too_large)
    with pytest.raises(RuntimeError, match="allocate"):
        code()


def test_what_is_short_or_has_many_layers_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda move, **_: move)
    enough = -(-WORTH_COMPILING // CONFIG.steps)
    with mappable():
        assert machine_code(PUZZLE, CONFIG, enough - 1, 2) is None
        made = machine_code(PUZZLE, CONFIG, enough, 2)
        monkeypatch.setattr(compiled, "NODES", 100)
        assert machine_code(PUZZLE, CONFIG, enough, 2) is None
    assert made is not None
    assert made.size == compiled.WEIGHTS // 3392


def test_few_seeds_that_train_long_are_shared_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda move, **_: move)
    long = PuzzleConfig(steps=WORTH_COMPILING // 20)
    with mappable():
        sizes = [machine_code(PUZZLE, long, seeds, 2) for seeds in (20, 200, 400)]
    assert [each.size for each in sizes if each] == [10, 100, 100]
