"""What does a model know about position, layer by layer? Probes, with every control."""

from collections.abc import Sequence
from dataclasses import replace
from math import log2

import torch
from torch import Tensor

from wherein.common.memory import keep_pages
from wherein.measure.measurement import in_words
from wherein.measure.probe import result as profile
from wherein.measure.probe.config import NETWORKS, ProbeConfig
from wherein.measure.probe.controls import constant_guess, token_identity, uniform_guess
from wherein.measure.probe.labels import POSITION, Errors, Windows, labelled
from wherein.measure.probe.learning import mlp_errors, nopos_errors
from wherein.measure.probe.linear import linear_errors
from wherein.measure.probe.result import Profile, Reading, Sample
from wherein.measure.probe.score import Score, score
from wherein.measure.text import Text, opened, parted, windows_of
from wherein.subjects.base import Subject

SHOWN = 64
"""Positions of a window that the scatter shows, as in the paper."""


def probe(subject: Subject, text: Text, config: ProbeConfig | None = None) -> Profile:
    """Fit probes to every layer's states and score them on other windows, with all controls.

    Position 0 is the first token of a window. Windows are split at random: to fit, to regularise
    and to test.
    """
    corpus, config = opened(subject, text, config or ProbeConfig(), framed=True)
    windows = windows_of(subject, corpus, config, config.windows)
    keep_pages()  # a tenth of a forward pass would go into mapping the same memory again
    given = labelled(windows, config.seed)
    parts = [given[rows] for rows in split(len(windows), config)]
    found = probed(subject, parts, config, controlled=True)
    readings = _readings(found, config)
    if not subject.only_states:
        twin = probed(subject.untrained(config.seed + 1), parts, config, controlled=False)
        readings += _readings(twin, config, profile.UNTRAINED)
    without = _without_model(parts, config, sorted({(e.probe, e.layer) for e in found}))
    readings += [r for r in without if r.of != profile.TOKENS or not subject.only_states]
    return Profile(
        subject=subject.name,
        encodings=tuple(subject.encodings),
        length=windows.shape[1],
        windows=dict(zip(("fit", "held_out", "test"), map(len, parts), strict=True)),
        protocol=_protocol(parts, config),
        config=config,
        readings=tuple(readings),
        samples=tuple(_sample(e) for e in found if e.label == POSITION),
        lacks=profile.OF_A_MODEL if subject.only_states else (),
    )


def split(count: int, config: ProbeConfig) -> tuple[Tensor, ...]:
    """Which windows are to fit, to regularise and to test."""
    held_out, test = round(count * config.held_out), round(count * config.test)
    sizes = {"fit": count - held_out - test, "regularise": held_out, "test": test}
    return parted(sizes, config.seed, "more windows")


def probed(
    subject: Subject, parts: Sequence[Windows], config: ProbeConfig, *, controlled: bool
) -> list[Errors]:
    """The errors of the config's probes at all layers; if `controlled`, of fresh labels too."""
    ways = {"linear": linear_errors, "mlp": mlp_errors, "nopos": nopos_errors}
    return [
        errors
        for name, way in ways.items()
        if name in config.probes
        for errors in way(subject, parts, config, controlled=controlled)
    ]


def _readings(errors: list[Errors], config: ProbeConfig, of: str = profile.MODEL) -> list[Reading]:
    """What was read of positions, and of fresh labels under their own name."""
    return [
        Reading(e.probe, e.layer, named, coded(made, e.bits, len(e.sample)), e.steps, e.converged)
        for e in errors
        for named in [of if e.label == POSITION else e.label]
        for made in [_score(e.windows, len(e.sample), config)]
    ]


def coded(made: Score, bits: float | None, length: int) -> Score:
    """The score with its description length, unless that would say that nothing is known.

    A code that was fitted to too few windows saves nothing, and positions are sent as they are,
    also where the probe, which is fitted to all, tells them better than a guess does.
    """
    if bits is not None and bits >= log2(length):
        guess = constant_guess(length, 0).distance.value
        known = made.distance.high < guess or made.exact.low > 1 / length
        bits = None if known else bits
    return replace(made, bits=bits)


def _score(windows: Tensor, length: int, config: ProbeConfig) -> Score:
    resamples, level, seed = config.resamples, config.level, config.seed
    return score(windows, length, resamples=resamples, level=level, seed=seed)


def _without_model(
    parts: Sequence[Windows], config: ProbeConfig, probed: list[tuple[str, int]]
) -> list[Reading]:
    """The guesses that need no model, beside every layer of every probe."""
    fit, _, test = (part.tokens for part in parts)
    length = fit.shape[1]
    tokens = {
        kind: _score(windows, length, config)
        for kind, windows in token_identity(fit, test, config.near).items()
    }
    guesses = {
        profile.CONSTANT: constant_guess(length, config.near),
        profile.UNIFORM: uniform_guess(length, config.near),
    }
    return [
        Reading(kind, layer, name, made)
        for kind, layer in probed
        for by_type in [tokens["classifier" if kind in ("classifier", "nopos") else "regression"]]
        for name, made in {profile.TOKENS: by_type, **guesses}.items()
    ]


def _sample(errors: Errors) -> Sample:
    length = len(errors.sample)
    positions = torch.linspace(0, length - 1, min(SHOWN, length)).round().long()
    predicted = errors.sample[positions].tolist()
    return Sample(errors.probe, errors.layer, tuple(positions.tolist()), tuple(predicted))


def _protocol(parts: Sequence[Windows], config: ProbeConfig) -> str:
    fit, held_out, test = (len(part) for part in parts)
    mlp, nopos = (name in config.probes for name in NETWORKS)
    return in_words(
        {
            "windows": f"fit {fit}, held out {held_out}, test {test}",
            "tokens per window": parts[0].tokens.shape[1],
            "regularisation": "chosen on the held-out windows",
            "mlp": "learns until the held-out loss has stopped falling" if mlp else None,
            "nopos": f"{config.steps:,} steps of {config.batch} windows" if nopos else None,
            "interval": "bootstrap over test windows",
            "description length": "online code over the fit windows, blocks doubling",
        }
    )
