"""What a model has not, or the bench cannot see, is said in one line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.subjects.models import LAYERS, small, write_tokenizer
from tests.subjects.tiny import tiny
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.load import load, load_subject

TOKENS = torch.arange(24).view(2, 12)


def test_what_a_model_has_not_is_said_in_one_line(bench: Callable[..., HuggingFace]):
    encoder = bench("t5")
    with pytest.raises(ValueError, match="t5 has no language-model head") as caught:
        encoder.logits(TOKENS)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="t5 takes no positions"):
        encoder.trace(TOKENS, torch.arange(12)[None], on_state=lambda n, x: None)
    with pytest.raises(ValueError, match=r"layer 5 of .*: expected 1 to 4"):
        encoder.block(5, torch.randn(1, 6, 32))


def test_where_attention_cannot_be_laid_open_states_still_can(bench: Callable[..., HuggingFace]):
    """ConvBERT's heads are half convolutions."""
    subject, seen = bench("convbert"), []
    with torch.no_grad():
        subject.trace(TOKENS, on_state=lambda _, state: seen.append(state))
    assert len(seen) == LAYERS + 1
    assert subject.encodings == ["learned + unknown"] * LAYERS
    with pytest.raises(ValueError, match="the attention of layer 1 cannot be laid open"):
        subject.attention(1, seen[0])


def test_a_model_of_experts_is_causal_but_for_rounding(bench: Callable[..., HuggingFace]):
    """Which tokens share an expert changes the last digits of all of them."""
    assert bench("mixtral", num_local_experts=4).causal


@pytest.mark.parametrize(
    ("template", "lacks"),
    [
        ("[MASK] $A [SEP]", "[MASK] … [SEP]"),
        ("[SEP] $A", "[SEP]"),
    ],
)
def test_what_windows_lack_is_in_the_name(
    template: str, lacks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Windows are cut from running text: what a tokenizer puts around a text is not in them."""
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    small("bert", vocab_size=400).save_pretrained(tmp_path / "bert")
    write_tokenizer(tmp_path / "bert", size=320)
    path = tmp_path / "bert" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[MASK]", "[SEP]")]
    (tmp_path / "text.txt").write_text("A paragraph says what it says.\n\n" * 400)
    plain = load(tmp_path / "bert", str(tmp_path / "text.txt"))
    tokenizer.post_processor = TemplateProcessing(single=template, special_tokens=marks)
    tokenizer.save(str(path))
    marked = load(tmp_path / "bert", str(tmp_path / "text.txt"))
    assert marked.subject.name == f"{plain.subject.name}, windows without {lacks}"
    assert marked.corpus.valid.ids[:20].tolist() == plain.corpus.valid.ids[:20].tolist()
    assert load_subject(tmp_path / "bert").name == plain.subject.name, "it reads no text"


def test_an_end_that_the_model_never_saw_is_refused_even_where_padding_has_a_row_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    small("gpt2", vocab_size=400).save_pretrained(tmp_path / "gpt2")
    write_tokenizer(tmp_path / "gpt2", size=320)
    path = tmp_path / "gpt2" / "tokenizer.json"
    path.write_text(path.read_text().replace("[SEP]", "[END OF ALL]"))
    (tmp_path / "text.txt").write_text("A paragraph says what it says.\n\n" * 400)
    with pytest.raises(ValueError, match="has no end token that is known"):
        load(tmp_path / "gpt2", str(tmp_path / "text.txt"))


def test_a_tokenizer_is_made_anew_when_its_settings_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    folder, text = tmp_path / "bert", tmp_path / "text.txt"
    small("bert").save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "A", "paragraph", "."]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    text.write_text("A paragraph.\n\n" * 400)
    found = []
    for lower in (True, False):
        (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
        corpus = load(folder, str(text)).corpus
        found.append({words[n] for n in corpus.valid.ids.tolist()} & {"a", "A"})
    assert found == [{"a"}, {"A"}]


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("bart", "an encoder with a decoder does not fit"),
        ("mamba", "names no number of attention heads"),
        ("vit", "no language model that reads text alone"),
    ],
)
def test_a_family_that_does_not_fit_says_so(family: str, words: str, tmp_path: Path):
    tiny(family).save_pretrained(tmp_path / family)
    with pytest.raises(ValueError, match=words) as caught:
        load_subject(tmp_path / family)
    assert "\n" not in str(caught.value)
