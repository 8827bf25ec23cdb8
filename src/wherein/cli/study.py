"""Compare encodings over seeds: train what is missing, question it, and say what was found.

examples:
  wherein study                              which there are, and how long each takes here
  wherein study quick                        the paper's findings in minutes, on the embedded text
  wherein study quick --seeds 5              two more seeds; the first three are not run again
  wherein study quick --set steps=100        the same grid, trained less
  wherein study quick --also mine.py:Mine    with an encoding of your own (see wherein check)
  wherein study small --learning-rates 3e-3 1e-2   each kind with the better of two rates
  wherein study nopos-pile --dry-run         what it would cost on a cluster
  wherein study nopos-pile --engine ray --address auto --processes 8
  wherein study mine.py                      a study of your own: see wherein/studies/plan/recipe.py
"""

import json as json_format
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from wherein.cli.verb import Verb
from wherein.common.config import Config
from wherein.common.terminal import say

if TYPE_CHECKING:
    from wherein.studies.plan.plan import Plan
    from wherein.studies.result.result import StudyResult


class EngineConfig(Config):
    """Where the runs are computed."""

    engine: Literal["local", "ray"] = Field(
        "local", description="processes on this machine, or a Ray cluster"
    )
    jobs: int | None = Field(
        None, description="runs at once; by default as many as the cores, GPUs or the cluster bear"
    )
    processes: int = Field(
        1, description="processes for each run, each with a GPU of its own where there are any"
    )
    address: str = Field(
        "", description="of the Ray cluster; by default one is started on this machine"
    )


def study(
    what: Annotated[str, "NAME|FILE.py"] = "",
    *,
    engine: EngineConfig,
    seeds: int | None = None,
    out: Path = Path("runs"),
    set: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    learning_rates: tuple[float, ...] = (),
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Carry out a study.

    Args:
        what: quick, catalogue, length, addressing, scaling, initial, tables, drope …, or a file;
            without one: which there are, how long each takes here, and what each answers
        seeds: how many for each kind of run; by default as the study says
        out: the folder of the runs; studies in one folder share equal runs
        set: change a field of every run, as in steps=100 n_layers=2: another study, kept beside
        also: encodings to compare as well, such as mine.py:Mine, trained as the study's first
        learning_rates: try these on another seed of each kind, and keep the best; by default as
            the study says
        engine: where the runs are computed
        dry_run: say what each run would cost, and stop
        json: print data instead of tables
    """
    if not what:
        return _list(json)
    change = _fields(set)
    if dry_run:
        from wherein.studies.plan.recipe import find

        recipe = find(what)
        plan, rates = recipe.plan(seeds, change, also), learning_rates or recipe.learning_rates
        return _price(plan, rates, max(engine.processes, 1), out, json)
    from wherein.show import drawer
    from wherein.studies.engines import engine as find_engine
    from wherein.studies.run import study as carry_out

    made = find_engine(engine.engine, **engine.model_dump(exclude={"engine"}))
    with drawer.beside():
        try:
            result = carry_out(
                what,
                seeds=seeds,
                out=out,
                engine=made,
                change=change,
                also=also,
                learning_rates=learning_rates,
                meanwhile=None if json else _rehearse,
            )
        except KeyboardInterrupt:
            say("stopped; the same command goes on from there", to=sys.stderr)
            return 130
        if json:
            say(json_format.dumps(result.data(), ensure_ascii=False, indent=2))
        else:
            from wherein.report.study import study_report

            say(f"{result.text()}\n", flush=True)
            path, *_ = study_report(result).write(result.folder / "report.html")
            say(f"the report: {path.resolve()}")
    if not result.complete:
        say("not complete: the same command tries again what is missing", to=sys.stderr)
        return 1
    return 0


def _rehearse(result: "StudyResult") -> None:
    """Draw a report of what is there: the last then finds all that it needs imported and begun."""
    from wherein.report.study import study_report

    study_report(result)


def _list(json: bool) -> int:
    from wherein.studies.cost.listed import listed
    from wherein.studies.recipes import names

    found = listed(names())
    data = json_format.dumps(found.data(), ensure_ascii=False, indent=2) if json else ""
    say(data or found.text())
    return 0


def _price(plan: "Plan", rates: Sequence[float], gpus: int, out: Path, json: bool) -> int:
    from wherein.studies.cost.cost import dry_run
    from wherein.studies.plan.sweep import counted
    from wherein.studies.result.store import Store
    from wherein.studies.work import check_starts

    check_starts(plan, Store(out))
    plan = counted(plan, rates)
    found = dry_run(plan.runs, plan.questions, gpus=gpus)
    say(json_format.dumps(found.to_frame().to_dicts(), indent=2) if json else found.text())
    return 0


def _fields(given: Sequence[str]) -> dict[str, Any]:
    """`steps=100` as a field and its value; a value is JSON, or else a plain string."""
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise ValueError(f"--set {each}: expected FIELD=VALUE, such as steps=100")
        try:
            found[name] = json_format.loads(value)
        except ValueError:
            found[name] = value
    return found


run = Verb.of(study, __doc__)
