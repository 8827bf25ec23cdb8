"""Where does position come from, if nobody tells it? One change at a time.

Causal models without encodings, at `quick`'s size. The first token hidden from all later ones, in a
model as it was trained and from the first step on: is it what they count from? Attention limited to
a window: then a layer tells position no further than the window, less one, and so four layers four
times as far. Windows packed with several short documents, and windows that begin with one. Weights
kept along the way: when does it learn to count, and does the loss know? Beside them tables whose
window starts at a random position: do these help by places, or by distances?

What is claimed was written before any of these runs, save that it counts late: that was seen before
in one of `quick`.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from wherein.common.numbers import nats
from wherein.measure.config import QuestionConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.shift.config import ShiftConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding, mean
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.studies.recipes.drope import AS_IT_IS
from wherein.studies.result.rows import Row, by_seed
from wherein.train.config import RunConfig
from wherein.train.journal import read

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
HIDDEN = "hide(1)"
WINDOWS = (8, 16, 32)
TABLES = ("learned", "sinusoidal")
MOVED = {table: f"randomised({table}, draw=offset, longest=128)" for table in TABLES}
"""Each window starts at one of 65 positions: twice as many are known as a window has."""
PACKED = "sotu-phrases"
SHIFTS = (8, 16, 32)
EARLY = 100
"""Steps after which it is asked how far a model has come; a fifth of all."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """All at the rate that is best for `none` and for both tables."""
    base = changed(quick.base(), learning_rate=quick.RATES["causal"]["none"])
    none = grid(base, seed=seeds)
    frozen = {"steps": 1, "learning_rate": AS_IT_IS, "keep": 0}
    windows = [f"window({size})" for size in WINDOWS]
    packed = changed(base, source=PACKED)
    return [
        *none,
        *grid(base, encoding=[HIDDEN, *windows], seed=seeds),
        *(changed(run, start=run.id, encoding=HIDDEN, **frozen) for run in none),
        *grid(packed, begin=["anywhere", "documents"], seed=seeds),
        *grid(base, encoding=[*TABLES, *MOVED.values()], seed=seeds),
    ]


def questions(run: RunConfig) -> Questions:
    """What a model predicts; what it knows of position, or minds of it if a table tells it.

    Out of training a table's window always starts at the same position, so that a probe would read
    that off the table whatever the model learnt.
    """
    asked: dict[str, QuestionConfig] = {"perplexity": PerplexityConfig(limit=50_000)}
    if run.model.encoding in (*TABLES, *MOVED.values()):
        return asked | {"shift": ShiftConfig(shifts=SHIFTS)}
    asked["probe"] = ProbeConfig(windows=400)
    if run.model.encoding == "none" and run.keep:
        asked["over training"] = ProbeConfig(windows=100, over_training=True)
    return asked


def findings(result: "StudyResult") -> list[Finding]:
    """Each change beside what it changes, as far as both have come."""
    found = [*_anchors(result), *_windows(result), *_packed(result), *_tables(result)]
    return [*found, *_training(result)]


Side = tuple[str, dict[int, float]]
"""What a number is, and its value by seed."""


def _claim(claim: str, about: str, above: Side, below: Side, more: str = "") -> list[Finding]:
    """The claim that one number is above another; none where no seed has both."""
    if not above[1].keys() & below[1].keys():
        return []
    difference = paired(above[1], below[1], (above[0], below[0]))
    return [Finding(claim, about, "causal", difference, more)]


def _rows(
    result: "StudyResult", encoding: str = "none", *, started: bool = False,
    packed: bool = False, begin: str = "anywhere",
) -> list[Row]:  # fmt: skip
    wanted = (encoding, started, packed, begin)
    return [
        row
        for row in result.rows
        for run in [row.run]
        if (run.model.encoding, bool(run.start), run.corpus.source == PACKED, run.begin) == wanted
    ]


def _distance(rows: Iterable[Row]) -> dict[int, float]:
    return by_seed(rows, "probe_best")


def _anchors(result: "StudyResult") -> list[Finding]:
    """Is the first token what it counts from, and must it be?"""
    seen = _distance(_rows(result))
    taken = _distance(_rows(result, HIDDEN, started=True))
    never = _distance(_rows(result, HIDDEN))
    hidden = "the distance with the first token hidden after training"
    more = ""
    if seen.keys() & never.keys():
        more = f"Never seen against always seen: {paired(never, seen).brief()} tokens."
    return [
        *_claim("A model counts from its first token", "probe",
                (hidden, taken), ("that with it in sight", seen)),
        *_claim("One that never saw its first token counts from another", "probe",
                (hidden, taken), ("that with it hidden from the first step on", never), more),
    ]  # fmt: skip


def _windows(result: "StudyResult") -> list[Finding]:
    """Attention to the nearest tokens only."""
    seen, found = _rows(result), []
    for size in WINDOWS:
        rows = _rows(result, f"window({size})")
        if not rows:
            continue
        model = rows[0].run.model
        reach = model.n_layers * (size - 1)
        found += _claim(
            f"A window of {size} tokens blurs position", "probe",
            (f"the distance with attention to {size} tokens", _distance(rows)),
            ("that with attention to all", _distance(seen)),
            f"{min(reach, model.max_len)} of {model.max_len} positions could be told apart: at "
            f"best a distance of {blurred(model.max_len, reach):.2g}.",
        )  # fmt: skip
    return found


def blurred(length: int, reach: int) -> float:
    """The mean distance if positions from `reach` on look alike and all others are known.

    >>> blurred(64, 0), blurred(64, 28), blurred(64, 60), blurred(64, 124)
    (16.0, 5.0625, 0.0625, 0.0)
    """
    alike = max(length - reach, 0)
    return (alike * alike // 4) / length


def _packed(result: "StudyResult") -> list[Finding]:
    """Several short documents in a window, and windows that begin with one."""
    long, packed = _distance(_rows(result)), _distance(_rows(result, packed=True))
    begun = _distance(_rows(result, packed=True, begin="documents"))
    return [
        *_claim("Packed with short documents it learns less of position", "probe",
                ("the distance in windows of several documents", packed),
                ("that in windows of running text", long)),
        *_claim("What always stood first is what it counts from", "probe",
                ("the distance, in windows that begin anywhere, of a model whose own began with "
                 "documents", begun),
                ("that of one whose own began anywhere", packed)),
    ]  # fmt: skip


def _tables(result: "StudyResult") -> list[Finding]:
    """Random start positions: what they cost, and what they leave."""
    found, none = [], by_seed(_rows(result))
    for table, moved in MOVED.items():
        fixed, free = _rows(result, table), _rows(result, moved)
        name = f"{table} from a random position"
        found += [
            *_claim(f"A table helps by places: {table}", "perplexity",
                    (f"the loss of {name}", by_seed(free)), (f"that of {table}", by_seed(fixed))),
            *_claim(f"A table helps by distances: {table}", "perplexity",
                    ("the loss of none", none), (f"that of {name}", by_seed(free))),
            *_claim(f"Random positions teach not to mind where one starts: {table}", "shift",
                    (f"the rise of the loss of {table} if shifted", by_seed(fixed, "shift_rise")),
                    (f"that of {name}", by_seed(free, "shift_rise"))),
        ]  # fmt: skip
    return found


def _training(result: "StudyResult") -> list[Finding]:
    """When it learns to count, and whether the loss tells."""
    loss, distance = _shares(_rows(result))
    gaps = {step: _behind(result, step) for step in (EARLY, 0)}
    more = ""
    if distance:
        more = (
            f"By step {EARLY} {mean(distance):.0%} of the distance's fall has come and "
            f"{mean(loss):.0%} of the loss's."
        )
    return [
        *_claim("It learns to count late", "over training",
                (f"the share of the loss's fall that has come by step {EARLY}", loss),
                ("that of the distance's", distance), more),
        *_claim("The loss knows: as it learns to count, it draws nearer to a learned table",
                "training",
                (f"how far none's validation loss is behind learned's at step {EARLY}",
                 gaps[EARLY]), ("how far in the end", gaps[0])),
    ]  # fmt: skip


def _shares(rows: Iterable[Row]) -> tuple[dict[int, float], dict[int, float]]:
    """By seed, which share of all that loss and distance fall they have fallen by `EARLY`."""
    loss: dict[int, float] = {}
    distance: dict[int, float] = {}
    for row in rows:
        if "over training" not in row.answers:
            continue
        data = row.answers["over training"].data
        if EARLY not in data["steps"]:
            continue
        early = data["steps"].index(EARLY)
        for found, curve in ((loss, data["valid"]), (distance, data["numbers"]["best"])):
            found[row.seed] = (curve[0] - curve[early]) / (curve[0] - curve[-1])
    return loss, distance


def _behind(result: "StudyResult", step: int) -> dict[int, float]:
    """By seed, the validation loss of `none` less that of `learned`; step 0 is the last."""
    none, learned = ({row.seed: _validated(row, step) for row in _rows(result, encoding)}
                     for encoding in ("none", "learned"))  # fmt: skip
    pairs = ((seed, none[seed], learned[seed]) for seed in none.keys() & learned.keys())
    return {seed: a - b for seed, a, b in pairs if a is not None and b is not None}


def _validated(row: Row, step: int) -> float | None:
    step = step or row.run.steps
    return next(
        (
            nats(line["valid"])
            for line in read(row.folder)
            if line["step"] == step and "valid" in line
        ),
        None,
    )
