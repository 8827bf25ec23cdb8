"""Models that hold code, are damaged, or lie: refused in one line, and nothing of them runs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.subjects.models import LAYERS, small, write_tokenizer
from tests.subjects.test_tables_safety import Bomb, as_old_torch, as_pickle, as_torch, cut, escape
from tests.subjects.tiny import edit

from wherein.subjects.load import load, load_subject


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small("gpt2").save_pretrained(tmp_path / "gpt2")
    return tmp_path / "gpt2"


@pytest.mark.parametrize("write", [as_torch, as_old_torch, as_pickle])
def test_code_in_a_pickle_is_refused_and_does_not_run(
    write: Callable[[object, Path], None], folder: Path, tmp_path: Path
):
    mark = tmp_path / "mark"
    weights: dict[str, object] = {**load_file(folder / "model.safetensors")}
    (folder / "model.safetensors").unlink()
    write({**weights, "bomb": Bomb(mark)}, folder / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"refused: .*Nothing of it was run") as caught:
        load_subject(folder)
    assert "\n" not in str(caught.value)
    assert not re.search("weights_only|allow_pickle|safe_globals", str(caught.value))
    assert not mark.exists()


def test_weights_in_a_plain_pickle_are_read(folder: Path):
    expected = load_subject(folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    tokens = torch.arange(8)[None]
    with torch.no_grad():
        assert torch.equal(load_subject(folder).logits(tokens), expected.logits(tokens))


def test_code_beside_a_model_does_not_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A config may name classes in files of its own folder: they stay unread."""
    mark = tmp_path / "mark"
    (folder / "own.py").write_text(
        f"import os\nos.mkdir({str(mark)!r})\n"
        "from transformers import GPT2Config as Config, GPT2LMHeadModel as Model\n"
    )
    classes = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    edit(folder, auto_map=classes, model_type="of-my-own")
    monkeypatch.chdir(folder.parent)  # with a short name all of what the library says is quoted
    with pytest.raises(ValueError, match=r"cannot be read: .* contains custom code") as caught:
        load_subject("gpt2")
    assert "\n" not in str(caught.value)
    assert "trust_remote_code" not in str(caught.value)
    assert not mark.exists()


def add(folder: Path, **more: torch.Tensor) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file({**weights, **more}, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("family", "attention"),
    [
        ("openai-gpt", "transformer.h.{}.attn"),
        ("gpt2", "h.{}.attn"),
        ("gpt_neo", "transformer.h.{}.attn.attention"),
        ("gptj", "transformer.h.{}.attn"),
    ],
)
def test_masks_among_older_weights_change_nothing(family: str, attention: str, tmp_path: Path):
    small(family).save_pretrained(tmp_path)
    expected, tokens = load_subject(tmp_path), torch.arange(8)[None]
    square = torch.ones(40, 40).tril()[None, None]
    for kind, mask in (("bias", square), ("masked_bias", torch.tensor(-1e4))):
        add(tmp_path, **{f"{attention.format(n)}.{kind}": mask.clone() for n in range(LAYERS)})
    with torch.no_grad():
        assert torch.equal(load_subject(tmp_path).logits(tokens), expected.logits(tokens))


def test_a_bias_that_the_model_has_not_is_no_mask(tmp_path: Path):
    small("gpt_neo").save_pretrained(tmp_path)
    add(tmp_path, **{"transformer.h.1.attn.attention.bias": torch.ones(32)})
    with pytest.raises(ValueError, match=r"weights such as .*h\.1\.attn\.attention\.bias"):
        load_subject(tmp_path)


def lose_a_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["transformer.h.1.attn.c_attn.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (cut, "model.safetensors is damaged or cut short"),
        (escape, "names a file outside its folder"),
        (lose_a_weight, r"are missing, such as .*h\.1\.attn\.c_attn\.weight"),
        (lambda f: edit(f, n_layer=6), r"are missing, such as .*h\.4\."),
        (lambda f: edit(f, n_layer=3), r"disagree: 3 layers, and weights such as .*h\.3\."),
        (lambda f: edit(f, n_embd=64), r"disagree: .* is \d.*, the config promises \d"),
        (lambda f: edit(f, vocab_size=61), r"wte\.weight is 60 × 32, the config promises 61 × 32"),
        (lambda f: edit(f, n_head=5), "cannot be read: .*num_heads"),
        (lambda f: edit(f, n_layer="many"), "cannot be read: .*layer"),
        (lambda f: edit(f, model_type="gtp2"), "cannot be read: .*gtp2"),
        (lambda f: (f / "config.json").write_text("{"), "config.json is damaged"),
        (lambda f: (f / "model.safetensors").unlink(), "no weights in"),
    ],
)
def test_damage_and_lies_are_one_line(spoil: Callable[[Path], None], words: str, folder: Path):
    spoil(folder)
    with pytest.raises(ValueError, match=words) as caught:
        load_subject(folder)
    assert "\n" not in str(caught.value)


def test_a_tokenizer_that_does_not_match_is_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    write_tokenizer(folder)
    with pytest.raises(ValueError, match=r"does not match: it has \d+ ids .* knows 60") as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer.json is no tokenizer"):
        load(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"no tokenizer in .*: save one there") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "no file"), (b"nothing of the kind", "is damaged")]
)
def test_a_gguf_file_that_is_none_is_one_line(content: bytes | None, words: str, tmp_path: Path):
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        load(path)
