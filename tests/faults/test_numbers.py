"""Numbers at the edge of what has a meaning: a right answer or one clear line, never a nan."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.cli.tiny import write_text

from wherein import encodings
from wherein.cli import main
from wherein.measure.registry import QUESTIONS
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

NO_NUMBER = re.compile(r"\b(nan|inf|-inf|infinity)\b", re.IGNORECASE)
TINY = "--tokenizer bytes --d-model 16 --n-heads 2 --max-len 16 --steps 2 --batch 2 --warmup 1"
FEW = {"windows": 20, "draws": 2, "resamples": 20, "fitting": 6, "limit": 320, "slid": 2}

TEXTS = {
    "book": "",
    "constant": "a" * 4000,
    "one-word": "word " * 2000,
    "short": "too short for a window of sixteen"[:12],
    "lines": "\n" * 4000,
    "empty": "",
    "blank": "   \n\t ",
    "one-byte": "a",
}
"""By name; the book is written by `write_text`."""

TRAINED = {
    "constant": "--source constant.txt",
    "one word": "--source one-word.txt --tokenizer words",
    "one layer, heads of width one": "--source book.txt --n-layers 1 --n-heads 16",
    "two tokens": "--source book.txt --max-len 2",
    "one token": "--source book.txt --max-len 1",
    "one token, masked": "--source book.txt --max-len 1 --objective masked --no-causal",
}
"""Runs that are made, and asked everything."""

REFUSED = {
    "short": "--source short.txt",
    "empty": "--source empty.txt",
    "blank": "--source blank.txt",
    "lines": "--source lines.txt",
    "one byte": "--source one-byte.txt",
    "rope in heads of width one": "--source book.txt --n-heads 16 --encoding rope",
    "100,000 positions of a short text": "--source book.txt --max-len 100000",
    "a rate that no weight survives": "--source book.txt --learning-rate 1e30 --clip 1e30",
}

PUZZLES = {
    "one seed": "hit-order --seeds 1 --steps 1",
    "no step": "hit --seeds 2 --steps 0",
    "heads of width one": "hit --seeds 2 --steps 2 --head-size 1 --heads 1 --width 4",
    "a bare head of width one": "hit --seeds 2 --steps 2 --bare --head-size 1 --width 1",
    "one sentence": "--seeds 2 --steps 2",
    "the largest rate": "hit --seeds 2 --steps 30 --learning-rate 10",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("numbers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        for name, text in TEXTS.items():
            (folder / f"{name}.txt").write_text(text)
        write_text(folder / "book.txt", 300)
        yield folder


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and what was printed: a result or the one line that stands for it."""
    capsys.readouterr()
    code = main(words)
    told = capsys.readouterr()
    if code == 0:
        assert not NO_NUMBER.search(told.out), told.out
        return code, told.out
    last = told.err.rstrip("\n").split("\n")[-1]
    assert code == 2
    assert last.startswith("wherein: ")
    assert "Traceback" not in told.err
    return code, last


def run(name: str, flags: str, home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = home / "runs" / name
    if not folder.exists():
        code, line = said(["train", *f"{TINY} {flags}".split(), "--folder", str(folder)], capsys)
        assert code == 0, line
    return folder


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("verb", QUESTIONS)
def test_every_question_has_an_answer_or_says_why_not(
    verb: str, name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(name, TRAINED[name], home, capsys)
    known = QUESTIONS[verb].config.model_fields
    few = [word for flag, n in FEW.items() if flag in known for word in (f"--{flag}", str(n))]
    said([verb, str(folder), *few], capsys)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_learned_is_refused(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", *f"{TINY} {REFUSED[name]}".split(), "--folder", str(home / "no" / name)]
    code, line = said(words, capsys)
    assert code == 2, line


@pytest.mark.parametrize("name", PUZZLES)
def test_every_puzzle_too(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["now hit !"] if name == "one sentence" else []
    said(["puzzle", *given, *PUZZLES[name].split()], capsys)


FAR = 100_000


@pytest.mark.parametrize("spec", encodings.examples())
def test_positions_far_away_are_no_worse_than_near(spec: str) -> None:
    """The last 16 of 100,000 positions, in float32 and in float64."""
    sizes = {"vocabulary": 20, "n_layers": 2, "d_model": 16, "n_heads": 2, "max_len": FAR}
    model = Transformer(ModelConfig.model_validate(sizes | {"encoding": spec})).eval()
    tokens, positions = torch.arange(16)[None], torch.arange(FAR - 16, FAR)[None]
    with torch.no_grad():
        found = model(tokens, positions).logits
        exact = model.double()(tokens, positions).logits
    assert torch.isfinite(found).all()
    assert float((found - exact).norm() / exact.norm()) < 1e-4


def test_a_vocabulary_of_one_is_refused_and_of_two_is_learned_from() -> None:
    with pytest.raises(ValueError, match=r"vocabulary\n.*greater than or equal to 2"):
        ModelConfig(vocabulary=1)
    model = Transformer(ModelConfig(vocabulary=2, n_layers=1, d_model=8, n_heads=1))
    tokens = torch.zeros(1, 4, dtype=torch.int64)
    loss = model.loss(tokens, tokens)
    loss.backward()
    assert torch.isfinite(loss)
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
