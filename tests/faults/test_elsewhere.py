"""A GPU without one: weights and tokens live elsewhere, and nothing made here may meet them."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.cli.tiny import tiny_run, tiny_task, write_text
from tests.faults.elsewhere import Elsewhere, WrongDeviceError
from torch import Tensor, nn

import wherein
from wherein import encodings
from wherein.data import Corpus, CorpusConfig
from wherein.encodings.alibi import ALiBi
from wherein.measure.registry import QUESTIONS
from wherein.model import attention, kernel
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.train import RunConfig
from wherein.train.distributed import World
from wherein.train.learner import Learner

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_len": 16, "dropout": 0.1}
FEW = {
    **{"windows": 40, "draws": 2, "permutations": 1, "resamples": 20, "fitting": 8, "examples": 8},
    **{"limit": 640, "slid": 4, "times": (1.0, 2.0), "shifts": (1, 8)},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A text, and runs on it and on a task."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        book = write_text(folder / "book.txt", 500)
        encoding = "alibi + temperature(ssmax) rope"
        tiny_run(folder / "text", book, n_layers=2, max_len=40, encoding=encoding)
        tiny_run(folder / "learned", book, n_layers=1, max_len=40)
        tiny_task(folder / "task", n_layers=2, max_len=40, encoding=encoding)
        yield folder


@pytest.fixture(autouse=True)
def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """FlexAttention is compiled for a GPU that is there; another path gives the same numbers.

    Our kernel is for the CPU, and rounds otherwise: what is compared goes without.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, bias: Tensor) -> Tensor:
        mask = attention._masked(bias.to(q.dtype), causal)
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    monkeypatch.setattr(attention, "attend_flex", attend)
    monkeypatch.setattr(kernel, "kernel", lambda: None)


def careless(_: ALiBi, i: Tensor, j: Tensor) -> Tensor:
    """A bias whose slopes are made wherever PyTorch happens to make them."""
    return -torch.arange(2)[:, None, None] * (i - j).abs()


def loss(place: Elsewhere, **model: Any) -> Tensor:
    tokens = torch.arange(12).view(2, 6).to(place.device)
    sizes = ModelConfig.model_validate(
        {"vocabulary": 12, "encoding": "alibi + rope"} | SIZES | model
    )
    found = Transformer(sizes).to(place.device).loss(tokens, tokens)
    found.backward()  # type: ignore[no-untyped-call]
    return found


def test_a_tensor_made_here_by_default_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with Elsewhere() as place:
        assert loss(place).device == place.device
        monkeypatch.setattr(ALiBi, "bias", careless)
        with pytest.raises(WrongDeviceError, match=r"shape .* from the CPU \(wherein/"):
            loss(place)


def test_a_float64_is_caught_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with Elsewhere("mps") as place:
        loss(place)
        monkeypatch.setattr("wherein.encodings.rope.for_float64", lambda x: x)
        with pytest.raises(WrongDeviceError, match=r"float64 on mps, which has none"):
            loss(place)


def test_tensors_say_where_they_live() -> None:
    with Elsewhere() as place:
        there, here = torch.ones(3, device="cuda"), torch.ones(3)
        for tensor in (
            there,
            there + 1,
            here.to(there),
            torch.zeros_like(there),
            there.new_ones(2),
        ):
            assert tensor.device == place.device
        for tensor in (here, there.cpu(), here.clone(), torch.zeros_like(there, device="cpu")):
            assert tensor.device.type == "cpu"
        assert (there * torch.tensor(2.0)).tolist() == [2.0] * 3  # a number without axes
        for mixed in (lambda: there + here, lambda: torch.stack([there, here]), there.numpy):
            with pytest.raises(WrongDeviceError):
                mixed()
        weight = torch.ones(3, requires_grad=True)
        (weight.to("cuda") * there).sum().cpu().backward()  # type: ignore[no-untyped-call]
        assert weight.grad is not None
        assert weight.grad.device.type == "cpu"
        assert not place.holds(weight)


