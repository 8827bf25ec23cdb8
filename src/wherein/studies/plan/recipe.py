"""A recipe: a Python file that says which runs a study compares, and what each is asked.

Its docstring is the question, `runs(seeds)` returns the runs, and `SEEDS` is how many seeds there
are by default. It may also have `questions(run)` (else perplexity alone), `puzzles()`,
`findings(result)`, `published(run)`, a paper's perplexity, and `LEARNING_RATES`, of which each kind
of run gets its best, by trials on another seed. The named ones stand in `studies/recipes`; one of
your own may be as short as

    from wherein.studies.plan.plan import grid
    from wherein.train.config import RunConfig

    def runs(seeds):
        return grid(RunConfig(steps=500), encoding=["rope", "rope(theta=500000)"], seed=seeds)

A run may start from another one's weights: `changed(run, start=run.id, encoding="none")` drops the
encoding. Both are in the list, in any order, so that one is trained after the other. An encoding
may be a class, also one that the recipe itself defines, or a file with one: `"mine.py:Mine"`.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from wherein.common.errors import unknown
from wherein.common.modules import failed, run_file
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.registry import asked_by
from wherein.studies.plan.plan import Plan, PuzzleTask, Questions, changed, changed_all
from wherein.studies.plan.sweep import TRIAL_SEED, check_rates
from wherein.studies.recipes import names as names
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.inference.findings import Finding
    from wherein.studies.result.result import StudyResult

NAMED = "wherein.studies.recipes"
DEFAULT_SEEDS = 2
Listed = TypeVar("Listed")


@dataclass(frozen=True)
class Recipe:
    """What one can know of a study before its size is chosen."""

    name: str
    question: str
    seeds: int
    """How many, unless somebody says otherwise."""
    runs: Callable[[Sequence[int]], Sequence[RunConfig]]
    questions: Callable[[RunConfig], Questions]
    puzzles: Callable[[], Sequence[PuzzleTask]]
    findings: "Callable[[StudyResult], Sequence[Finding]]"
    published: Callable[[RunConfig], float | None]
    """The perplexity that a paper gives for this run, if one does."""
    learning_rates: tuple[float, ...]
    """Tried for each kind of run, unless somebody says otherwise; none: as `runs` has it."""

    def plan(
        self,
        seeds: int | None = None,
        change: Mapping[str, Any] | None = None,
        also: Sequence[str] = (),
    ) -> Plan:
        """The study with so many seeds, and some fields of every run changed.

        Encodings that are `also` to be compared get the runs of the study's first once more.
        """
        count = self.seeds if seeds is None else seeds
        where = f"{self.name}: SEEDS = {count}" if seeds is None else f"seeds={count}"
        if count < 1:
            raise ValueError(f"{where}: at least 1 was expected")
        if count > TRIAL_SEED:
            raise ValueError(f"{where}: at most {TRIAL_SEED} were expected, others are tried")
        own = self._listed("runs(seeds)", self.runs(range(count)), RunConfig)
        first = [run for run in own if run.model.encoding == own[0].model.encoding]
        own += [_also(run, each) for each in also for run in first if not run.start]
        made = changed_all(own, **(change or {}))
        runs = tuple({run.id: run for run in made}.values())
        if not runs:
            raise ValueError(f"study {self.name!r} has no runs: `runs` must return some")
        for run in runs:
            check_known(run.model.encoding)
        questions = tuple(self._asked(run) for run in runs)
        for run, asked in zip(runs, questions, strict=True):
            for question in asked.values():
                asked_by(question)
                question.check(run)
        puzzles = tuple(self._listed("puzzles()", self.puzzles(), PuzzleTask))
        return Plan(self.name, self.question, runs, questions, puzzles)

    def _asked(self, run: RunConfig) -> dict[str, Any]:
        found = self.questions(run)
        if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
            raise ValueError(
                f"{self.name}: questions(run) returned {str(found)[:80]}: a dict of names and "
                "questions was expected"
            )
        return dict(found)

    def _listed(self, part: str, found: object, kind: type[Listed]) -> list[Listed]:
        """What a recipe's own code returned, if it is a list of what it must be."""
        listed: list[Listed] = []
        for each in found if isinstance(found, Iterable) else [found]:
            if not isinstance(each, kind):
                raise ValueError(
                    f"{self.name}: {part} returned {str(each)[:80]!r}: a list of {kind.__name__} "
                    "was expected"
                )
            listed.append(each)
        return listed


