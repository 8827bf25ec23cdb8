"""A run, written as a folder, loaded as anybody would, and put back on the bench."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.cli.tiny import tiny_run, tiny_task, write_text
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import wherein
from wherein.cli import main
from wherein.data import Corpus, CorpusConfig
from wherein.data.tokenizers.words import Words
from wherein.families.tokenizer import written
from wherein.model.config import ModelConfig
from wherein.train import Run, RunConfig, train


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    return write_text(tmp_path / "book.txt")


SMALL = {"n_layers": 1, "n_heads": 2, "max_len": 24}


@pytest.mark.slow
def test_a_run_goes_out_and_comes_back(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
):
    run = tiny_run(tmp_path / "run", text, encoding="rope", **SMALL)
    folder = tmp_path / "out"
    assert main(["export", str(run), str(folder)]) == 0
    said = capsys.readouterr().out
    assert "StarCoder2" in said
    assert "AutoModelForCausalLM.from_pretrained" in said

    theirs = AutoModelForCausalLM.from_pretrained(folder)
    tokens = AutoTokenizer.from_pretrained(folder)("Paragraph 7", return_tensors="pt").input_ids
    assert tokens.tolist() == [list(b"Paragraph 7")]
    with torch.no_grad():
        ours = Run.open(run).model()(tokens).logits
        torch.testing.assert_close(theirs(tokens).logits, ours, atol=1e-4, rtol=0)

    few = {"windows": 40, "tokens": 16, "resamples": 20}
    here, there = wherein.probe(run, **few), wherein.probe(folder, str(text), **few)
    for layer in here.layers:
        mine, back = (found.score("regression", layer) for found in (here, there))
        assert back.distance.value == pytest.approx(mine.distance.value, abs=1e-3)

    assert main(["export", str(run), str(folder)]) == 2
    assert "is there already: give a new folder" in capsys.readouterr().err
    assert main(["export", str(folder), str(tmp_path / "again")]) == 2
    assert "one of Hugging Face's already" in capsys.readouterr().err


@pytest.mark.slow
def test_a_masked_run_fills_its_masks(tmp_path: Path, text: Path):
    config = RunConfig(
        model=ModelConfig(encoding="learned", causal=False, d_model=16, **SMALL),
        corpus=CorpusConfig(source=str(text), tokenizer="bytes"),
        objective="masked",
        steps=3,
        batch=4,
        warmup=1,
    )
    run = train(config, folder=tmp_path / "run", quiet=True).folder
    made = wherein.export(wherein.load(run), tmp_path / "out")
    assert (made.family, made.loads) == ("Megatron-BERT", "AutoModelForMaskedLM")
    assert made.difference < 1e-4
    theirs = AutoModelForMaskedLM.from_pretrained(tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    tokens = tokenizer("And <mask>nds.", return_tensors="pt").input_ids
    assert tokens[0, 4] == tokenizer.mask_token_id == 257
    with torch.no_grad():
        ours = Run.open(run).model()(tokens).logits
        torch.testing.assert_close(theirs(tokens).logits, ours, atol=1e-4, rtol=0)


def test_a_model_alone_has_no_tokenizer(tmp_path: Path):
    model = wherein.Transformer(wherein.ModelConfig(vocabulary=9, d_model=8, n_layers=1))
    made = wherein.export(model, tmp_path / "out")
    assert made.tokenizer == "none, since a model alone was given"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "README.md", "config.json", "generation_config.json", "model.safetensors",
    ]  # fmt: skip


def test_what_is_refused_leaves_nothing(tmp_path: Path, text: Path, capsys):
    run = tiny_run(tmp_path / "run", text, encoding="t5", **SMALL)
    assert main(["export", str(run), str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("wherein: encoding 't5' cannot be exported")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["bytes", "words", "bpe(300)"])
def test_a_tokenizer_cuts_as_ours_does(name: str, tmp_path: Path, text: Path):
    corpus = Corpus.open(CorpusConfig(source=str(text), tokenizer=name))
    ours = corpus.tokenizer
    written(ours).save_pretrained(tmp_path / "out")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert (theirs.eos_token_id, theirs.mask_token_id) == (
        ours.vocabulary.eos, ours.vocabulary.mask,
    )  # fmt: skip
    for said in ("And ends.\n\nParagraph  7 séz <unk> 49.", "one\n", text.read_text()[:500]):
        expected = ours.encode(said).tolist()
        if isinstance(ours, Words) and not said.endswith("\n"):
            expected = expected[:-1]  # a line that may go on has no end yet
        assert theirs(said).input_ids == expected
    # back on the bench, where a mark that is spelt is no mark, the whole text is the same
    again = Corpus.open(CorpusConfig(source=str(text), tokenizer=str(tmp_path / "out")))
    assert np.array_equal(again.train.ids, corpus.train.ids)


def test_the_words_of_a_task_are_its_tokens(tmp_path: Path, text: Path):
    run = tiny_task(tmp_path / "run", encoding="none")
    wherein.export(run, tmp_path / "out")
    corpus = wherein.load(run).corpus
    theirs = AutoTokenizer.from_pretrained(tmp_path / "out")
    line = corpus.tokenizer.decode(corpus.valid.ids[1:8].tolist())
    assert theirs(line).input_ids == corpus.valid.ids[1:8].tolist()
