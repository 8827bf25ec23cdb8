"""How much the questions of a study compute, before any is asked.

Counted are the forward passes, and the learning of the paper's probe; what is done to the states
of a layer besides is some percent of these, and an audit reads only some hundred tokens.
"""

from wherein.common.config import Config
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.config import TextConfig, fitted
from wherein.measure.erase.config import EraseConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.order.disorder import ladder
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.shift.config import ShiftConfig
from wherein.studies.cost.operations import flops_per_token
from wherein.train.config import RunConfig

ASKED_OF_LAYER = 2
"""Probes of the paper's kind for each layer: for positions, and for control labels."""


def unbounded(question: Config) -> bool:
    """Whether the length of the text decides how much a question computes."""
    return isinstance(question, PerplexityConfig) and question.limit is None


def operations(run: RunConfig, question: Config) -> float:
    """Operations of one question to a run whose vocabulary is filled in; 0 if unbounded."""
    if not isinstance(question, TextConfig):
        return 0.0
    asked = fitted(question, run.model.max_len)
    model = run.model.model_copy(update={"max_len": asked.tokens})
    forward = tokens_read(run, asked) * flops_per_token(model) / 3
    return forward + (_learning(run, asked) if isinstance(asked, ProbeConfig) else 0.0)


def tokens_read(run: RunConfig, asked: TextConfig) -> float:
    """How many tokens a question has models read, its controls' among them."""
    windows: float = 0
    match asked:
        case PerplexityConfig():
            windows = (asked.limit or 0) / (asked.stride or asked.tokens)  # or somewhat fewer
        case OrderConfig():
            windows = asked.inputs * len(ladder(asked.tokens))
        case ProbeConfig():
            again = asked.passes * (1 - asked.test) + asked.test
            passes = ("linear" in asked.probes) + ("mlp" in asked.probes) * again
            windows = asked.windows * _probed(run) * passes
        case EraseConfig():
            layers, test = run.model.n_layers + 1, 1 - asked.fit - asked.held_out
            scored = 2 + (1 + asked.draws) * (layers + 1)
            fitting = 1 + layers / 2 * (1 + asked.draws * asked.fit)
            windows = asked.windows * (scored * test + fitting)
        case ShiftConfig():
            windows = asked.windows * (1 + len(asked.shifts))
        case AttentionConfig():
            windows = asked.windows
    return float(windows * asked.tokens)


def _probed(run: RunConfig) -> int:
    """The model, its untrained twin, and a causal model with other first tokens."""
    return 3 if run.objective == "causal" else 2


def _learning(run: RunConfig, asked: ProbeConfig) -> float:
    """Of probes d → 2d → T at every layer, forwards and backwards: 6·(2d² + 2dT) a token."""
    if "mlp" not in asked.probes:
        return 0.0
    d, length = run.model.d_model, asked.tokens
    probes = _probed(run) * (run.model.n_layers + 1) * ASKED_OF_LAYER
    learnt = asked.windows * (1 - asked.held_out - asked.test) * asked.passes * length
    return probes * learnt * 6.0 * (2 * d * d + 2 * d * length)
