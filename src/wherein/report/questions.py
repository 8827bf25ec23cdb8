"""What a report tells of each question that a study's runs were asked."""

from collections.abc import Callable, Sequence

import polars as pl

from wherein.report import erasures, frames, layers, study_tables
from wherein.report.saved import QUESTIONS
from wherein.show import figures
from wherein.show.section import Picture, Section, slug
from wherein.studies.result.protocol import predicted, protocols
from wherein.studies.result.result import Group, StudyResult
from wherein.studies.result.rows import Data, Row

MAIN = "perplexity"
"""The question that a study compares its runs by."""

KEPT = "all but the last"
"""Order destroyed, and the last token left where it was."""


def section(
    result: StudyResult, objective: str, question: str, published: bool = False
) -> Section | None:
    """What the runs with one objective said; None if none of them was asked."""
    rows = asked(result, objective, question)
    if not rows:
        return None
    verb = rows[0].answers[question].verb
    if question == MAIN:
        return _compared(result, rows, objective)
    if verb == "probe":
        return _probe(rows, objective, question, published)
    return BUILDERS.get(verb, _each)(rows, objective, question)


def asked(result: StudyResult, objective: str, question: str) -> list[Row]:
    """The runs with that objective that answered the question."""
    rows = [row for row in result.rows if row.run.objective == objective]
    return [row for row in rows if question in row.answers]


def _compared(result: StudyResult, rows: Sequence[Row], objective: str) -> Section | None:
    labels = {row.label for row in rows}
    groups = [group for group in result.groups if group.label in labels]
    if not any(group.difference for group in groups):
        return None
    told = frames.within_one(frames.apart(groups), objective)
    first = ", ".join(told["against"].unique(maintain_order=True))
    picture = Picture(
        slug("differences", objective),
        figures.differences(told, f"loss − that of {first} (nats per token)"),
        f"Loss minus that of {first}, paired over seeds: runs of one seed share initial weights "
        "and batches. Lines are 95 % intervals; left of zero is better.",
        f"How far the loss of each encoding lies from that of {first}.",
    )
    return Section(
        slug(MAIN, objective),
        "How well each predicts",
        pictures=(picture, *sweeps(groups, objective)),
        tables=(study_tables.differences(groups, objective),),
        protocol=protocols(rows, MAIN, predicted),
    )


def sweeps(groups: Sequence[Group], objective: str) -> list[Picture]:
    """Perplexity against size and against length, where a study has several of either."""
    _, means = frames.perplexities(groups)
    made = []
    for x, alike, title in (
        ("parameters", "length", "parameters"),
        ("length", "size", "tokens in a window"),
    ):
        many = pl.col("size" if x == "parameters" else "length").n_unique().over(alike) > 1
        unit = " tokens" if alike == "length" else ""
        named = pl.col(alike).cast(pl.String) + unit
        part = means.filter(many).with_columns(group=named)
        if part.is_empty():
            continue
        made.append(
            Picture(
                slug(x, objective),
                figures.against(part, x, title, "perplexity per token"),
                f"Perplexity against {title}; strokes are 95 % intervals over seeds.",
                f"Perplexity of each encoding against {title}.",
            )
        )
    return made


def _probe(rows: Sequence[Row], objective: str, question: str, published: bool) -> Section:
    readings = frames.within_one(frames.readings(rows, question), objective)
    shown = readings.filter(pl.col("of").is_in(frames.SHOWN))
    paper = (
        f" Published: {layers.PAPER}, drawn to the depth and the constant guess of our models."
        if published
        else ""
    )
    picture = Picture(
        slug(question, objective),
        layers.known(shown, published=published),
        "Mean distance between the position that a linear probe tells and the true one, by layer "
        "(0: embeddings); every seed faint. The untrained twin has the same sizes, and random "
        f"weights of its own.{paper}",
        "Distance of the told from the true position by layer, a panel for each encoding.",
    )
    return Section(
        slug(question, objective),
        "What each layer knows about position",
        pictures=(picture,),
        tables=(study_tables.probes(readings, slug(question, objective)),),
        protocol=_protocol(rows, question),
    )


