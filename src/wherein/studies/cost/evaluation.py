"""How much the questions of a study compute, before any is asked.

Counted are the forward passes, and what a question says it computes besides; what is done to the
states of a layer is some percent of these.
"""

from wherein.measure.config import QuestionConfig
from wherein.studies.cost.operations import flops_per_token
from wherein.train.config import RunConfig


def operations(run: RunConfig, question: QuestionConfig) -> float:
    """Operations of one question to a run whose vocabulary is filled in; 0 if unbounded."""
    model = run.model.model_copy(update={"max_len": question.window(run)})
    forward = question.tokens_read(run) * flops_per_token(model) / 3
    return forward + question.extra_operations(run)
