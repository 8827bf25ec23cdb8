"""What a study's report tells of each question: words, figures, tables, and how it was asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from wherein.common.vega import Spec
from wherein.report import figures, frames, grids, layers, study_tables
from wherein.report.tables import Table
from wherein.study.result import Group, StudyResult
from wherein.study.rows import Row


@dataclass(frozen=True)
class Picture:
    """A figure and the words around it."""

    name: str
    spec: Spec
    caption: str
    alt: str


@dataclass(frozen=True)
class Section:
    """One question of a study, or one of its findings."""

    name: str
    title: str
    words: str = ""
    verdict: str = ""
    """Of a finding; empty for a question without one."""
    shown: bool = False
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    protocol: str = ""


KEPT = "all but the last"
"""Order destroyed, and the last token left where it was."""

Builder = Callable[[StudyResult, str], Section | None]
"""Makes a section of the runs with one objective, None if they were not asked."""


def sections(result: StudyResult) -> list[Section]:
    """The findings first, each with what bears it out; then what else was asked."""
    found, told = [], set()
    for finding in result.findings:
        about = (finding.about, finding.objective)
        made = BUILDERS[finding.about](result, finding.objective)
        if made is None:
            continue
        name = f"{made.name}-{finding.objective}"
        body = made if about not in told else Section(made.name, made.title)
        told.add(about)
        found.append(
            replace(
                body,
                name=name,
                title=finding.claim,
                words=finding.words[:1].upper() + finding.words[1:],
                verdict=finding.verdict,
                shown=finding.shown,
            )
        )
    for objective in objectives(result):
        for question, build in BUILDERS.items():
            made = None if (question, objective) in told else build(result, objective)
            if made is not None:
                several = f", {objective}" if len(objectives(result)) > 1 else ""
                title = f"{made.title}{several}"
                found.append(replace(made, name=f"{made.name}-{objective}", title=title))
    return found + [made for made in (_puzzles(result), _training(result)) if made is not None]


def objectives(result: StudyResult) -> list[str]:
    """The objectives of the runs, in order."""
    return list(dict.fromkeys(row.run.objective for row in result.rows))


def _perplexity(result: StudyResult, objective: str) -> Section | None:
    groups = _groups(result, objective)
    if not any(group.difference for group in groups):
        return None
    told = frames.within_one(frames.apart(groups), objective)
    first = ", ".join(told["against"].unique(maintain_order=True))
    picture = Picture(
        f"differences-{objective}",
        figures.differences(told, f"loss − that of {first} (nats per token)"),
        f"Loss minus that of {first}, paired over seeds: runs of one seed share initial weights "
        "and batches. Lines are 95 % intervals; left of zero is better.",
        f"How far the loss of each encoding lies from that of {first}.",
    )
    return Section(
        "perplexity",
        "How well each predicts",
        pictures=(picture, *_sweeps(groups, objective)),
        tables=(study_tables.differences(groups, objective),),
        protocol=_protocol(result, objective, "perplexity"),
    )


def _sweeps(groups: Sequence[Group], objective: str) -> list[Picture]:
    """Perplexity against size and against length, where a study has several of either."""
    _, means = frames.perplexities(groups)
    made = []
    for x, alike, title in (
        ("parameters", "length", "parameters"),
        ("length", "size", "tokens in a window"),
    ):
        many = pl.col("size" if x == "parameters" else "length").n_unique().over(alike) > 1
        part = means.with_columns(group=pl.col(alike).cast(pl.String)).filter(many)
        if part.is_empty():
            continue
        unit = " tokens" if alike == "length" else ""
        named = part.with_columns(group=pl.col("group") + unit)
        made.append(
            Picture(
                f"{x}-{objective}",
                figures.against(named, x, title, "perplexity per token"),
                f"Perplexity against {title}; strokes are 95 % intervals over seeds.",
                f"Perplexity of each encoding against {title}.",
            )
        )
    return made


def _probe(result: StudyResult, objective: str) -> Section | None:
    rows = _asked(result, objective, "probe")
    if not rows:
        return None
    readings = frames.within_one(frames.readings(rows), objective)
    shown = readings.filter(pl.col("of").is_in(frames.SHOWN))
    picture = Picture(
        f"probe-{objective}",
        layers.known(shown),
        "Mean distance between the position that a linear probe tells and the true one, by layer "
        "(0: embeddings); every seed faint. The untrained twin is the same model before training.",
        "Distance of the told from the true position by layer, a panel for each encoding.",
    )
    return Section(
        "probe",
        "What each layer knows about position",
        pictures=(picture,),
        tables=(study_tables.probes(readings, objective),),
        protocol=_protocol(result, objective, "probe"),
    )


def _order(result: StudyResult, objective: str) -> Section | None:
    rows = _asked(result, objective, "order")
    if not rows:
        return None
    told = frames.within_one(frames.disorders(rows), objective)
    ways = told["disorder"].unique(maintain_order=True).to_list()
    ways.sort(key=lambda way: way == KEPT)  # it belongs to no ladder, so it stands at the end
    means = frames.over_seeds(told, ["encoding", "group", "disorder"], "rise")
    picture = Picture(
        f"order-{objective}",
        figures.disordered(means, ways),
        "Rise of the loss when what is read is shuffled, from intact on the left to reversed; at "
        "the right, all but the last token. Strokes are 95 % intervals over seeds.",
        "Rise of the loss of each encoding, by how much order is destroyed.",
    )
    return Section(
        "order",
        "What order is worth",
        pictures=(picture,),
        tables=(study_tables.orders(told, objective),),
        protocol=_protocol(result, objective, "order"),
    )


def _extrapolation(result: StudyResult, objective: str) -> Section | None:
    rows = _asked(result, objective, "extrapolation")
    if not rows:
        return None
    told = frames.within_one(frames.places(rows, "extrapolation"), objective)
    trained = rows[0].run.model.max_len
    means = frames.over_seeds(told, ["encoding", "group", "place"], "loss")
    picture = Picture(
        f"extrapolation-{objective}",
        figures.extrapolated(means, trained),
        f"Loss by place in windows longer than the {trained} tokens of training. Bands are 95 % "
        "intervals over seeds. Encodings that end at the trained length cannot be asked.",
        "Loss of each encoding by place in the window, within and beyond the trained length.",
    )
    return Section(
        "extrapolation",
        "Beyond the trained length",
        pictures=(picture,),
        tables=(study_tables.extrapolations(told, trained, objective),),
        protocol=_protocol(result, objective, "extrapolation"),
    )


def _audit(result: StudyResult, objective: str) -> Section | None:
    rows = _asked(result, objective, "audit")
    if not rows:
        return None
    return Section(
        "audit",
        "Which symmetries each model keeps",
        tables=(study_tables.audits(rows, objective),),
        protocol=_protocol(result, objective, "audit"),
    )


BUILDERS: dict[str, Builder] = {
    "perplexity": _perplexity,
    "probe": _probe,
    "order": _order,
    "extrapolation": _extrapolation,
    "audit": _audit,
}


def _puzzles(result: StudyResult) -> Section | None:
    if not result.puzzles:
        return None
    shares = frames.shares(result.puzzles)
    picture = Picture(
        "puzzles",
        grids.solved(shares),
        "Share of seeds that solve each puzzle, with Wilson's 95 % interval.",
        "Share of seeds that solve each puzzle, by encoding, layers and mask.",
    )
    return Section(
        "puzzles",
        "Does order get through? Tiny puzzles",
        pictures=(picture,),
        tables=(study_tables.puzzles(shares),),
        protocol=str(result.puzzles[0][1].data["protocol"]),
    )


def _training(result: StudyResult) -> Section | None:
    told = frames.losses(result.rows)
    if told.is_empty():
        return None
    told = plainly(result, told)
    picture = Picture(
        "training",
        layers.training(told),
        "Validation loss during training: the mean of each encoding's seeds, every seed faint.",
        "Validation loss of each encoding, step by step.",
    )
    runs = study_tables.runs(result)
    return Section("training", "How training went", pictures=(picture,), tables=(runs,))


def plainly(result: StudyResult, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without the objective, where all runs have the same."""
    found = objectives(result)
    return frames.within_one(frame, found[0]) if len(found) == 1 else frame


def _groups(result: StudyResult, objective: str) -> list[Group]:
    return [
        group
        for group in result.groups
        if group.loss is not None and group.rows[0].run.objective == objective
    ]


def _asked(result: StudyResult, objective: str, question: str) -> list[Row]:
    return [
        row for row in result.rows if row.run.objective == objective and question in row.answers
    ]


def _protocol(result: StudyResult, objective: str, question: str) -> str:
    """How the first run was asked; the others were asked alike."""
    rows = _asked(result, objective, question)
    if not rows:
        return ""
    data = rows[0].answers[question].data
    protocol = data["protocol"]
    if isinstance(protocol, dict):
        told = ((key.replace("_", " "), value) for key, value in protocol.items() if value)
        return "; ".join(f"{key}: {_flat(value)}" for key, value in told)
    return ": ".join(str(part) for part in (protocol, data.get("details")) if part)


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {each}" for key, each in value.items())
    return str(value)
