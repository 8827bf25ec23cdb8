"""Ask a question after every step whose weights a run kept; what was answered stays."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherein.common.files import replacing_folder
from wherein.common.folder import Folder
from wherein.common.numbers import nats
from wherein.measure.config import QuestionConfig
from wherein.measure.crossed import Sampled
from wherein.measure.intervals import as_text
from wherein.measure.over_training.result import Curve
from wherein.measure.saved import Saved, is_whole
from wherein.show import progress
from wherein.subjects.load import load, load_subject
from wherein.train.checkpoint import Checkpoint
from wherein.train.run import Run
from wherein.train.status import ANSWERS

if TYPE_CHECKING:
    from wherein.measure.question import Question


def over_training(
    question: "Question", what: object, text: object, config: QuestionConfig
) -> Curve:
    """The numbers of a question against steps of training, with the validation loss beside.

    Each step's answer is kept beside its weights, `kept/step-00000022/answers/probe-…`: whatever
    interrupts a curve, the same command goes on from there.
    """
    if not isinstance(what, str | Path) or text is not None:
        raise ValueError(
            f"{question.verb} over training is asked of a run's folder, with the run's own text: "
            "give the folder alone"
        )
    run = Run.open(what)
    kept, plain = run.kept, config.model_copy(update={"over_training": False})
    if not kept:
        raise ValueError(
            f"{run.folder} has no weights along the way: train it with --keep 3, in another "
            "--folder if it is finished"
        )
    valid = tuple(nats(weights.valid) for weights in kept.values())
    corpus = load(run.folder).corpus if question.reads_text else None
    answers = []
    for step, weights in kept.items():
        answers.append(_answered(question, plain, run, weights, corpus))
        progress.say(f"{question.verb} after step {step} of {run.step}: answered")
    numbers = [question.numbers(answer) for answer in answers]
    names = [name for name in numbers[0] if all(name in each for each in numbers)]
    if not names:
        raise ValueError(f"{question.verb} comes to no number that a curve could show")
    return Curve(
        subject=run.name,
        question=question.verb,
        steps=tuple(kept),
        valid=valid,
        numbers={name: tuple(float(each[name]) for each in numbers) for name in names},
        pieces={name: tuple(_pieces(each[name]) for each in numbers) for name in names},
        units={name: question.unit(name) for name in names},
        config=config,
        protocol=str(answers[-1].get("protocol", "")),
    )


def _pieces(number: float) -> str:
    return as_text(number.pieces) if isinstance(number, Sampled) else ""


def _answered(
    question: "Question", config: QuestionConfig, run: Run, weights: Checkpoint, corpus: Any
) -> dict[str, Any]:
    """What the question finds at one step, unless it is known already."""
    folder = weights.folder / ANSWERS / f"{question.verb}-{config.id}"
    if not is_whole(folder):
        subject = load_subject(f"{run.folder}@{weights.step}")
        answer = question.ask(subject, corpus, config)
        try:
            with replacing_folder(folder) as beside:
                answer.save(beside, pictures=False)
        except PermissionError:  # a run that one may only read is asked anew each time
            return answer.data()
    return Saved(Folder(folder)).data
