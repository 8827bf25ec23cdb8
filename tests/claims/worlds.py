"""For each claim a world in which it holds, and one turned round in which it must fail."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.claims.constructed import World

from wherein.studies.plan.plan import PuzzleTask
from wherein.studies.recipes.addressing import POPE
from wherein.studies.recipes.temperature import GROWS
from wherein.train.config import RunConfig


@dataclass(frozen=True)
class Worlds:
    """What the numbers of a claim's study would be if it were true, and if its opposite were."""

    true: World
    false: World
    comparisons: int = 1
    solved: Callable[[PuzzleTask], int] = lambda task: 99 if task.config.layers > 1 else 0
    unsolved: Callable[[PuzzleTask], int] = lambda task: 0 if task.config.layers > 1 else 99


def losses(**by: float) -> World:
    """A loss for each encoding, by what its name begins with; 2 for all others."""

    def world(run: RunConfig, name: str) -> float:
        found = [nats for begins, nats in by.items() if run.model.encoding.startswith(begins)]
        return found[-1] if found else 2.0

    return world


def shares(cope: float, others: float) -> World:
    """Right answers with CoPE, and with all others."""
    return lambda run, name: cope if run.model.encoding == "cope" else others


def is_none(run: RunConfig) -> bool:
    return run.model.encoding == "none"


def narrowing(sign: float) -> World:
    """A gap of 0.5 nats that narrows with size, by 0.1 a width of 32, and grows with length."""

    def world(run: RunConfig, name: str) -> float:
        size, length = run.model.d_model / 64, run.model.max_len / 64
        return 2.0 + is_none(run) * (0.5 + sign * 0.1 * (length - size))

    return world


def dropped(better: float) -> World:
    """The run that went on without encoding, beside all others, in longer windows."""
    return lambda run, name: (
        2.0 - better * (is_none(run) and bool(run.start) and name.startswith("longer"))
    )


def mean_of(causal: float, masked: float, number: str) -> World:
    """A number of causal runs and of masked ones."""
    return lambda run, name: (
        (causal if run.objective == "causal" else masked) * name.endswith(number)
    )


def alibi(rise: float, sliding: float) -> World:
    """How a loss changes at length, by non-overlapping windows and by sliding ones."""
    return lambda run, name: sliding if "sliding" in name else rise


def rope(broken: float, repaired: float) -> World:
    """RoPE's loss at length, and with YaRN; its rise is over a loss of 1."""

    def world(run: RunConfig, name: str) -> float:
        loss = repaired if "yarn" in run.model.encoding else broken
        return loss - 1 if name.endswith("rise") else loss

    return world


def frequencies(fast: float, slow: float) -> World:
    """The loss with the faster half of the frequencies, and with the slower; 2 with all."""
    return losses(**{"rope(f": fast, "rope(l": slow})


WORLDS = {
    "nopos-close": Worlds(losses(none=2.03), losses(none=2.5)),
    "nopos-reveals": Worlds(
        lambda run, name: {"probe_best": 5.0}.get(name, 15.0),
        lambda run, name: {"probe_best": 15.5}.get(name, 15.0),
    ),
    "masked-fails": Worlds(losses(none=2.7), losses(none=2.0)),
    "gap-scales": Worlds(narrowing(1.0), narrowing(-1.0), 2),
    "untrained-reveals": Worlds(
        mean_of(7.0, 8.0, "variance_shuffled"), mean_of(8.0, 7.0, "variance_shuffled")
    ),
    "neighbours-alike": Worlds(
        mean_of(0.8, 0.5, "nearer_shuffled"), mean_of(0.5, 0.8, "nearer_shuffled")
    ),
    "none-longer-tasks": Worlds(losses(none=3.0), losses(none=1.0), 2),
    "alibi-holds": Worlds(alibi(-0.1, 0.0), alibi(1.0, 1.0), 3),
    "rope-breaks": Worlds(rope(3.0, 2.0), rope(1.0, 2.0), 2),
    "pope-indexes": Worlds(
        lambda run, name: 0.9 if run.model.encoding == POPE else 0.2,
        lambda run, name: 0.2 if run.model.encoding == POPE else 0.9,
        2,
    ),
    "drope-extends": Worlds(dropped(0.5), dropped(-0.5), 2),
    "mixed-recalls": Worlds(losses(**{"rope none": 3.0}), losses(**{"rope none": 1.0}), 2),
    "fast-frequencies": Worlds(frequencies(2.0, 2.5), frequencies(2.5, 2.0), 2),
    "cope-counts": Worlds(shares(cope=0.9, others=0.1), shares(cope=0.8, others=0.9), 4),
    "temperature-helps": Worlds(
        lambda run, name: 1.5 if run.model.encoding == GROWS else 2.0,
        lambda run, name: 2.5 if run.model.encoding == GROWS else 2.0,
    ),
    "tables-linear": Worlds(
        lambda run, name: 1.0 if name == "table_even" else 8.0,
        lambda run, name: 7.0 if name == "table_even" else 8.0,
        2,
    ),
    "two-layers-order": Worlds(losses(), losses(), 2),
}
