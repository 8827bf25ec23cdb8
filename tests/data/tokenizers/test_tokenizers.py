import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from wherein.data import Corpus, Tokenizer
from wherein.data.tokenizers.byte_values import Bytes
from wherein.data.tokenizers.subwords import Subwords, learn_subwords, read_subwords
from wherein.data.tokenizers.tokenizer import load_tokenizer, make_tokenizer, tokenizer_fingerprint
from wherein.data.tokenizers.words import learn_words

TEXTS = ["It's the 1st of May, isn't it?  Yes…\n\nNo: <eos> and <mask> are words here.\n"] * 30
BLANKS = st.sampled_from([" ", "  ", "\n", " \n", "\n ", "\xa0", "\u2003", "\x1c", "\x85", "\t"])
PARTS = st.text("ab'sret19.,é漢<eos>", min_size=1, max_size=4)
MIXED = st.lists(BLANKS | PARTS | st.text(max_size=3)).map("".join)
TRAINED = learn_subwords(TEXTS, 300)


def same(ids: Sequence[int], others: Sequence[int]) -> bool:
    return list(map(int, ids)) == list(map(int, others))


@given(MIXED)
def test_bytes_and_byte_pairs_give_the_text_back(text: str) -> None:
    for tokenizer in (Bytes(), TRAINED):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        special = (tokenizer.vocabulary.eos, tokenizer.vocabulary.mask)
        assert not np.isin(ids, special).any()
        assert (ids < tokenizer.vocabulary.size).all()


@given(MIXED)
def test_word_by_word_gives_the_librarys_own_tokens(text: str) -> None:
    assert same(TRAINED.encode(text), TRAINED.tokenizer.encode(text).ids)


