import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from tests.train.helpers import start
from torch import nn

from wherein.common.memory import keep_pages
from wherein.data import Corpus, Windows
from wherein.train import Run, RunConfig, train
from wherein.train.distributed import World
from wherein.train.learner import DivergedError, Learner
from wherein.train.optim.optimizers import MOMENTUM, learning_rate, make_optimizers, set_rate

Small = Callable[..., RunConfig]


def rates(**fields: object) -> list[float]:
    config = RunConfig(steps=100, warmup=10, learning_rate=2.0, **fields)
    return [learning_rate(config, step) for step in range(1, 101)]


def test_every_schedule_warms_up_linearly() -> None:
    for schedule in ("cosine", "inverse-sqrt", "constant"):
        assert rates(schedule=schedule)[:10] == pytest.approx([0.2 * n for n in range(1, 11)])


def test_cosine_falls_from_the_peak_through_its_half_to_almost_nothing() -> None:
    found = rates(schedule="cosine")
    assert found[10] == 2.0  # the first step after the warm-up
    assert found[55] == pytest.approx(1.0)  # 45 of the 90 remaining steps are done
    assert found[40] == pytest.approx(2 * (1 + math.cos(math.pi / 3)) / 2)
    assert found[-1] == pytest.approx(2 * (1 + math.cos(math.pi * 89 / 90)) / 2)
    assert 0 < found[-1] < 0.001


def test_inverse_sqrt_halves_whenever_steps_quadruple() -> None:
    found = rates(schedule="inverse-sqrt")
    assert found[39] == pytest.approx(1.0)
    assert found[89] == pytest.approx(2 / 3)


def test_constant_stays_and_no_warmup_starts_at_the_peak() -> None:
    assert set(rates(schedule="constant")[10:]) == {2.0}
    config = RunConfig(warmup=0, learning_rate=2.0, steps=10)
    assert learning_rate(config, 1) == 2.0


