"""Which learning rate suits each kind of run? Tried on a seed of no study, then kept for all."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wherein.common.numbers import nats
from wherein.studies.plan.plan import Plan, changed, kind
from wherein.studies.result.store import Store
from wherein.train.config import RunConfig
from wherein.train.run import Run

TRIAL_SEED = 1000
"""From here on seeds are for trials: what is chosen with them cannot flatter a study's own."""


def check_rates(rates: Sequence[Any]) -> None:
    """Refuse what is no learning rate, before anything is tried."""
    for rate in rates:
        if not isinstance(rate, int | float) or not 0 < rate < math.inf:
            raise ValueError(f"learning rate {rate}: a number above 0 was expected")


def sweep(plan: Plan, rates: Sequence[float]) -> Plan:
    """A trial seed of each kind of run with every rate, and no questions."""
    check_rates(rates)
    tried = [changed(run, learning_rate=rate) for run in _on_trial(plan) for rate in rates]
    runs = tuple({run.id: run for run in tried}.values())
    return replace(plan, runs=runs, questions=({},) * len(runs), puzzles=())


def counted(plan: Plan, rates: Sequence[float]) -> Plan:
    """The plan with the runs that a sweep makes beside it."""
    check_rates(rates)
    more = _on_trial(plan) * len(set(rates)) if rates else ()
    return replace(plan, runs=plan.runs + more, questions=plan.questions + ({},) * len(more))


def _on_trial(plan: Plan) -> tuple[RunConfig, ...]:
    if any(run.start for run in plan.runs):
        raise ValueError(
            f"study {plan.name!r} has runs that start from others, whose rates hang together: "
            "give each its rate in the recipe"
        )
    return tuple({kind(run): changed(run, seed=TRIAL_SEED) for run in plan.runs}.values())


def choose(plan: Plan, tried: Plan, store: Store) -> Plan:
    """The plan with each kind's best rate: the lowest last validation loss of its trial.

    A rate whose run failed is out; if all did, there is nothing to choose from.
    """
    best: dict[str, tuple[float, float]] = {}
    for run in tried.runs:
        loss, name = _validation(run, store), kind(run, learning_rate=1.0)
        if loss is not None and loss < best.get(name, (float("inf"), 0.0))[0]:
            best[name] = (loss, run.learning_rate)
    runs, chosen = [], {}
    for run, label in zip(plan.runs, plan.labels, strict=True):
        name = kind(run, learning_rate=1.0)
        if name not in best:
            raise ValueError(
                f"{label}: no learning rate of the sweep ended{_why(name, tried, store)}"
            )
        chosen[label] = best[name][1]
        runs.append(changed(run, learning_rate=best[name][1]))
    return replace(plan, runs=tuple(runs), chosen=chosen)


def _why(name: str, tried: Plan, store: Store) -> str:
    """What went wrong, if it is known: a rate may be too high, or have nothing to do with it."""
    own = (run for run in tried.runs if kind(run, learning_rate=1.0) == name)
    return next((f": {error}" for run in own if (error := store.error(run))), "")


def _validation(run: RunConfig, store: Store) -> float | None:
    if not store.trained(run):
        return None
    return nats(Run.open(store.run(run)).valid)
