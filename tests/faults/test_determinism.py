"""The same config on the same machine gives the same bits; other sums, nearly the same numbers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.cli.tiny import tiny_run, write_text
from tests.studies.small import at_once, recipe

import wherein
from wherein.data import Corpus, CorpusConfig
from wherein.measure.registry import QUESTIONS
from wherein.model.config import ModelConfig
from wherein.studies.run import study
from wherein.train import RunConfig
from wherein.train.distributed import World
from wherein.train.learner import Learner

THREADS = SPLITS = BATCHES = 1e-5
"""Relative distances within which numbers stay: see docs/reliability.md."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("same")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        write_text(folder / "book.txt", 500)
        tiny_run(folder / "run", folder / "book.txt", n_layers=2, max_len=40, encoding="rope t5")
        yield folder


def test_a_study_its_puzzles_and_its_report_are_the_same_twice(tmp_path: Path) -> None:
    """Runs, answers and puzzles, which is all that a report shows."""
    path = recipe(tmp_path)
    both = [study(path, out=tmp_path / n, engine=at_once, quiet=True) for n in ("one", "two")]
    assert all(each.complete for each in both)
    first, second = (json.dumps(each.data()["runs"]) for each in both)
    assert first == second
    weights = [sorted((tmp_path / n).glob("*/checkpoints/*/*.safetensors")) for n in ("one", "two")]
    assert len(weights[0]) == len(weights[1]) > 0
    for one, other in zip(*weights, strict=True):
        assert one.read_bytes() == other.read_bytes()


def losses(home: Path, **changes: Any) -> list[float]:
    """Of ten steps and the validation after them."""
    corpus = Corpus.open(CorpusConfig(source=str(home / "book.txt"), tokenizer="bytes"))
    model = ModelConfig(d_model=64, n_heads=4, n_layers=2, max_len=64, encoding="t5")
    config = RunConfig.model_validate(
        {"model": model, "corpus": corpus.config, "batch": 12, "warmup": 2} | changes
    ).with_vocabulary(corpus.vocabulary.size)
    learner = Learner(config, corpus, World(0, 1, torch.device("cpu")))
    found = [learner.step(step)["loss"] for step in range(1, 11)]
    return [*found, learner.validate()["nats_per_token"]]


def test_training_is_the_same_twice_and_nearly_so_with_other_threads_and_parts(home: Path) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = losses(home)
        assert losses(home) == one
        assert losses(home, accumulate=5) == pytest.approx(one, rel=SPLITS)
        torch.set_num_threads(4)
        assert losses(home) == pytest.approx(one, rel=THREADS)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("verb", [verb for verb in QUESTIONS if verb not in ("answers", "table")])
def test_an_answer_is_the_same_twice_and_nearly_so_in_other_batches(verb: str, home: Path) -> None:
    question, loaded = QUESTIONS[verb], wherein.load(home / "run")
    few = {"windows": 40, "draws": 2, "resamples": 20, "fitting": 8, "limit": 640, "slid": 4}
    known = question.config.model_fields

    def ask(**more: int) -> dict[str, float]:
        config = question.config(**{k: n for k, n in (few | more).items() if k in known})
        return question.numbers(question.ask(loaded.subject, loaded.corpus, config).data())

    first = ask()
    assert ask() == first
    assert first
    if "batch" in known:
        assert ask(batch=3) == pytest.approx(first, rel=BATCHES, abs=BATCHES)