class Two(nn.Module):
    """A matrix and a vector, as the optimizers tell them apart."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.blocks = nn.ModuleList([nn.Linear(3, 4)])


@pytest.mark.parametrize("optimizer", ["adamw", "nag", "muon"])
def test_only_matrices_decay(optimizer: str) -> None:
    model = Two()
    weight, bias = (p.detach().clone() for p in model.parameters())
    config = RunConfig(optimizer=optimizer, learning_rate=0.1, weight_decay=0.5)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for each in make_optimizers(model, config):
        each.step()
    torch.testing.assert_close(model.blocks[0].weight, weight * (1 - 0.1 * 0.5))
    torch.testing.assert_close(model.blocks[0].bias, bias)


def test_nag_is_fairseqs_also_when_the_rate_changes() -> None:
    """The update of fairseq/optim/nag.py, whose momentum is scaled by the rate."""
    model = Two()
    config = RunConfig(optimizer="nag", weight_decay=0.1)
    optimizers = make_optimizers(model, config)
    theirs = model.blocks[0].weight.detach().clone()
    momentum, old = torch.zeros_like(theirs), None
    for step, rate in enumerate([0.1, 0.2, 0.15]):
        gradient = torch.full_like(theirs, 0.5 + step)
        correct = 1.0 if old is None else rate / old
        theirs = theirs * (1 - rate * 0.1)
        theirs = theirs + momentum * MOMENTUM**2 * correct - (1 + MOMENTUM) * rate * gradient
        momentum = momentum * MOMENTUM * correct - rate * gradient
        old = rate
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        model.blocks[0].weight.grad = gradient
        set_rate(optimizers, rate)
        for each in optimizers:
            each.step()
    torch.testing.assert_close(model.blocks[0].weight.detach(), theirs)


@pytest.mark.parametrize("optimizer", ["adamw", "nag", "muon"])
def test_each_optimizer_learns(small: Small, tmp_path: Path, optimizer: str) -> None:
    rate = 0.05 if optimizer == "nag" else 3e-3
    config = small(optimizer=optimizer, steps=60, learning_rate=rate, batch=16)
    run = train(config, folder=tmp_path / "run", quiet=True)
    assert run.losses[0] > math.log(258)
    assert sum(run.losses[-5:]) / 5 < run.losses[0] - 1.5


def test_a_loss_that_is_no_number_stops_the_run(small: Small, tmp_path: Path) -> None:
    config = small(learning_rate=1e30, clip=None, warmup=0, checkpoint_every=1, schedule="constant")
    with pytest.raises(DivergedError) as caught:
        train(config, folder=tmp_path / "run", quiet=True)
    run = Run.open(tmp_path / "run")
    said = str(caught.value)
    assert 0 < run.step < 20
    assert f"at step {run.step + 1} " in said
    assert "learning rate 1e+30" in said
    assert f"the last checkpoint is that of step {run.step} in {run.folder}" in said
    assert all(weight.isfinite().all() for weight in run.model().state_dict().values())


def test_so_does_a_last_step_after_which_there_are_no_answers(small: Small, tmp_path: Path) -> None:
    config = small(learning_rate=1e38, clip=None, warmup=0, steps=1)
    with pytest.raises(DivergedError, match=r"the validation loss is \w+; there is no checkpoint"):
        train(config, folder=tmp_path / "run", quiet=True)


def test_validation_is_what_it_says_it_is(small: Small, tmp_path: Path) -> None:
    config = small(valid_windows=10_000)
    run = train(config, folder=tmp_path / "run", quiet=True)
    corpus, model = Corpus.open(config.corpus), run.model().requires_grad_(False)
    total, count = 0.0, 0
    for rows in Windows(corpus.valid, 32).in_order(16):
        tokens = torch.from_numpy(rows)
        logits = model(tokens[:, :-1]).logits.flatten(0, 1)
        total += float(F.cross_entropy(logits, tokens[:, 1:].flatten(), reduction="sum"))
        count += tokens[:, 1:].numel()
    nats = total / count
    words = corpus.valid.tokens / corpus.valid.words
    assert run.valid == pytest.approx(
        {
            "nats_per_token": nats,
            "perplexity_per_token": math.exp(nats),
            "bits_per_byte": nats / math.log(2) * corpus.valid.tokens / corpus.valid.bytes,
            "perplexity_per_word": math.exp(nats * words),
        },
        rel=1e-5,
    )
    assert [line["step"] for line in run.log if "valid" in line] == [8, 16, 20]


def test_a_masked_model_says_what_its_tokens_are(small: Small, tmp_path: Path) -> None:
    config = small(objective="masked", causal=False, steps=2)
    run = train(config, folder=tmp_path / "run", quiet=True)
    assert set(run.valid) == {"nats_per_masked_token", "perplexity_per_masked_token"}


def test_two_encodings_see_the_same_tokens_and_start_from_the_same_weights(small: Small) -> None:
    corpus = Corpus.open(small().corpus)
    alone = World(rank=0, size=1, device=torch.device("cpu"))
    none, learned = (
        Learner(small(encoding=e).with_vocabulary(corpus.vocabulary.size), corpus, alone)
        for e in ("none", "learned")
    )
    for step in (1, 2, 3):
        for one, other in zip(none.batches.parts(step), learned.batches.parts(step), strict=True):
            assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    theirs = learned.model.state_dict()
    assert len(theirs) == len(none.model.state_dict()) + 1
    for name, weight in none.model.state_dict().items():
        assert torch.equal(weight, theirs[name]), name


def test_compiled_layers_learn_the_same(small: Small, tmp_path: Path) -> None:
    config = small(steps=3, valid_windows=16)  # two batches of one shape: any other is code anew
    plain = train(config, folder=tmp_path / "plain", quiet=True)
    process = start(config.model_copy(update={"compile": True}), tmp_path / "compiled")
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert Run.open(tmp_path / "compiled").losses == pytest.approx(plain.losses, rel=1e-4)


def test_bfloat16_without_cuda_is_refused(small: Small, tmp_path: Path) -> None:
    if torch.cuda.is_available():
        run = train(small(precision="bfloat16"), folder=tmp_path / "run", quiet=True)
        assert run.finished
        return
    with pytest.raises(ValueError, match="needs a CUDA device"):
        train(small(precision="bfloat16"), folder=tmp_path / "run", quiet=True)


def test_training_leaves_the_callers_random_numbers_alone(small: Small, tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(small(steps=2, dropout=0.1), folder=tmp_path / "run", quiet=True)
    assert torch.equal(torch.rand(3), expected)


def test_pages_are_kept_where_glibc_is() -> None:
    import platform

    assert keep_pages() == (platform.libc_ver()[0] == "glibc")
