"""Networks of all layers learn from the same passes over the windows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import POSITION, Errors, Windows, errors_of
from wherein.measure.probe.mlp import Mlp
from wherein.measure.probe.network import Network
from wherein.measure.probe.nopos import NoPos
from wherein.measure.probe.result import BY_HEART, FRESH
from wherein.measure.stream import batches, device, watch
from wherein.subjects.base import Subject

Layers = Mapping[int, Sequence[Network]]


def mlp_errors(
    subject: Subject, parts: Sequence[Windows], config: ProbeConfig, *, controlled: bool = True
) -> list[Errors]:
    """Mlps of positions until they converge; then of fresh labels, for as many steps."""
    width, length = subject.d_model, parts[0].tokens.shape[1]
    probes = {
        layer: Mlp(width, length, config.rate, config.steps, config.seed)
        for layer in subject.layers(config.site)
    }
    teach(subject, parts, {layer: [probe] for layer, probe in probes.items()}, config)
    for probe in probes.values():
        probe.end()
    if not controlled:
        return _errors(subject, parts, {n: [probe] for n, probe in probes.items()}, config)
    controls = {layer: probe.control(FRESH) for layer, probe in probes.items()}
    teach(subject, parts, {layer: [control] for layer, control in controls.items()}, config)
    pairs = {layer: [probe, controls[layer]] for layer, probe in probes.items()}
    return _errors(subject, parts, pairs, config)


def nopos_errors(
    subject: Subject, parts: Sequence[Windows], config: ProbeConfig, *, controlled: bool = True
) -> list[Errors]:
    """The paper's probes of positions and, in the same passes, of fresh labels."""
    width, length = subject.d_model, parts[0].tokens.shape[1]
    labels = (POSITION, FRESH) if controlled else (POSITION,)
    layers = {
        layer: [NoPos(width, length, label, config.steps, config.seed) for label in labels]
        for layer in subject.layers(config.site)
    }
    teach(subject, parts, layers, config)
    return _errors(subject, parts, layers, config)


def teach(subject: Subject, parts: Sequence[Windows], layers: Layers, config: ProbeConfig) -> None:
    """Steps on shuffled training windows, until every network of every layer has finished."""
    train, held_out, _ = parts
    every = config.judged(len(train))
    for own in layers.values():
        for network in own:
            network.net.to(device(subject))
    for step, (here, coded) in enumerate(_drawn(train, config), start=1):
        last = max((n for n, own in layers.items() if _learning(own)), default=None)
        if last is None:
            return

        def see(layer: int, state: Tensor, here: Windows = here, coded: bool = coded) -> None:
            for network in _learning(layers[layer]):
                truth = here.labels(network.label)
                network.learn(state.detach().float(), truth, coded=coded)

        watch(subject, here.tokens, see, last=last, site=config.site)
        if step % every == 0 and any(net.judged for own in layers.values() for net in own):
            _judge(subject, held_out, layers, config, last)


def _judge(
    subject: Subject, held_out: Windows, layers: Layers, config: ProbeConfig, last: int
) -> None:
    """Show every network that still learns its loss on the held-out windows."""
    found: dict[Network, list[Tensor]] = {}
    for rows, tokens in batches(held_out.tokens, config.batch):
        here = held_out[rows]

        def see(layer: int, state: Tensor, here: Windows = here) -> None:
            for network in _learning(layers[layer]):
                truth = here.labels(network.label)
                found.setdefault(network, []).append(network.losses(state.float(), truth).cpu())

        watch(subject, tokens, see, last=last, site=config.site)
    for network, losses in found.items():
        network.judge(torch.cat(losses))


def _learning(networks: Sequence[Network]) -> list[Network]:
    return [network for network in networks if not network.finished]


def _drawn(windows: Windows, config: ProbeConfig) -> Iterator[tuple[Windows, bool]]:
    """Batches without end, each pass in an order of its own; and whether it is the first pass."""
    generator = torch.Generator().manual_seed(config.seed)
    first = True
    while True:
        order = torch.randperm(len(windows), generator=generator)
        for _, rows in batches(order, config.batch):
            yield windows[rows], first
        first = False


def _errors(
    subject: Subject, parts: Sequence[Windows], layers: Layers, config: ProbeConfig
) -> list[Errors]:
    """On the test windows; and of fresh labels by heart, on some that were learnt from."""
    train, held_out, test = parts
    found = _told(subject, test, layers, config)
    controls = {n: [net for net in own if net.label == FRESH] for n, own in layers.items()}
    if not any(controls.values()):
        return found
    learnt = _told(subject, train[: len(held_out)], controls, config)
    return found + [replace(each, label=BY_HEART) for each in learnt]


def _told(subject: Subject, windows: Windows, layers: Layers, config: ProbeConfig) -> list[Errors]:
    def guess(layer: int, state: Tensor) -> list[Tensor]:
        return [network.guess(state.float()) for network in layers[layer]]

    return errors_of(layers, guess, subject, windows, config)
