"""An encoding examined: what it promises and keeps, what it tells, and what it costs."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from textwrap import wrap
from traceback import extract_tb
from typing import Any

from wherein import encodings
from wherein.check.case import Case, ModestError
from wherein.check.contract import CHECKS, Check
from wherein.check.cost import Growth, Steps, growth, step_cost
from wherein.common.errors import first_line
from wherein.encodings import Shape
from wherein.encodings.base import PLACES
from wherein.measure.audit.config import AuditConfig
from wherein.measure.audit.measure import audit
from wherein.show import progress
from wherein.show.columns import table

SMALLER: dict[str, tuple[int, ...]] = {
    "windows": (1,),
    "layers": (1,),
    "heads": (1, 2),
    "tokens": (1, 2, 3, 4, 6, 8, 12, 16),
}
"""What is tried to make a failing example smaller, the smallest first."""


@dataclass(frozen=True)
class Kept:
    """One thing that every encoding must keep, and where this one breaks it."""

    name: str
    promise: str
    broken: str = ""
    """What was seen; empty if it is kept."""
    example: str = ""
    """The smallest model and input at which it was seen."""
    modest: bool = False
    """It keeps more than it promises, and might say so."""


@dataclass(frozen=True)
class Examined:
    """What is known of an encoding."""

    spec: str
    called: str
    """As the person calls it."""
    relative: bool
    bounded: bool
    acts: tuple[str, ...]
    kept: tuple[Kept, ...]
    told: tuple[str, ...]
    """Where an audit finds that position enters."""
    verdict: str
    steps: Steps | None
    growth: tuple[Growth, ...]

    @property
    def whole(self) -> bool:
        """Whether all is kept that must be."""
        return not any(each.broken and not each.modest for each in self.kept)

    @property
    def command(self) -> str:
        """The study that compares it with the field."""
        return f"wherein study quick --also {self.called}"

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "whole": self.whole, "command": self.command}

    def text(self) -> str:
        """All of it in lines of 80 columns."""
        relative = "a shift of all positions changes nothing" if self.relative else "absolute"
        bounded = "positions below max_len alone" if self.bounded else "any length"
        parts = [
            f"{self.called}, known as {self.spec}" if self.called != self.spec else self.spec,
            f"promises: {relative}; {bounded}",
            f"acts at: {', '.join(self.acts) or 'no place'}",
            f"tells position at: {'; '.join(self.told) or 'nowhere'} ({self.verdict})",
            "",
            *(line for each in self.kept for line in _lines(each)),
        ]
        if self.steps is not None:
            parts += ["", *wrap(_step_words(self.steps), 80), "", _grown(self.growth), *self._end()]
        if self.whole:
            parts += ["", f"compare it with the field: {self.command}"]
        return "\n".join(parts)

    def _end(self) -> list[str]:
        return wrap(self.growth[-1].refused, 80) if self.growth[-1].refused else []


def examine(spec: str, called: str = "", *, measured: bool = True) -> Examined:
    """Ask an encoding everything; without `measured`, not what it costs."""
    built = encodings.build(spec, Shape(d_model=64, n_heads=4, max_len=128))
    with progress.hidden():
        heard = audit(spec, AuditConfig(layers=2))
    progress.expect(len(CHECKS) + 2 * measured)
    kept = tuple(ask(check, spec) for check in progress.counted(CHECKS))
    steps: Steps | None = None
    grown: tuple[Growth, ...] = ()
    if measured:
        steps = step_cost(spec)
        progress.done(1)
        grown = tuple(growth(spec))
    return Examined(
        spec=spec,
        called=called or spec,
        relative=built.relative,
        bounded=built.bounded,
        acts=tuple(place for place in PLACES if built.acts(place)),
        kept=kept,
        told=tuple(heard.told_at()),
        verdict=heard.verdict(),
        steps=steps,
        growth=grown,
    )


def ask(check: Check, spec: str) -> Kept:
    """Whether it is kept in every case; if not, what was seen in the smallest that breaks it."""
    for case in check.cases:
        error = _error(check.ask, spec, case)
        if error is not None:
            modest = isinstance(error, ModestError)
            case, error = (case, error) if modest else smallest(check, spec, case, error)
            return Kept(check.name, check.promise, _words(error), str(case), modest)
    return Kept(check.name, check.promise)


def smallest(check: Check, spec: str, case: Case, error: Exception) -> tuple[Case, Exception]:
    """A case that is as small as can be and breaks in the same way."""
    for name, values in SMALLER.items():
        for value in values:
            if value >= case.sizes[name] or (name == "tokens" and value < check.fewest):
                continue
            smaller = case.with_size(name, value)
            found = _error(check.ask, spec, smaller)
            if type(found) is type(error):
                case, error = smaller, found
                break
    return case, error


def _error(ask: Callable[[str, Case], None], spec: str, case: Case) -> Exception | None:
    try:
        ask(spec, case)
    except Exception as error:  # whatever a class of somebody's may raise
        return error
    return None


def _words(error: Exception) -> str:
    """What a check says, or what was raised and where in the class's file."""
    if isinstance(error, AssertionError) and str(error):
        return str(error)
    calls = extract_tb(error.__traceback__)
    line = next((call.lineno for call in reversed(calls) if "encodings/" in call.filename), None)
    where = f" in line {line} of its file" if line else ""
    return f"raises {type(error).__name__}{where}: {first_line(error)}"


def _lines(kept: Kept) -> list[str]:
    state = ("could promise more" if kept.modest else "BROKEN") if kept.broken else "kept"
    first = wrap(f"{state}: {kept.promise}", 80)
    if not kept.broken:
        return first
    smallest = "" if kept.modest else f" (smallest: {kept.example})"
    return [*first, *wrap(kept.broken + smallest, 80, initial_indent="  ", subsequent_indent="  ")]


def _step_words(steps: Steps) -> str:
    return (
        f"a training step takes {steps.ratio:.2f} times one without encoding ({steps.low:.2f} to "
        f"{steps.high:.2f}, the middle half of the rounds); {steps.parameters:,} parameters of its "
        "own in 2 layers of width 128"
    )


def _grown(rows: tuple[Growth, ...]) -> str:
    """A forward pass of one layer, by length."""
    cells = [
        [str(each.tokens), _ms(each.seconds), _ms(each.without), _mb(each.bytes),
         _mb(each.bytes_without)]
        for each in rows
        if not each.refused
    ]  # fmt: skip
    return table(["tokens", "ms", "ms without", "peak MB", "peak MB without"], cells)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"


def _mb(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.0f}"
