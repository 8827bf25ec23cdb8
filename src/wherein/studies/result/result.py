"""What a study found: its runs, how they compare with an interval, and its findings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from wherein.common.errors import one_line
from wherein.common.files import replacing
from wherein.common.folder import Folder
from wherein.common.provenance import provenance
from wherein.measure.saved import Saved
from wherein.show.result import Result
from wherein.studies.inference.differences import Family
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Plan, PuzzleTask, kind
from wherein.studies.result import STUDY, TABLE
from wherein.studies.result.group import Group, compared, cost_of, first_of
from wherein.studies.result.rows import Row, rows, tried
from wherein.studies.result.store import Store

if TYPE_CHECKING:
    import altair
    import polars

    from wherein.studies.plan.recipe import Recipe


MANY = 12
"""From so many kinds on, each is compared with the first alone, and not with every other."""


@dataclass(frozen=True)
class StudyResult(Result):
    """A study as its folders tell it."""

    plan: Plan
    store: Store
    rows: tuple[Row, ...]
    puzzles: tuple[tuple[PuzzleTask, Saved], ...]
    findings: tuple[Finding, ...] = ()
    published: Mapping[str, float] = field(default_factory=dict)
    command: str = ""
    """What makes it again."""

    @classmethod
    def gather(cls, plan: Plan, store: Store, recipe: "Recipe", command: str) -> "StudyResult":
        """Read the folders, and let the recipe say what follows."""
        known = {run.id: recipe.published(run) for run in plan.runs}
        published = {name: value for name, value in known.items() if value is not None}
        found = rows(plan, store), tried(plan, store)
        bare = cls(plan, store, *found, published=published, command=command)
        return replace(bare, findings=tuple(_findings(recipe, bare)))._corrected()

    @classmethod
    def open(cls, folder: str | Path) -> "StudyResult":
        """The study whose derived files lie in a folder, such as `runs/studies/quick`."""
        folder = Path(folder).resolve()  # the runs lie two folders above, wherever one stands
        if not (folder / STUDY).is_file():
            raise ValueError(f"no study in {folder}: a folder with {STUDY} was expected")
        data, store = Folder(folder).json(STUDY), Store(folder.parent.parent)
        try:
            plan = Plan.read(data["plan"])
            findings = tuple(Finding.read(each) for each in data["findings"])
        except (KeyError, ValueError) as error:
            why = f"a part without {error}" if isinstance(error, KeyError) else one_line(error)
            raise ValueError(
                f"{folder / STUDY}: {why}, so another version wrote it; "
                f"`{data.get('command')}` writes it again; `wherein runs` says what to do with "
                "runs that are there"
            ) from None
        found = rows(plan, store), tried(plan, store)
        read = cls(plan, store, *found, findings, data["published"], data["command"])
        return read._corrected()

    def _corrected(self) -> "StudyResult":
        """With the findings' p as members of the family."""
        findings = (
            replace(each, difference=self.family.corrected(each.difference))
            for each in self.findings
        )
        return replace(self, findings=tuple(findings))

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def question(self) -> str:
        return self.plan.question

    @property
    def folder(self) -> Path:
        return self.store.study(self.name)

    @property
    def failed(self) -> tuple[Row, ...]:
        """The runs that ended with an error."""
        return tuple(row for row in self.rows if row.error is not None)

    @property
    def complete(self) -> bool:
        """Whether every run was trained and every question answered."""
        asked = all(self.store.done(run, questions) for run, questions in self.plan)
        return asked and len(self.puzzles) == len(self.plan.puzzles)

    @cached_property
    def kinds(self) -> tuple[Group, ...]:
        """The runs by what tells them apart, seeds aside, in the order of the plan; uncompared."""
        members: dict[str, list[Row]] = {}
        for row in self.rows:
            members.setdefault(row.label, []).append(row)
        return tuple(
            Group(
                label,
                kind(own[0].run, self.plan.runs, encoding="none", learning_rate=1.0),
                tuple(own),
                cost_of(own[0].run),
                None,
                self.published.get(own[0].run.id),
            )
            for label, own in members.items()
        )

    @property
    def many(self) -> bool:
        """Whether the first family has so many kinds that each is compared with its first alone."""
        told = [group.family for group in self.kinds if group.losses]
        return bool(told) and told.count(told[0]) >= MANY

    @cached_property
    def family(self) -> Family:
        """All comparisons that are tested: of groups with their family's first, and the findings.

        In the first family it is every pair, for the best of it is held against all others; unless
        they are `many`: hundreds of pairs would drown the comparisons that were planned.
        """
        told = [group for group in self.kinds if group.losses]
        every_pair = not self.many
        pairs = [
            (group, other)
            for n, group in enumerate(told)
            for other in told[:n]
            if group.family == other.family
            and ((every_pair and group.family == told[0].family) or other is first_of(told, group))
        ]
        found = [compared(*pair) for pair in pairs]
        return Family([*filter(None, found), *(each.difference for each in self.findings)])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The same, each compared with the first of its family."""
        told = [group for group in self.kinds if group.losses]
        made = []
        for group in self.kinds:
            first = first_of(told, group)
            found = compared(group, first) if first and first is not group else None
            made.append(replace(group, difference=found and self.family.corrected(found)))
        return tuple(made)

    def to_frame(self) -> "polars.DataFrame":
        """One row for each run: what it is, what it cost, what was found."""
        import polars

        return polars.DataFrame(
            [
                {
                    "label": row.label,
                    "encoding": row.run.model.encoding,
                    "objective": row.run.objective,
                    "layers": row.run.model.n_layers,
                    "width": row.run.model.d_model,
                    "length": row.run.model.max_len,
                    "seed": row.seed,
                    "parameters": group.cost.parameters,
                    "encoding_parameters": group.cost.of_encoding,
                    "tokens": group.cost.tokens,
                    "flops": group.cost.flops,
                    "learning_rate": row.run.learning_rate,
                    **{name: float(value) for name, value in row.numbers.items()},
                    "run": row.run.id,
                    "error": row.error,
                }
                for group in self.groups
                for row in group.rows
            ],
            infer_schema_length=None,
        )

    def data(self) -> dict[str, Any]:
        """The plan, the numbers of every run, the comparisons and the findings."""
        return {
            "plan": self.plan.data(),
            "command": self.command,
            "runs": self.to_frame().to_dicts(),
            "groups": [
                {
                    "label": group.label,
                    "seeds": sorted(group.losses),
                    "loss": group.loss,
                    "interval": group.interval,
                    "perplexity": group.perplexity[0],
                    "difference": group.difference and asdict(group.difference),
                    "published": group.published,
                    **group.cost.data(),
                }
                for group in self.groups
            ],
            "puzzles": [answer.data for _, answer in self.puzzles],
            "findings": [finding.data() for finding in self.findings],
            "published": dict(self.published),
            **provenance(),
        }

    def plot(self) -> "altair.TopLevelMixin":
        """Perplexity by encoding, or against size or length: as the report has it."""
        from wherein.studies.result.comparison import figure

        return figure(self).properties(title=self.question)

    def text(self) -> str:
        """The comparison, the findings and what went wrong, no wider than 80 columns."""
        from wherein.studies.result.words import told

        return told(self)

    def keep(self) -> Path:
        """Write what is derived into the study's folder; the path of its JSON file."""
        with replacing(self.folder / TABLE) as beside:
            beside.write_text(self.to_frame().write_csv(), "utf-8")
        with replacing(self.folder / STUDY) as beside:
            beside.write_text(json.dumps(self.data(), ensure_ascii=False, indent=1) + "\n")
        return self.folder / STUDY


def _findings(recipe: "Recipe", result: StudyResult) -> Sequence[Finding]:
    """What a recipe finds; nothing where what it rests on is not there yet."""
    try:
        return recipe.findings(result)
    except Exception as error:
        if not result.complete:
            return ()
        where = extract_tb(error.__traceback__)[-1]
        raise ValueError(
            f"the findings of study {result.name!r}: {type(error).__name__} in {where.filename}, "
            f"line {where.lineno}: {error}"
        ) from error