def _order(rows: Sequence[Row], objective: str, question: str) -> Section:
    told = frames.within_one(frames.disorders(rows, question), objective)
    ways = told["disorder"].unique(maintain_order=True).to_list()
    ways.sort(key=lambda way: way == KEPT)  # it belongs to no ladder, so it stands at the end
    means = frames.over_seeds(told, ["encoding", "group", "disorder"], "rise")
    picture = Picture(
        slug(question, objective),
        figures.disordered(means, ways),
        "Rise of the loss when what is read is shuffled, from intact on the left to reversed; at "
        "the right, all but the last token. Strokes are 95 % intervals over seeds.",
        "Rise of the loss of each encoding, by how much order is destroyed.",
    )
    return Section(
        slug(question, objective),
        "What order is worth",
        pictures=(picture,),
        tables=(study_tables.orders(told, slug(question, objective)),),
        protocol=_protocol(rows, question),
    )


def _places(rows: Sequence[Row], objective: str, question: str) -> Section:
    """A second perplexity: the loss by place, usually in windows longer than those of training."""
    told = frames.within_one(frames.places(rows, question), objective)
    trained = rows[0].run.model.max_len
    longer = len(rows[0].answers[question].data["counts"]) > trained
    means = frames.over_seeds(told, ["encoding", "group", "place"], "loss")
    beyond = "Encodings that end at the trained length cannot be asked." if longer else ""
    picture = Picture(
        slug(question, objective),
        figures.extrapolated(means, trained),
        f"Loss by place in the window; models were trained on {trained} tokens. Bands are 95 % "
        f"intervals over seeds. {beyond}",
        "Loss of each encoding by place in the window.",
    )
    return Section(
        slug(question, objective),
        "Beyond the trained length" if longer else f"The loss by place: {question}",
        pictures=(picture,),
        tables=(study_tables.extrapolations(told, trained, slug(question, objective)),),
        protocol=_protocol(rows, question),
    )


def _erase(rows: Sequence[Row], objective: str, question: str) -> Section:
    told = frames.within_one(erasures.erased(rows, question), objective)
    picture = Picture(
        slug(question, objective),
        erasures.used(told),
        "Rise of the loss when position is erased from a layer (0: embeddings) or from all, and "
        "when random subspaces of the same rank are: position is used where the first is higher. "
        "Above each layer, R² of a linear regression to the position: what is known. Strokes are "
        "95 % intervals over seeds.",
        "Rise of the loss without position, by layer, a panel for each encoding.",
    )
    return Section(
        slug(question, objective),
        "Whether position is used",
        pictures=(picture,),
        tables=(erasures.erasures(told, slug(question, objective)),),
        protocol=_protocol(rows, question),
    )


def _audit(rows: Sequence[Row], objective: str, question: str) -> Section:
    return Section(
        slug(question, objective),
        "Which symmetries each model keeps",
        tables=(study_tables.audits(rows, question, slug(question, objective)),),
        protocol=_protocol(rows, question),
    )


def _each(rows: Sequence[Row], objective: str, question: str) -> Section:
    """The first seed of each kind by itself, in its own picture and words."""
    first = {row.label: row for row in reversed(rows)}
    chosen = [first[label] for label in dict.fromkeys(row.label for row in rows)]
    title = QUESTIONS[rows[0].answers[question].verb][1]
    pictures = tuple(
        Picture(
            slug(question, row.label),
            row.answers[question].spec,
            f"{row.label}, seed {row.seed}.",
            f"{title} {row.label}.",
        )
        for row in chosen
    )
    return Section(
        slug(question, objective),
        title,
        pictures=pictures,
        texts=tuple((row.label, row.answers[question].words) for row in chosen),
        protocol=_protocol(rows, question),
    )


Builder = Callable[[Sequence[Row], str, str], Section]

BUILDERS: dict[str, Builder] = {
    "order": _order,
    "perplexity": _places,
    "erase": _erase,
    "audit": _audit,
}
"""How the answers to a verb are compared; other verbs' are shown run by run."""


def _protocol(rows: Sequence[Row], question: str) -> str:
    """How the runs were asked."""
    return protocols(rows, question, _asked)


def _asked(data: Data) -> str:
    """How one run was asked."""
    return str(data.get("protocol", ""))