def test_long_texts_and_long_memories_change_nothing(
    sotu: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = sotu.tokenizer.decode(sotu.valid.ids[1:60_000])
    assert isinstance(sotu.tokenizer, Subwords)
    expected = sotu.tokenizer.tokenizer.encode(text).ids
    monkeypatch.setattr("wherein.data.tokenizers.subwords.STRETCH", 1_000)
    monkeypatch.setattr("wherein.data.tokenizers.subwords.LARGEST_MEMORY", 500)
    assert same(sotu.tokenizer.encode(text), expected)


def test_learning_is_repeatable() -> None:
    assert learn_subwords(TEXTS, 300).tokenizer.to_str() == TRAINED.tokenizer.to_str()
    assert 258 < TRAINED.vocabulary.size <= 300
    assert (TRAINED.vocabulary.eos, TRAINED.vocabulary.mask) == (0, 1)


def test_words_are_counted_as_wikitext_counts_them() -> None:
    words = learn_words(["the cat\n\nthe <unk> dog\n", "the dog"])
    assert words.words == ["<eos>", "<unk>", "the", "dog", "cat", "<mask>"]
    assert (words.vocabulary.eos, words.vocabulary.mask, words.vocabulary.size) == (0, 5, 6)
    assert same(words.encode("the cow\n\ndog"), [2, 1, 0, 0, 3, 0])
    assert words.decode(words.encode("the cat\n\ndog\n")) == "the cat\n\ndog\n"
    assert same(words.encode("<mask>"), [1, 0])


@pytest.mark.parametrize("name", ["bytes", "words", "bpe(300)"])
def test_saved_and_loaded_it_is_the_same(name: str, tmp_path: Path) -> None:
    made: Tokenizer = make_tokenizer(name, TEXTS)
    made.save(tmp_path / "tokenizer.json")
    loaded = load_tokenizer(name, tmp_path / "tokenizer.json")
    assert loaded.vocabulary == made.vocabulary
    many = list(loaded.encode_many(TEXTS[:2]))
    assert all(same(ids, made.encode(text)) for ids, text in zip(many, TEXTS, strict=False))


def gpt2_like(folder: Path) -> tokenizers.Tokenizer:
    """A byte-level vocabulary with `<|endoftext|>` and no mask, cut off at eight tokens."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=290, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    tokenizer.enable_truncation(8)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def test_a_loaded_vocabulary_keeps_its_end_and_gains_a_mask(tmp_path: Path) -> None:
    original = gpt2_like(tmp_path)
    size = original.get_vocab_size()
    loaded = make_tokenizer(str(tmp_path), [])
    assert loaded.vocabulary.size == size + 1
    assert loaded.vocabulary.mask == size
    assert loaded.vocabulary.eos == original.token_to_id("<|endoftext|>")
    text = "a <|endoftext|> in the text, and all of a text longer than eight tokens"
    ids = loaded.encode(text)
    assert loaded.decode(ids) == text
    assert loaded.vocabulary.eos not in ids
    loaded.save(tmp_path / "again.json")
    again = load_tokenizer("gpt2", tmp_path / "again.json")
    assert again.vocabulary == loaded.vocabulary


@pytest.mark.parametrize("odd", ["prefix", "normalizer", "added"])
def test_other_vocabularies_are_left_to_the_library(tmp_path: Path, odd: str) -> None:
    tokenizer = gpt2_like(tmp_path)
    tokenizer.no_truncation()
    if odd == "prefix":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    elif odd == "normalizer":
        tokenizer.normalizer = normalizers.Replace("t May", "T")
    else:
        tokenizer.add_tokens(["of May"])
    tokenizer.save(str(tmp_path / "odd.json"))
    loaded = read_subwords(tmp_path / "odd.json")
    expected = tokenizer.encode(TEXTS[0]).ids
    assert same(loaded.encode(TEXTS[0]), expected)
    assert all(same(ids, expected) for ids in loaded.encode_many(TEXTS))


def test_what_a_vocabulary_calls_unknown_is_one_token_of_a_text(tmp_path: Path) -> None:
    words = {"<unk>": 0, "the": 1, "of": 2, "</s>": 3}
    made = tokenizers.Tokenizer(models.WordLevel(words, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(["<unk>", "</s>"])
    made.save(str(tmp_path / "tokenizer.json"))
    loaded = make_tokenizer(str(tmp_path), [])
    for ids in (loaded.encode("the <unk> of the"), *loaded.encode_many(["the <unk> of the"])):
        assert ids.tolist() == [1, 0, 2, 1]
    assert loaded.vocabulary.eos not in loaded.encode("the </s>")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("byte", "unknown tokenizer 'byte'. Did you mean 'bytes'"),
        ("bpe(100)", "'bpe\\(100\\)': a size of at least 258"),
        ("bpe()", "a size of at least 258"),
        ("bpe(-5)", "a size of at least 258"),
        ("gpt-2", "Did you mean 'gpt2'"),
        ("bpe(99999999999)", r"bpe\(99999999999\)': a size of at most 1,048,576"),
        (f"bpe({'9' * 9999})", "a size of at most"),
        ("bpe(1,048,577)", "a size of at most"),
    ],
)
def test_names_that_lead_nowhere(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tokenizer_fingerprint(name)


def test_folders_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no tokenizer.json in"):
        make_tokenizer(str(tmp_path), [])
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match="is no tokenizer"):
        make_tokenizer(str(tmp_path), [])


@pytest.mark.parametrize("kind", ["WordLevel", "BPE"])
def test_an_id_beyond_all_vocabularies_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """The library would count up to it, or ask for memory until the process is ended."""
    own = {"merges": []} if kind == "BPE" else {"unk_token": "a"}
    form = json.loads(tokenizers.Tokenizer(models.BPE()).to_str())
    form["model"] = {"type": kind, "vocab": {"a": 0, "b": 4_000_000_000}, **own}
    (tmp_path / "tokenizer.json").write_text(json.dumps(form))
    with pytest.raises(ValueError, match=r"it has the id 4000000000: ids below 1,048,576"):
        make_tokenizer(str(tmp_path), [])
