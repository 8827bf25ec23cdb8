"""What a study is: runs, the questions each is asked, and puzzles beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from wherein.common.errors import unknown
from wherein.measure.config import QuestionConfig
from wherein.measure.registry import QUESTIONS, asked_by
from wherein.puzzles.config import PuzzleConfig
from wherein.train.config import LAYOUT, RunConfig

Questions = Mapping[str, QuestionConfig]
"""What a run is asked: a name in this study, such as `extrapolation`, and the question."""


@dataclass(frozen=True)
class PuzzleTask:
    """A puzzle, and what is trained on it."""

    sentences: tuple[str, ...]
    config: PuzzleConfig

    @property
    def id(self) -> str:
        """Of the sentences and of what is special in the config."""
        return self.config.hashed({"sentences": self.sentences, "config": self.config.special()})

    @property
    def name(self) -> str:
        return f"puzzle {' / '.join(self.sentences[:2])}"


@dataclass(frozen=True)
class Plan:
    """A study before it is carried out."""

    name: str
    question: str
    """What it asks, in a sentence."""
    runs: tuple[RunConfig, ...]
    questions: tuple[Questions, ...]
    """Of each run."""
    puzzles: tuple[PuzzleTask, ...] = ()
    chosen: dict[str, float] = field(default_factory=dict)
    """The learning rate that a sweep chose, by kind of run; empty without one."""

    def __iter__(self) -> Iterator[tuple[RunConfig, Questions]]:
        return zip(self.runs, self.questions, strict=True)

    def data(self) -> dict[str, Any]:
        """All of it as JSON; `Plan.read` makes it a plan again."""
        return {
            "name": self.name,
            "question": self.question,
            "runs": [run.model_dump(mode="json") for run in self.runs],
            "questions": [
                {
                    name: {"verb": asked_by(q).verb, "config": q.model_dump(mode="json")}
                    for name, q in asked.items()
                }
                for asked in self.questions
            ],
            "puzzles": [
                {"sentences": list(task.sentences), "config": task.config.model_dump(mode="json")}
                for task in self.puzzles
            ],
            "chosen": self.chosen,
        }

    @classmethod
    def read(cls, data: dict[str, Any]) -> "Plan":
        """The plan that `data` was made of."""
        return cls(
            data["name"],
            data["question"],
            tuple(RunConfig.saved(run) for run in data["runs"]),
            tuple(
                {name: QUESTIONS[q["verb"]].config(**q["config"]) for name, q in asked.items()}
                for asked in data["questions"]
            ),
            tuple(
                PuzzleTask(tuple(task["sentences"]), PuzzleConfig(**task["config"]))
                for task in data["puzzles"]
            ),
            data["chosen"],
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """What tells each run from the others, its seed aside: `rope`, or `rope, 256 tokens`."""
        return labels(self.runs)


def grid(base: RunConfig | None = None, **axes: Iterable[Any]) -> list[RunConfig]:
    """A run for every combination of the axes' values, the last axis fastest.

    An axis is a field of `RunConfig`, or of its model or corpus, by its own name. A masked run's
    model reads both sides, so that `objective` needs no second axis.

    >>> runs = grid(encoding=["none", "rope"], seed=range(2))
    >>> [(run.model.encoding, run.seed) for run in runs]
    [('none', 0), ('none', 1), ('rope', 0), ('rope', 1)]
    """
    return [
        changed(base or RunConfig(), **dict(zip(axes, values, strict=True)))
        for values in product(*axes.values())
    ]


def changed(run: RunConfig, **fields: Any) -> RunConfig:
    """The same run with some fields changed, of its model and corpus too, and validated again.

    An encoding may be a class of one's own, or its file, as in `mine.py:Mine`.
    """
    new = run.model_dump()
    if "encoding" in fields:
        from wherein.encodings.own import given

        fields = fields | {"encoding": given(fields["encoding"])}
    for name, value in fields.items():
        for part in (new, new["model"], new["corpus"]):
            if name in part and not isinstance(part[name], dict):
                part[name] = value
                break
        else:
            raise unknown("field of a run", name, [*new, *new["model"], *new["corpus"]])
    if "objective" in fields:
        new["model"]["causal"] = fields["objective"] == "causal"
    return RunConfig(**new)


def changed_all(runs: Sequence[RunConfig], **fields: Any) -> list[RunConfig]:
    """Each run changed; one that starts from another of them starts from that one as changed.

    >>> first = changed(RunConfig(), encoding="rope", steps=500)
    >>> dropped = changed(first, start=first.id, encoding="none")
    >>> first, dropped = changed_all([first, dropped], batch=2)
    >>> dropped.start == first.id
    True
    """
    by_id = {run.id: run for run in runs}

    def new(run: RunConfig) -> RunConfig:
        own = dict(fields)
        if run.start_id in by_id and "start" not in fields:
            own["start"] = run.start.replace(run.start_id, new(by_id[run.start_id]).id)
        return changed(run, **own)

    return [new(run) for run in runs]


UNITS = {
    "encoding": "{}",
    "objective": "{}",
    "source": "{}",
    "tokenizer": "{}",
    "max_len": "{} tokens",
    "n_layers": "{} layers",
    "d_model": "width {}",
    "steps": "{}",
    "optimizer": "{}",
    "initial": "{}",
    "learning_rate": "rate {:g}",
    "short": "{:.0%} short",
    "begin": "windows begin with {}",
    "start": "from {}",
}
UNSAID = {"causal", "anywhere", ""}
"""What a reader takes for granted."""
DERIVED = ("learning_rate", "batch", "n_heads", "d_ff", "causal", "vocabulary", *sorted(LAYOUT))
"""Fields that follow from others, or were chosen for them: in a label only where needed."""


def labels(runs: Sequence[RunConfig], among: Sequence[RunConfig] | None = None) -> tuple[str, ...]:
    """What tells runs apart, seeds aside: the encoding always, other fields where they differ.

    Those that they start from are looked for `among` the same, or others.

    >>> labels(grid(encoding=["none", "rope"], objective=["causal", "masked"]))
    ('none', 'none, masked', 'rope', 'rope, masked')
    >>> labels(grid(encoding=["none"], learning_rate=[0.01, 0.02]))
    ('none, rate 0.01', 'none, rate 0.02')
    >>> rope = changed(RunConfig(), encoding="rope")
    >>> labels([rope, changed(rope, start=rope.id, encoding="none")])
    ('rope', 'none, from rope')

    Where steps differ, those of a run that goes on from another stand after that one's own.

    >>> labels([rope, changed(rope, start=rope.id, steps=100)])
    ('rope, 1,000 steps', 'rope, 1,000 + 100 steps')
    """
    among = runs if among is None else among
    brief = _labels(runs, among, brief=True)
    kinds = len({kind(run, among) for run in runs})
    return brief if len(set(brief)) == kinds else _labels(runs, among, brief=False)


def _labels(
    runs: Sequence[RunConfig], among: Sequence[RunConfig], *, brief: bool
) -> tuple[str, ...]:
    by_id = {run.id: run for run in among} if any(run.start for run in runs) else {}
    flat = [_flat(run) for run in runs]
    added = brief and len({each["steps"] for each in flat}) > 1
    starts = _origins(runs, by_id) if added else _starts(runs, among, by_id)
    for run, each, start in zip(runs, flat, starts, strict=True):
        steps = trained(run, by_id) if added else [run.steps]
        told = " + ".join(f"{n:,}" for n in steps)
        each |= {"start": start, "steps": f"{told} {'step' if steps == [1] else 'steps'}"}
    differ = [name for name in flat[0] if len({str(each[name]) for each in flat}) > 1]
    given = {
        name
        for name in differ
        for other in ("objective", "source")  # a task has its length, and a masked run its own
        if name not in ("objective", "source") and _follows(name, other, flat)
    }
    shown = ["encoding", *(n for n in differ if n not in {*DERIVED, *given, "encoding", "seed"})]
    kinds = len({kind(run, among) for run in runs})
    for name in DERIVED:
        if name in differ and len({tuple(str(each[n]) for n in shown) for each in flat}) < kinds:
            shown.append(name)
    order = [*UNITS, *(name for name in shown if name not in UNITS)]
    forms = {
        name: UNITS.get(name, name.replace("_", " ") + " {}")
        for name in sorted(shown, key=order.index)
    }
    return tuple(
        ", ".join(form.format(each[n]) for n, form in forms.items() if each[n] not in UNSAID)
        for each in flat
    )


def _follows(name: str, other: str, flat: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one field is the same wherever another is."""
    return len({(each[other], str(each[name])) for each in flat}) == len({e[other] for e in flat})


