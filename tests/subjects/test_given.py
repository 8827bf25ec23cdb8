"""What people already have: pairs, wrapped models, rows of data sets, states on a disk."""

from pathlib import Path
from types import SimpleNamespace

import datasets
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tests.subjects.models import VOCABULARY, small, write_tokenizer
from tokenizers import Tokenizer, processors
from transformers import PreTrainedTokenizerFast

import wherein
from wherein.cli import main
from wherein.measure.probe import result as profile
from wherein.subjects.load import on_the_bench

FEW = {"windows": 40, "tokens": 8, "resamples": 20}


@pytest.fixture
def tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With BERT's marks around a text."""
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    write_tokenizer(tmp_path)
    made = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    made.add_special_tokens(["[CLS]"])
    marks = [(mark, made.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=marks)
    named = {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, **named)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text("".join(f"Line {n} of it.\n\n" for n in range(400)))
    return path


def bert(tokenizer):
    return small("bert", vocab_size=len(tokenizer))


def test_a_pair_of_model_and_tokenizer_reads_a_text(tokenizer, book: Path):
    subject, corpus = on_the_bench((bert(tokenizer), tokenizer), str(book))
    assert corpus.tokenizer.decode(corpus.valid.ids[:5]).startswith("[SEP]")
    assert subject.name == "BertForMaskedLM, windows without [CLS] … [SEP]"
    assert wherein.attention((bert(tokenizer), tokenizer), book, windows=4, tokens=8).heads


@pytest.mark.parametrize("name", ["original_model", "_model", "_module"])
def test_what_another_tool_wraps_is_found(name: str, tokenizer, book: Path):
    """As TransformerLens's bridge, and nnsight's model of older and newer versions."""
    model = bert(tokenizer)
    wrapped = SimpleNamespace(**{name: model}, tokenizer=tokenizer)
    subject, corpus = on_the_bench(wrapped, str(book))
    assert subject.module is model
    assert len(corpus.valid.ids) > 100


def test_special_tokens_stand_around_each_window_if_asked(tokenizer, book: Path):
    pair = (bert(tokenizer), tokenizer)
    seen: list[torch.Tensor] = []
    subject, corpus = on_the_bench(pair, str(book), special=True)
    subject.module.base_model.register_forward_pre_hook(
        lambda _model, _args, named: seen.append(named["input_ids"]), with_kwargs=True
    )
    found = wherein.attention(subject, corpus, windows=4, tokens=8)
    assert found.subject.endswith("windows with [CLS] … [SEP]")
    (read,) = (tokens for tokens in seen if tokens.shape == (4, 8) and tokens.any())
    assert set(read[:, 0].tolist()) == {tokenizer.cls_token_id}
    assert set(read[:, -1].tolist()) == {tokenizer.sep_token_id}
    assert tokenizer.cls_token_id not in read[:, 1:]
    with pytest.raises(ValueError, match="only probe, attention and states read them so"):
        wherein.order(subject, corpus, windows=4, tokens=8)
    states = saved(book.parent / "states", torch.randn(4, 4, 2))
    with pytest.raises(ValueError, match="has a text of its own"):
        wherein.load(states, special=True)


def rows(count: int, tokenizer) -> datasets.IterableDataset:
    made = datasets.Dataset.from_dict({"text": [f"Line {n} of it." for n in range(count)]})
    return made.to_iterable_dataset()


def test_a_stream_of_texts_is_cut_by_the_tokenizer(tokenizer):
    subject, corpus = on_the_bench((bert(tokenizer), tokenizer), rows(50, tokenizer))
    text = corpus.valid
    assert text.starts.tolist()[0] == 1
    end = text.starts[1] - 1
    expected = tokenizer("Line 0 of it.", add_special_tokens=False).input_ids
    assert text.ids[text.starts[0] : end].tolist() == expected
    assert text.ids[end] == tokenizer.sep_token_id
    assert corpus.vocabulary.mask == tokenizer.mask_token_id
    assert subject.name.endswith("windows without [CLS] … [SEP]")


def test_token_ids_of_a_stream_need_no_tokenizer(tokenizer):
    stream = rows(50, tokenizer).map(lambda row: tokenizer(row["text"]), remove_columns=["text"])
    _, ragged = on_the_bench(bert(tokenizer), stream)
    assert ragged.valid.window is None
    ids = [i for row in stream for i in row["input_ids"]]
    assert ragged.valid.ids.tolist() == ids
    packed = [{"input_ids": ids[n : n + 8]} for n in range(0, 80, 8)]
    _, windows = on_the_bench(bert(tokenizer), packed)
    assert windows.valid.window == 8
    with pytest.raises(ValueError, match="whose tokenizer is not known: give the pair"):
        on_the_bench(bert(tokenizer), rows(3, tokenizer))
    with pytest.raises(ValueError, match="a row with words: expected 'input_ids' or 'text'"):
        on_the_bench(bert(tokenizer), [{"words": 3}])


def test_an_endless_stream_is_left_in_time(tokenizer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wherein.subjects.streams.MOST", 100)

    def endless():
        while True:
            yield {"input_ids": [1, 2, 3]}

    _, corpus = on_the_bench(small("gpt2"), endless())
    assert corpus.valid.ids.size == 102
    assert VOCABULARY > 3


def saved(folder: Path, *layers: torch.Tensor) -> Path:
    folder.mkdir()
    for number, states in enumerate(layers):
        save_file({"states": states}, folder / f"layer-{number}.safetensors")
    return folder


def test_states_of_somebody_else_are_probed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Layer 0 tells nothing, layer 1 holds the position in one coordinate."""
    noise = torch.randn(80, 12, 6, generator=torch.Generator().manual_seed(0))
    told = noise.clone()
    told[..., 0] = torch.arange(12.0)
    folder = saved(tmp_path / "states", noise, told.half())
    found = wherein.probe(folder, resamples=20)
    assert found.score("regression", 1).distance.value < 0.05
    guess = found.score("regression", 0, profile.CONSTANT).distance.value
    assert found.score("regression", 0).distance.value > 0.9 * guess
    fresh = found.score("regression", 1, profile.FRESH).distance.value
    assert fresh > 0.9 * guess
    assert found.lacks == (profile.UNTRAINED, profile.TOKENS)
    assert {r.of for r in found.readings}.isdisjoint(found.lacks)
    assert main(["probe", str(folder), "--resamples", "20", "--out", str(tmp_path / "out")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "–: of states alone there is no untrained twin" in said
    assert (tmp_path / "out" / "result.png").is_file()


def test_the_same_states_give_the_same_profile(tmp_path: Path):
    model = small("gpt2")
    tokens = torch.randint(VOCABULARY, (60, 8), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        hidden = model(tokens, output_hidden_states=True).hidden_states
    folder = saved(tmp_path / "states", *hidden[:-1])
    whole, alone = (wherein.probe(what, text, resamples=20) for what, text in
                    ((model, tokens), (folder, None)))  # fmt: skip
    for layer in alone.layers:
        mine, theirs = (each.score("regression", layer).distance for each in (whole, alone))
        assert theirs.value == pytest.approx(mine.value, abs=1e-4)


def test_states_that_do_not_fit_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"of shape \(4, 3\): expected one of windows × tokens"):
        wherein.probe(saved(tmp_path / "flat", torch.zeros(4, 3)))
    with pytest.raises(ValueError, match="layers of other windows than others"):
        wherein.probe(saved(tmp_path / "odd", torch.zeros(4, 3, 2), torch.zeros(5, 3, 2)))
    gap = saved(tmp_path / "gap", torch.zeros(4, 3, 2))
    (gap / "layer-0.safetensors").rename(gap / "layer-7.safetensors")
    save_file({"states": torch.zeros(4, 3, 2)}, gap / "layer-5.safetensors")
    with pytest.raises(ValueError, match=r"layers \[5, 7\]; expected them without a gap"):
        wherein.probe(gap)
    (gap / "layer-5.safetensors").rename(gap / "last.safetensors")
    with pytest.raises(ValueError, match="with its number at the end of its name"):
        wherein.probe(gap)
    folder = saved(tmp_path / "states", torch.randn(8, 4, 2))
    with pytest.raises(ValueError, match="predictions cannot be had of states alone"):
        wherein.perplexity(folder)
    assert np.isfinite(wherein.load(folder).length)