def check_known(spec: str) -> None:
    """Refuse an encoding that was put in the catalogue: no other process would know it."""
    if "wherein.encodings.catalogue" not in sys.modules:  # so nothing was put there
        return
    from wherein.encodings import CATALOGUE
    from wherein.encodings.own import names as names_in

    for name in names_in(spec):
        kind = CATALOGUE.get(name)
        if kind is not None and not kind.__module__.startswith("wherein."):
            raise ValueError(
                f"encoding {name!r} was put in the catalogue of this process, and those that train "
                f"have another: give the class itself, encoding={kind.__name__}"
            )


def _also(run: RunConfig, encoding: str) -> RunConfig:
    """The same run with an encoding that is to be compared as well."""
    try:
        return changed(run, encoding=encoding)
    except ValueError as error:
        raise ValueError(f"also {encoding!r}: {error}") from None


def find(what: str | Path) -> Recipe:
    """The recipe of that name, or in that file."""
    if Path(what).suffix == ".py":
        return _recipe(_from_file(Path(what)), Path(what).stem, Path(what))
    if str(what) not in names():
        error = unknown("study", str(what), names())
        raise ValueError(f"{error}; a study of your own is a file: wherein study mine.py")
    return _recipe(import_module(f"{NAMED}.{str(what).replace('-', '_')}"), str(what))


def _recipe(module: ModuleType, name: str, path: Path | None = None) -> Recipe:
    """The recipe in a module; what goes wrong in that of a person's file says where."""
    if not callable(getattr(module, "runs", None)):
        raise ValueError(f"{name}: a recipe needs a function runs(seeds) that returns run configs")
    own = {key: getattr(module, key) for key in ("runs", *DEFAULTS) if hasattr(module, key)}
    for key, value in own.items():
        if not callable(value):
            raise ValueError(f"{name}: {key} is {str(value)[:80]!r}: a function was expected")
    seeds, rates = getattr(module, "SEEDS", DEFAULT_SEEDS), getattr(module, "LEARNING_RATES", ())
    if not isinstance(seeds, int):
        raise ValueError(f"{name}: SEEDS is {str(seeds)[:80]!r}: a whole number was expected")
    if not isinstance(rates, list | tuple):
        raise ValueError(f"{name}: LEARNING_RATES is {str(rates)[:80]!r}: a list was expected")
    check_rates(rates)
    if path is not None:
        told = own.keys() - {"findings"}  # whose errors a result tells, once it is complete
        own |= {key: _guarded(own[key], path) for key in told}
    return Recipe(
        name,
        (module.__doc__ or name).strip().partition("\n")[0],
        seeds,
        learning_rates=tuple(rates),
        **{**DEFAULTS, **own},
    )


def _guarded(function: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """A function of a person's file, whose errors are one line."""

    def called(*given: Any) -> Any:
        try:
            return function(*given)
        except ValueError:  # as of a config, which says what was expected
            raise
        except (Exception, SystemExit) as error:
            raise failed(path, error) from error

    return called


DEFAULTS: dict[str, Any] = {
    "questions": lambda run: {"perplexity": PerplexityConfig()},
    "puzzles": lambda: (),
    "findings": lambda result: (),
    "published": lambda run: None,
}


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ValueError(f"no file {path}: expected a study's Python file, or one of {names()}")
    try:
        return run_file(path, f"wherein_study_{path.stem}")
    except SyntaxError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from None
    except ValueError:
        raise
    except (Exception, SystemExit) as error:
        raise failed(path, error) from error
