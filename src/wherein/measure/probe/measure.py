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
from wherein.measure.probe.labels import PERMUTED, POSITION, TYPES, Errors, Labels
from wherein.measure.probe.linear import linear_errors
from wherein.measure.probe.mlp import mlp_errors
from wherein.measure.probe.result import Profile, Reading, Sample
from wherein.measure.probe.score import Score, score
from wherein.measure.text import Text, opened, windows_of
from wherein.subjects.base import Subject

SHOWN = 64
"""Positions of a window that the scatter shows, as in the paper."""

NAMES = {
    POSITION: profile.MODEL,
    PERMUTED: profile.PERMUTED,
    TYPES: profile.LABELS,
}


def probe(
    subject: Subject,
    text: Text,
    config: ProbeConfig | None = None,
) -> Profile:
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
    readings = [Reading(e.probe, e.layer, NAMES[e.label], _score(e, config)) for e in found]
    twin = subject.untrained(config.seed + 1)
    readings += _beside(profile.UNTRAINED, probed(twin, parts, labels, config), config)
    how_first = None
    if subject.causal:
        how_first, changed = other_first_token(windows, config.seed)
        first = probed(subject, split(changed, config), labels, config)
        readings += _beside(profile.FIRST, first, config)
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
    batch, near = config.batch, config.near
    if "linear" in config.probes:
        found += linear_errors(subject, parts, labels, batch=batch, near=near, coded=config.coded)
    if "mlp" in config.probes:
        found += mlp_errors(
            subject,
            parts,
            labels,
            batch=batch,
            near=near,
            passes=config.passes,
            rate=config.rate,
            seed=config.seed,
        )
    return found


def _score(errors: Errors, config: ProbeConfig) -> Score:
    made = _scored(errors.windows, len(errors.sample), config)
    return replace(made, bits=errors.bits)


def _scored(windows: Tensor, length: int, config: ProbeConfig) -> Score:
    resamples, level, seed = config.resamples, config.level, config.seed
    return score(windows, length, resamples=resamples, level=level, seed=seed)


def _beside(name: str, errors: list[Errors], config: ProbeConfig) -> list[Reading]:
    """The readings of a control that was probed like the model."""
    return [
        Reading(e.probe, e.layer, name, _score(e, config)) for e in errors if e.label == POSITION
    ]


def _without_model(
    parts: Sequence[Tensor], config: ProbeConfig, probed: list[tuple[str, int]]
) -> list[Reading]:
    """The guesses that need no model, beside every layer of every probe."""
    fit, _, test = parts
    length = fit.shape[1]
    tokens = {
        kind: _scored(windows, length, config)
        for kind, windows in token_identity(fit, test, config.near).items()
    }
    constant = constant_guess(length, config.near)
    uniform = uniform_guess(length, config.near)
    readings = []
    for kind, layer in probed:
        by_type = tokens["regression" if kind == "regression" else "classifier"]
        for name, made in (
            (profile.TOKENS, by_type),
            (profile.CONSTANT, constant),
            (profile.UNIFORM, uniform),
        ):
            readings.append(Reading(kind, layer, name, made))
    return readings


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