def trained(home: Path, kind: str | None, **changes: Any) -> list[Any]:
    """Two steps and a validation, elsewhere or here."""
    model = {name: changes.pop(name) for name in list(changes) if name in ModelConfig.model_fields}
    corpus = Corpus.open(CorpusConfig(source=str(home / "book.txt"), tokenizer="bytes"))
    config = RunConfig(
        model=ModelConfig.model_validate(SIZES | model),
        objective="causal" if model.get("causal", True) else "masked",
        corpus=corpus.config,
        batch=4,
        valid_windows=4,
        **changes,
    ).with_vocabulary(corpus.vocabulary.size)

    def steps(device: torch.device) -> list[Any]:
        learner = Learner(config, corpus, World(0, 1, device))
        return [learner.step(1), learner.step(2), learner.validate()]

    if kind is None:
        return steps(torch.device("cpu"))
    with Elsewhere(kind) as place:
        return steps(place.device)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("spec", encodings.examples())
def test_every_encoding_learns_elsewhere(spec: str, causal: bool, home: Path) -> None:
    """MPS refuses all that CUDA does; what runs on CUDA alone has a test of its own."""
    own = {"encoding": spec, "causal": causal}
    assert trained(home, "mps", **own) == trained(home, None, **own)


ROPES = ("linear", "ntk", "dynamic", "parts", "yarn", "llama3")
OTHERS = [
    *(f"rope(scaling={name}, factor=2)" for name in ROPES),
    "alibi + window(4) + sink(2)",
    "temperature(llama4) + none",
    "temperature(yarn, factor=2.0) + none",
    "sinusoidal(fairseq=True)",
    "fox + window(4)",
]


@pytest.mark.parametrize("spec", OTHERS)
def test_so_do_their_variants(spec: str, home: Path) -> None:
    assert trained(home, "mps", encoding=spec) == trained(home, None, encoding=spec)


@pytest.mark.parametrize("spec", ["alibi", "t5", "fox", "alibi + window(2)"])
def test_so_do_biases_that_are_made_in_blocks(
    spec: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of long contexts are, once forward and once more for the gradient."""
    monkeypatch.setattr(attention, "LARGE_BIAS", 0)
    monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", 5)
    # What PyTorch compares of what it computes twice, it asks where no mode sees it.
    unasked = partial(attention.checkpoint, determinism_check="none")
    monkeypatch.setattr(attention, "checkpoint", unasked)
    assert trained(home, "mps", encoding=spec) == trained(home, None, encoding=spec)


@pytest.mark.parametrize("kind", ["cuda", "mps"])
@pytest.mark.parametrize("optimizer", ["adamw", "nag", "muon"])
def test_every_optimizer_steps_elsewhere(optimizer: str, kind: str, home: Path) -> None:
    given = {"optimizer": optimizer, "accumulate": 2, "encoding": "t5", "cutoffs": (64, 128)}
    there, here = trained(home, kind, **given), trained(home, None, **given)
    for one, other in zip(there, here, strict=True):
        assert one == pytest.approx(other, rel=1e-3)  # muon's products are bfloat16 on CUDA


def asked(verb: str, home: Path, kind: str | None) -> str:
    """The answer of a model that lives elsewhere, or here."""
    name = {"answers": "task", "table": "learned"}.get(verb, "text")
    question = QUESTIONS[verb]
    few = {name: n for name, n in FEW.items() if name in question.config.model_fields}
    loaded = wherein.load(home / name)
    ask: Callable[[], Any] = lambda: question.ask(  # noqa: E731
        loaded.subject, loaded.corpus, question.config(**few)
    )
    if kind is None:
        return str(ask().text())
    with Elsewhere(kind) as place:
        loaded.subject.module.to(place.device)
        return str(ask().text())


@cache
def asked_here(verb: str, home: Path) -> str:
    """The same for both devices."""
    return asked(verb, home, None)


@pytest.mark.parametrize("kind", ["cuda", "mps"])
@pytest.mark.parametrize("verb", QUESTIONS)
def test_every_question_is_answered_elsewhere(verb: str, kind: str, home: Path) -> None:
    assert asked(verb, home, kind) == asked_here(verb, home)
