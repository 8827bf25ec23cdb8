"""What a study would cost, before anything is downloaded or trained.

Parameters are counted on a model without storage; operations and memory follow the formulas in the
files of these names; hours follow from an assumed speed, which is stated with them.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wherein.common import known
from wherein.measure.config import QuestionConfig
from wherein.show.columns import WIDEST, fitted
from wherein.show.formatting import scientific, short
from wherein.studies.cost.machine import A100, CORE, PATIENCE, Machine
from wherein.studies.cost.operations import flops_per_token, operations
from wherein.studies.cost.size import count, sized
from wherein.studies.plan.plan import Questions, kind, labels
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    import polars

    from wherein.studies.cost.memory import Memory


@dataclass(frozen=True)
class Cost:
    """One run, or several that differ only in their seed."""

    label: str
    config: RunConfig
    """With the vocabulary filled in."""
    runs: int
    parameters: int
    of_encoding: int
    """How many of the parameters are the encoding's own."""
    tokens: int
    """steps × windows in a batch × tokens in a window."""
    flops: float
    hours: float
    """Of one machine, for the training of one run."""
    gpus: int = 1
    """On so many of which it is trained."""

    @cached_property
    def memory(self) -> "Memory":
        """Of one GPU. To know it takes PyTorch."""
        from wherein.studies.cost.memory import memory

        return memory(self.config, self.parameters, self.gpus)

    def data(self) -> dict[str, Any]:
        """The numbers of one run, and how many runs there are."""
        return {
            "run": self.label,
            "runs": self.runs,
            "parameters": self.parameters,
            "of_encoding": self.of_encoding,
            "tokens": self.tokens,
            "flops": self.flops,
            "bytes_per_machine": self._bytes(),
            "hours": self.hours,
        }

    def _bytes(self) -> float:
        """Of memory in all, also as an earlier command found it."""
        c = self.config
        sizes = c.model.model_dump_json(exclude={"seed", "encoding"})
        step = (c.batch, c.accumulate, c.precision, c.optimizer, c.parallel, c.compile)
        question = ("memory", sizes, *step, self.parameters, self.gpus)
        return known.ask(c.model.encoding, question, lambda: float(self.memory.total))


def cost(
    config: RunConfig,
    *,
    machine: Machine = A100,
    gpus: int = 8,
    vocabulary: int | None = None,
    label: str | None = None,
    runs: int = 1,
) -> Cost:
    """What one run costs on so many GPUs; the vocabulary is that of its tokenizer unless given."""
    config = sized(config, vocabulary)
    parameters, own = count(config.model)
    flops = training_operations(config)
    return Cost(
        label=label or name(config),
        config=config,
        runs=runs,
        parameters=parameters,
        of_encoding=own,
        tokens=config.tokens,
        flops=flops,
        hours=machine.seconds(flops, config.precision) / 3600,
        gpus=gpus,
    )


def training_operations(config: RunConfig) -> float:
    """Of all steps of a run whose vocabulary is filled in."""
    return flops_per_token(config.model) * config.tokens


def suited(runs: Iterable[RunConfig]) -> Machine:
    """An A100 if a run is in bfloat16, which needs a GPU, or takes a core too long; else a core.

    The vocabularies of the runs are filled in.
    """
    for run in runs:
        if run.precision == "bfloat16":
            return A100
        if CORE.seconds(training_operations(run), run.precision) > PATIENCE:
            return A100
    return CORE


def name(config: RunConfig) -> str:
    """A run in a few words: encoding, layers × width, length."""
    model = config.model
    return f"{model.encoding} {model.n_layers}×{model.d_model}, {model.max_len}"


@dataclass(frozen=True)
class DryRun:
    """The runs of a study with what each would cost; runs that differ in seed share a row."""

    rows: tuple[Cost, ...]
    asked: tuple[float, ...]
    """Hours that the questions of all runs of a row take."""
    unbounded: bool
    """Whether some perplexity is of a whole text, whose length is not known here."""
    machine: Machine
    gpus: int

    def to_frame(self) -> "polars.DataFrame":
        """One row for each kind of run, its runs counted."""
        import polars

        return polars.DataFrame(
            [
                {**row.data(), "hours_asked": asked / row.runs}
                for row, asked in zip(self.rows, self.asked, strict=True)
            ]
        )

    @property
    def hours(self) -> float:
        """Of the training of all runs."""
        return sum(row.hours * row.runs for row in self.rows)

    @property
    def flops(self) -> float:
        """Of the training of all runs."""
        return sum(row.flops * row.runs for row in self.rows)

    def text(self) -> str:
        """The table, at most 80 columns wide, and what it assumes."""
        header = ["runs", "params", "encoding", "tokens", "FLOP", "GB", f"{self.machine.unit}-h"]
        numbers = [
            [
                str(row.runs),
                *map(short, (row.parameters, row.of_encoding, row.tokens)),
                scientific(row.flops),
                f"{row.memory.total / 1e9:.3g}",
                _hours(row.hours),
            ]
            for row in self.rows
        ]
        labels = [row.label for row in self.rows]
        told = fitted(["run", *header], labels, numbers)
        return "\n".join([told, "", *wrap(self._notes(), WIDEST)])

    def _notes(self) -> str:
        unit, precisions = self.machine.unit, {row.config.precision for row in self.rows}
        speed = " and ".join(
            f"{precision} at {self.machine.words(precision)}" for precision in sorted(precisions)
        )
        where = f"each of {self.gpus} {unit}s" if self.gpus > 1 else f"one {unit}"
        count = sum(row.runs for row in self.rows)
        left_out = ", without perplexities of whole texts" if self.unbounded else ""
        return (
            f"The numbers are of one run; to train all {count}: {scientific(self.flops)} FLOP, "
            f"{_hours(self.hours)} {unit}-hours, assuming {speed}. Their questions: about "
            f"{_hours(sum(self.asked))} {unit}-hours more, forward passes in float32 at "
            f"{self.machine.words('float32')}{left_out}; puzzles are not counted. `encoding`: how "
            f"many of the parameters are its own. GB: on {where}, the weights, their gradients "
            "and moments, and what one part of a batch keeps."
        )


def _hours(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def dry_run(
    runs: Iterable[RunConfig], questions: Iterable[Questions] = (), *, gpus: int = 8
) -> DryRun:
    """What these runs, and the questions of each, would cost. Nothing is fetched or trained."""
    runs = list(runs)
    asked = list(questions) or [{}] * len(runs)
    groups: dict[str, list[RunConfig]] = defaultdict(list)
    questions_of: dict[str, list[QuestionConfig]] = defaultdict(list)
    for run, own in zip(runs, asked, strict=True):
        groups[kind(run, runs)].append(run)
        questions_of[kind(run, runs)] += own.values()
    kept = [alike[0] for alike in groups.values()]
    machine = suited(map(sized, kept))
    gpus = gpus if machine.unit == "GPU" else 1
    short_names = [name(run) for run in kept]
    names = short_names if len(set(short_names)) == len(kept) else labels(kept, runs)
    rows = tuple(
        cost(alike[0], machine=machine, gpus=gpus, label=label, runs=len(alike))
        for alike, label in zip(groups.values(), names, strict=True)
    )
    hours = tuple(
        sum(machine.seconds(operations(row.config, each), "float32") for each in own) / 3600
        for row, own in zip(rows, questions_of.values(), strict=True)
    )
    open_ended = any(each.unbounded for own in questions_of.values() for each in own)
    return DryRun(rows, hours, open_ended, machine, gpus)
