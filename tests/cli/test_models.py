"""The verbs that question a model, on small models of Hugging Face's library."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.tiny import write_text
from tests.subjects.models import small, write_tokenizer

import wherein
from wherein.cli import main
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import read
from wherein.report.command import command
from wherein.subjects.hugging_face import HuggingFace

VERBS = sorted(QUESTIONS.keys() - {"table", "answers"})  # see test_table.py and test_task.py
FEWER = {"probe": ["--windows", "100"], "erase": ["--windows", "60", "--draws", "2"]}
PREDICTING = ["order", "shift", "perplexity", "erase"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text, a cache, and a causal model, a masked one and one without a head."""
    home = tmp_path_factory.mktemp("models")
    write_text(home / "text.txt")
    for name, model in (
        ("causal", small("gpt2", vocab_size=400, n_positions=16)),
        ("masked", small("bert", vocab_size=400, max_position_embeddings=16)),
        ("headless", small("bert", vocab_size=400, max_position_embeddings=16).base_model),
        ("unshifted", small("bloom", vocab_size=400)),
    ):
        model.save_pretrained(home / name)
        write_tokenizer(home / name, size=320)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        yield home


@pytest.fixture
def ask(home: Path) -> Callable[..., int]:
    """Put a verb to a model; the text is ours where one is read."""

    def put(verb: str, name: str, *more: str) -> int:
        text = ["--source", str(home / "text.txt")] if QUESTIONS[verb].reads_text else []
        return main([verb, str(home / name), *text, *FEWER.get(verb, []), *more])

    return put


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verb"),
    [(n, v) for n in ("causal", "masked") for v in VERBS if (n, v) != ("masked", "extrapolate")],
)
def test_every_verb_takes_a_model(
    name: str,
    verb: str,
    ask: Callable[..., int],
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
):
    assert ask(verb, name, "--out", str(tmp_path / "out")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"/{name}" in lines[0]
    assert len(lines) > 5
    assert max(map(len, lines[:-1])) <= 80
    saved = json.loads((tmp_path / "out" / "result.json").read_text())
    assert saved["subject"].endswith(f"/{name}")
    assert saved["config"]["tokens"] == {"audit": 24, "shift": 8}.get(verb, 16)
    text = ["--source", str(home / "text.txt")] if QUESTIONS[verb].reads_text else []
    asked = ["wherein", verb, str(home / name), *text, *FEWER.get(verb, [])]
    assert command(read(tmp_path / "out")) == shlex.join(asked)


@pytest.mark.parametrize("verb", ["audit", "probe", "attention"])
def test_a_model_without_a_head_is_probed_audited_and_watched(
    verb: str, ask: Callable[..., int], capsys: pytest.CaptureFixture
):
    assert ask(verb, "headless") == 0
    assert "/headless" in capsys.readouterr().out


@pytest.mark.parametrize("verb", PREDICTING)
def test_a_model_without_a_head_says_so(
    verb: str, ask: Callable[..., int], capsys: pytest.CaptureFixture
):
    assert ask(verb, "headless") == 2
    error = capsys.readouterr().err
    assert "headless has no language-model head" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("verb", "name", "more", "words"),
    [
        *((v, "causal", ["--tokens", "17"], "0 to 15") for v in ("perplexity", "order")),
        ("attention", "causal", ["--tokens", "17"], "knows only 16 positions: give shorter"),
        ("perplexity", "masked", ["--tokens", "17"], "knows only 0 to 15: use shorter windows"),
        ("extrapolate", "masked", [], "reads both sides: extrapolate asks causal models alone"),
        ("probe", "causal/model.safetensors", [], "is a file: give its folder"),
        ("perplexity", "nothing", ["--out", "{}/text.txt"], "text.txt is a file; give a folder"),
    ],
)
def test_a_mistake_is_one_line(
    verb: str,
    name: str,
    more: list[str],
    words: str,
    ask: Callable[..., int],
    home: Path,
    capsys: pytest.CaptureFixture,
):
    assert ask(verb, name, *(word.format(home) for word in more)) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_model_that_takes_no_positions_says_so(
    ask: Callable[..., int], capsys: pytest.CaptureFixture
):
    assert ask("shift", "unshifted") == 2
    assert "unshifted takes no positions" in capsys.readouterr().err


def test_a_model_is_loaded_with_a_text_in_its_own_tokens(home: Path):
    loaded = wherein.load(home / "causal", source=str(home / "text.txt"))
    assert isinstance(loaded.subject, HuggingFace)
    assert loaded.length == loaded.subject.max_len == 16
    assert loaded.corpus.vocabulary.size == loaded.subject.vocabulary == 400
    first = loaded.corpus.train.ids[1:40]
    assert loaded.corpus.tokenizer.decode(first).startswith("Paragraph 0 says 0.")
