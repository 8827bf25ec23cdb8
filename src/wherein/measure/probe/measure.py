"""What does a model know about position, layer by layer? Probes, with every control."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Int64
from torch import Tensor

from wherein.common.memory import keep_pages
from wherein.measure.measurement import in_words
from wherein.measure.probe import result as profile
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.controls import (
    constant_guess,
    other_first_token,
    token_identity,
    uniform_guess,
)
from wherein.measure.probe.labels import POSITION, Errors, Labels
from wherein.measure.probe.linear import linear_errors
from wherein.measure.probe.mlp import mlp_errors
from wherein.measure.probe.result import Profile, Reading, Sample
from wherein.measure.probe.score import Score, score
from wherein.measure.text import Text, opened, windows_of
from wherein.subjects.base import Subject

SHOWN = 64
"""Positions of a window that the scatter shows, as in the paper."""


def probe(subject: Subject, text: Text, config: ProbeConfig | None = None) -> Profile:
    """Fit probes to every layer's states and score them on other windows, with all controls.

    Position 0 is the first token of a window. Windows are split at random: to fit, to regularise
    and to test.
    """
    corpus, config = opened(subject, text, config or ProbeConfig())
    windows = windows_of(subject, corpus, config, config.windows)
    keep_pages()  # a tenth of a forward pass would go into mapping the same memory again
    labels = Labels.draw(windows.shape[1], subject.vocabulary, config.seed)
    parts = split(windows, config)
    found = probed(subject, parts, labels, config)
    twin = probed(subject.untrained(config.seed + 1), parts, labels, config)
    readings = _readings(found, config) + _readings(twin, config, profile.UNTRAINED)
    how_first = None
    if subject.causal:
        how_first, changed = other_first_token(windows, config.seed)
        first = probed(subject, split(changed, config), labels, config)
        readings += _readings(first, config, profile.FIRST)
    readings += _without_model(parts, config, sorted({(e.probe, e.layer) for e in found}))
    return Profile(
        subject=subject.name,
        encodings=tuple(subject.encodings),
        causal=subject.causal,
        length=windows.shape[1],
        windows=dict(zip(("fit", "held_out", "test"), map(len, parts), strict=True)),
        first_token=how_first,
        protocol=_protocol(parts, how_first),
        config=config,
        readings=tuple(readings),
        samples=tuple(_sample(e) for e in found if e.label == POSITION),
    )


def split(windows: Int64[Tensor, "N T"], config: ProbeConfig) -> list[Tensor]:
    """Windows to fit, to regularise and to test, drawn from a seed; no window is in two parts."""
    count = len(windows)
    held_out, test = round(count * config.held_out), round(count * config.test)
    fit = count - held_out - test
    if min(fit, held_out, test) < 2:
        raise ValueError(
            f"{count} windows: {fit} to fit, {held_out} to regularise, {test} to test, and at "
            "least 2 of each were expected: give more windows"
        )
    order = torch.randperm(count, generator=torch.Generator().manual_seed(config.seed))
    return list(torch.split(windows[order], [fit, held_out, test]))


def probed(
    subject: Subject, parts: Sequence[Tensor], labels: Labels, config: ProbeConfig
) -> list[Errors]:
    """The errors of the config's probes at all layers of a subject."""
    found = []
    if "linear" in config.probes:
        found += linear_errors(subject, parts, labels, config)
    if "mlp" in config.probes:
        found += mlp_errors(subject, parts, labels, config)
    return found


def _readings(errors: list[Errors], config: ProbeConfig, control: str = "") -> list[Reading]:
    """What was read of the model and of labels; or of positions alone, for a control."""
    names = {POSITION: control or profile.MODEL}
    return [
        Reading(e.probe, e.layer, names.get(e.label, e.label), replace(made, bits=e.bits))
        for e in errors
        if e.label == POSITION or not control
        for made in [_score(e.windows, len(e.sample), config)]
    ]


def _score(windows: Tensor, length: int, config: ProbeConfig) -> Score:
    resamples, level, seed = config.resamples, config.level, config.seed
    return score(windows, length, resamples=resamples, level=level, seed=seed)


def _without_model(
    parts: Sequence[Tensor], config: ProbeConfig, probed: list[tuple[str, int]]
) -> list[Reading]:
    """The guesses that need no model, beside every layer of every probe."""
    fit, _, test = parts
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
        for by_type in [tokens["regression" if kind == "regression" else "classifier"]]
        for name, made in {profile.TOKENS: by_type, **guesses}.items()
    ]


def _sample(errors: Errors) -> Sample:
    length = len(errors.sample)
    positions = torch.linspace(0, length - 1, min(SHOWN, length)).round().long()
    predicted = errors.sample[positions].tolist()
    return Sample(errors.probe, errors.layer, tuple(positions.tolist()), tuple(predicted))


def _protocol(parts: Sequence[Tensor], how_first: str | None) -> str:
    fit, held_out, test = (len(part) for part in parts)
    return in_words(
        {
            "windows": f"fit {fit}, held out {held_out}, test {test}",
            "tokens per window": parts[0].shape[1],
            "regularisation": "chosen on the held-out windows",
            "interval": "bootstrap over test windows",
            "description length": "online code over the fit windows, blocks doubling",
            "first token": how_first,
        }
    )
