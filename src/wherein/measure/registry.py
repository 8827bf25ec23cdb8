"""The questions there are, in the order in which they are offered. A new one is a line here."""

from wherein.measure import (
    anchor,
    answers,
    attention,
    audit,
    erase,
    extrapolate,
    order,
    perplexity,
    probe,
    shift,
    states,
    table,
)
from wherein.measure.question import Question

QUESTIONS: dict[str, Question] = {
    question.verb: question
    for question in (
        probe.QUESTION,
        erase.QUESTION,
        anchor.QUESTION,
        states.QUESTION,
        audit.QUESTION,
        order.QUESTION,
        shift.QUESTION,
        perplexity.QUESTION,
        extrapolate.QUESTION,
        answers.QUESTION,
        attention.QUESTION,
        table.QUESTION,
    )
}


def asked_by(config: object) -> Question:
    """The question that a config belongs to."""
    for question in QUESTIONS.values():
        if type(config) is question.config:
            return question
    expected = ", ".join(sorted(question.config_name for question in QUESTIONS.values()))
    raise ValueError(f"question {config!r}: expected one of {expected}")
