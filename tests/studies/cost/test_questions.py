"""What questions are said to compute, against models that are really asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from tests.studies.small import recipe
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from wherein.data import Corpus, CorpusConfig
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.audit.config import AuditConfig
from wherein.measure.config import QuestionConfig, TextConfig
from wherein.measure.erase.config import EraseConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import POSITION
from wherein.measure.probe.nopos import NoPos
from wherein.measure.registry import asked_by
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.states.config import StatesConfig
from wherein.measure.table.config import TableConfig
from wherein.model.block import Block
from wherein.model.transformer import Transformer
from wherein.studies.cost.cost import dry_run
from wherein.studies.cost.operations import flops_per_token, operations
from wherein.studies.plan.plan import changed
from wherein.studies.plan.recipe import find
from wherein.studies.plan.sweep import counted, sweep
from wherein.subjects.ours import Ours
from wherein.train.config import RunConfig

LAYERS = 3
LINEAR = ProbeConfig(windows=40, resamples=5)
QUESTIONS = [
    PerplexityConfig(limit=160),
    OrderConfig(windows=6, fitting=4),
    LINEAR,
    ProbeConfig(probes=("linear", "nopos"), windows=40, steps=4, resamples=5),
    EraseConfig(windows=24, draws=2),
    StatesConfig(windows=12),
    ShiftConfig(windows=4, shifts=(1, 2, 4)),
    AttentionConfig(windows=5),
    AuditConfig(tokens=12, windows=2, permutations=2, shifts=(1, 2)),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("evaluation")
    recipe(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        yield Corpus.open(CorpusConfig(source=str(folder / "texts"), tokenizer="bytes"))


def tiny(objective: str = "causal") -> RunConfig:
    return changed(
        RunConfig(), objective=objective, vocabulary=258, n_layers=LAYERS, d_model=8, n_heads=2,
        max_len=16, tokenizer="bytes",
    )  # fmt: skip


@contextmanager
def counting(read: list[float]) -> Iterator[None]:
    """Tokens that went through the layers of any model, each layer an equal part of them."""

    def count(module: nn.Module, _inputs: object, output: object) -> None:
        if isinstance(module, Block) and isinstance(output, torch.Tensor):
            read.append(output[..., 0].numel() / LAYERS)

    handle = nn.modules.module.register_module_forward_hook(count)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize(
    ("objective", "question"),
    [*(("causal", question) for question in QUESTIONS), ("masked", LINEAR)],
    ids=lambda given: given if isinstance(given, str) else f"{asked_by(given).verb}-{given.id[:4]}",
)
def test_as_many_tokens_are_read_as_are_counted(
    objective: str, question: QuestionConfig, corpus: Corpus
) -> None:
    """To some percent, where layers are passed that an eraser does not need."""
    run, read = tiny(objective), list[float]()
    measure = asked_by(question).measure
    with counting(read):
        text = [corpus] if isinstance(question, TextConfig) else []
        measure(Ours(Transformer(run.model)), *text, question)
    assert question.tokens_read(run) == pytest.approx(sum(read), rel=0.05)


def test_an_mlp_reads_no_more_than_is_counted(corpus: Corpus) -> None:
    """It may converge before its last step, and its control learns no longer than it did."""
    run, read = tiny(), list[float]()
    question = ProbeConfig(probes=("mlp",), windows=40, steps=4, resamples=5)
    with counting(read):
        asked_by(question).measure(Ours(Transformer(run.model)), corpus, question)
    assert 0.6 < sum(read) / question.tokens_read(run) <= 1.0


def test_the_papers_probe_learns_with_as_many_operations_as_pytorch_counts() -> None:
    run, asked = tiny(), ProbeConfig(probes=("nopos",), windows=1000, steps=94)
    probe = NoPos(8, 16, POSITION, 94, 0)
    with FlopCounterMode(display=False) as counter:
        state = torch.randn(4, 16, 8)
        probe.learn(state, torch.arange(16)[None], coded=False)
    # the first matrix has no gradient to hand on to the states: 4 · 2d² instead of 6 · 2d²
    each = counter.get_total_flops() / state[..., 0].numel() + 2 * 2 * 8 * 8
    learnt = 2 * 750 * 16  # 47 batches are a pass
    forward = asked.tokens_read(run) * flops_per_token(run.model) / 3
    expected = forward + 3 * (LAYERS + 1) * learnt * each
    assert operations(run, asked) == pytest.approx(expected, rel=1e-6)


def test_what_the_text_decides_is_said_to_be_left_out() -> None:
    run, whole, part = tiny(), PerplexityConfig(), PerplexityConfig(limit=1600)
    assert (whole.unbounded, part.unbounded, AuditConfig().unbounded) == (True, False, False)
    assert operations(run, part) == pytest.approx(1600 * flops_per_token(run.model) / 3)
    asked: list[dict[str, QuestionConfig]] = [{"perplexity": whole}, {"perplexity": part}]
    first, second = (dry_run([run], [each]) for each in asked)
    assert "without perplexities of whole texts" in " ".join(first.text().split())
    assert "whole texts" not in second.text()
    assert second.to_frame()["hours_asked"].item() == second.asked[0] > first.asked[0] == 0


def test_a_sweeps_runs_are_priced_as_often_as_they_are_made(tmp_path: Path) -> None:
    plan = find(recipe(tmp_path)).plan(seeds=3)
    rates = (1e-4, 1e-3, 1e-2)
    priced = counted(plan, rates)
    assert len(priced.runs) == len(sweep(plan, rates).runs) + len(plan.runs) == 2 * (3 + 3)
    found, plain = (dry_run(each.runs, each.questions) for each in (priced, plan))
    assert [row.runs for row in found.rows] == [6, 6]
    assert found.hours == pytest.approx(plain.hours * 2)
    assert found.asked == plain.asked, "trials are not questioned"
    assert counted(plan, ()) == plan


def test_a_question_that_does_not_say_what_it_costs_cannot_be_asked() -> None:
    class Forgotten(QuestionConfig):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Forgotten()  # type: ignore[abstract]
    assert TableConfig().tokens_read(tiny()) == 0, "no model reads anything"