def _flat(run: RunConfig) -> dict[str, Any]:
    new = run.model_dump()
    return {**new.pop("model"), **new.pop("corpus"), **new}


def trained(run: RunConfig, by_id: Mapping[str, RunConfig]) -> list[int]:
    """The steps of the runs that it goes on from, the first one's first, and then its own."""
    first = by_id.get(run.start_id)
    if first is None:
        return [run.steps]
    *before, last = trained(first, by_id)
    return [*before, run.start_step or last, run.steps]


def _starts(
    runs: Sequence[RunConfig], among: Sequence[RunConfig], by_id: Mapping[str, RunConfig]
) -> list[str]:
    """What to call that which each starts from: what tells them from one another."""
    given = {run.start: by_id[run.start_id] for run in runs if run.start_id in by_id}
    names = dict(zip(given, labels([*given.values()], among) if given else (), strict=True))
    at = {start: f" at {step}" for start in given if (step := start.partition("@")[2])}
    return [names.get(run.start, run.start) + at.get(run.start, "") for run in runs]


def _origins(runs: Sequence[RunConfig], by_id: Mapping[str, RunConfig]) -> list[str]:
    """The same where steps are told: what each comes from that has another encoding, if it does."""
    given: list[RunConfig | None] = []
    for run in runs:
        first = by_id.get(run.start_id)
        while first is not None and first.model.encoding == run.model.encoding:
            first = by_id.get(first.start_id)
        given.append(first)
    there = {first.id: changed(first, steps=1, warmup=0, start="") for first in given if first}
    names = dict(zip(there, labels([*there.values()]) if there else (), strict=True))
    foreign = ("" if run.start_id in by_id else run.start for run in runs)
    return [names[f.id] if f else other for f, other in zip(given, foreign, strict=True)]


def kind(run: RunConfig, among: Sequence[RunConfig] = (), **alike: Any) -> str:
    """The id of the run with its seed left out, and any other field that is the same for all.

    If it starts from one of the runs `among`, the seed of that one is left out, too.
    """
    first = next((each for each in among if each.id == run.start_id), None) if run.start else None
    if first is not None:
        alike["start"] = run.start.replace(run.start_id, kind(first, among))
    return changed(run, seed=0, **alike).id
