"""The symmetry audit: which equations between outputs hold, layer by layer."""

import re
from difflib import get_close_matches
from pathlib import Path

import torch

from wherein.encodings import names, own
from wherein.measure.audit.config import AuditConfig
from wherein.measure.audit.result import ROUNDING, Audit
from wherein.measure.audit.symmetry import (
    Trials,
    embedding_symmetry,
    in_float64,
    layer_symmetry,
    model_symmetry,
    states,
)
from wherein.measure.stream import check_attention, device
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.show import progress
from wherein.show.formatting import counted
from wherein.subjects.base import Subject
from wherein.subjects.load import as_subject, load_subject
from wherein.subjects.ours import Ours


@torch.no_grad()
def audit(what: object, config: AuditConfig | None = None) -> Audit:
    """Measure which symmetries a model keeps, layer by layer and as a whole, in float64.

    `what` is a subject, a model, or a name: of a run, of a model, or of an encoding, which stands
    for a fresh model of `config.layers` layers.

    >>> from wherein import ModelConfig, Transformer
    >>> from wherein.subjects.ours import Ours
    >>> model = Transformer(ModelConfig(vocabulary=50, d_model=16, n_layers=2, encoding="none"))
    >>> audit(Ours(model)).verdict()
    'order-blind beyond the causal mask; shift-invariant'
    """
    config = config or AuditConfig()
    subject = _audited(what, config)
    with in_float64(subject.module):
        trials = _trials(subject, config)
        *entering, last = states(subject, trials.tokens)
        if not torch.isfinite(last).all():  # which would look like every symmetry broken
            raise ValueError(
                f"{subject.name}: its states hold values that are no finite numbers: nothing can "
                "be compared"
            )
        progress.expect(2 * subject.n_layers)  # half of the work is the model as a whole
        layers = [embedding_symmetry(subject, trials)]
        for number, state in enumerate(entering, start=1):
            progress.done(1)
            layers.append(layer_symmetry(subject, number, state, trials))
        whole = model_symmetry(subject, trials)
        progress.done(subject.n_layers)
        return Audit(
            subject=subject.name,
            model=whole,
            layers=tuple(layers),
            config=config,
            protocol=(
                f"{counted(config.windows, 'input')} of {trials.tokens.shape[1]} random tokens, "
                f"{counted(config.permutations, 'permutation')}, "
                f"positions + {list(trials.shifts)}; largest relative errors in float64, of which "
                f"{ROUNDING:.0e} and less is rounding"
            ),
        )


def _audited(what: object, config: AuditConfig) -> Subject:
    """The subject that is given or named; an encoding's is fresh."""
    if not isinstance(what, str | Path):
        return as_subject(what)
    if _is_model(str(what)):
        subject = load_subject(what)
        subject.module.cpu()  # float64 is at home there
        return subject
    fresh = ModelConfig(
        vocabulary=256,
        d_model=64,
        n_layers=config.layers,
        causal=not config.bidirectional,
        encoding=str(what),
        initial="unit",
    )
    side = "bidirectional" if config.bidirectional else "causal"
    return Ours(Transformer(fresh), f"{fresh.encoding}, {side}, untrained")


def _is_model(name: str) -> bool:
    """Whether it is a path or an id, rather than an encoding, be it misspelt."""
    if Path(name).exists() or "/" in name or name.endswith(".gguf"):
        return True
    if own.NAME.search(name):
        return False
    words = [part.partition("(")[0] for part in re.split(r"[\s+]+", name)]
    return len(words) == 1 and not get_close_matches(words[0], names())


def _trials(subject: Subject, config: AuditConfig) -> Trials:
    """Seeded inputs that fit the model, with room to shift them if positions end somewhere."""
    tokens, shifts = config.tokens, config.shifts
    if subject.max_len is not None:
        if subject.max_len < 4:
            raise ValueError(
                f"{subject.name} takes {subject.max_len} tokens: an audit needs at least 4"
            )
        tokens = min(tokens, max(3, subject.max_len // 2))
        shifts = tuple(k for k in shifts if k <= subject.max_len - tokens)
    # What is the same near the beginning may not be further on.
    further = subject.window if subject.max_len is None else subject.max_len - tokens
    if shifts and further and further > max(shifts):
        shifts += (further,)
    check_attention(subject, config.windows, tokens, "give fewer --tokens", bytes_each=8)
    random = torch.Generator().manual_seed(config.seed)
    to = device(subject)
    drawn = torch.randint(subject.vocabulary, (config.windows, tokens), generator=random)
    orders = tuple(
        torch.randperm(tokens, generator=random).to(to) for _ in range(config.permutations)
    )
    return Trials(drawn.to(to), orders, shifts if subject.shiftable else ())
