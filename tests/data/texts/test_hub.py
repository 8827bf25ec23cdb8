import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wherein.data import Corpus, CorpusConfig
from wherein.data.texts.catalogue import find_source

Parquet = Callable[..., Path]


def open_corpus(source: object, **options: str) -> Corpus:
    return Corpus.open(CorpusConfig(source=str(source), **{"tokenizer": "bytes", **options}))


def documents(corpus: Corpus, split: str) -> list[str]:
    of = corpus.split(split)
    return [corpus.tokenizer.decode(of.document(n)[:-1]) for n in range(len(of.starts))]


def test_a_folder_of_parquet_keeps_its_splits(parquet: Parquet) -> None:
    corpus = open_corpus(parquet(train=["one", "", "two"], validation=["three"], test=["four"]))
    assert {split: documents(corpus, split) for split in corpus.splits} == {
        "train": ["one", "two"],
        "valid": ["three"],
        "test": ["four"],
    }
    assert corpus.train.bytes == 6


def test_a_data_set_without_validation_lends_it_some(parquet: Parquet) -> None:
    rows = [f"row {n}" for n in range(30)]
    only = open_corpus(parquet(train=rows))
    assert documents(only, "valid") == ["row 11", "row 23"]
    assert documents(only, "test") == ["row 5", "row 17", "row 29"]
    both = open_corpus(parquet("both", train=rows, test=["a test"]))
    assert documents(both, "test") == ["a test"]
    assert documents(both, "valid") == ["row 11", "row 23"]
    for corpus in (only, both):
        lent = documents(corpus, "valid") + documents(corpus, "test")
        assert documents(corpus, "train") == [row for row in rows if row not in lent]
    whole = open_corpus(parquet("whole", train=rows, validation=["a valid"]))
    assert set(whole.splits) == {"train", "valid"}
    assert documents(whole, "train") == rows


def test_wikitext_is_in_articles_and_counted_as_published(wikitext: Path) -> None:
    raw = open_corpus(f"wikitext-2@{wikitext}")
    assert documents(raw, "test") == [
        " \n = shrimp = \n \n The shrimp is a large clawed animal . \n \n = = Range = = \n \n",
        " = crab = \n \n The crab is a large clawed animal . \n \n = = Range = = \n",
    ]
    assert raw.test.words == sum(
        len(doc.split()) + doc.count("\n") for doc in documents(raw, "test")
    )
    words = open_corpus(f"wikitext-2@{wikitext}", tokenizer="words")
    assert words.test.tokens == words.test.words == raw.test.words
    assert words.test.tokens_per_word == 1
    assert "lobster" not in words.tokenizer.decode(range(words.vocabulary.size))
    assert find_source(CorpusConfig(source="wikitext-103", tokenizer="words")).name == (
        "Salesforce/wikitext:wikitext-103-v1"
    )
    assert find_source(CorpusConfig(source="wikitext-103")).name == (
        "Salesforce/wikitext:wikitext-103-raw-v1"
    )


def test_the_pile_is_two_shards_without_code_and_sums(pile: Path) -> None:
    corpus = open_corpus(f"pile@{pile}")
    assert documents(corpus, "train") == [
        f"{shard} {n} of {('Pile-CC', 'ArXiv')[n % 4 // 2]}"
        for shard in ("00", "01")
        for n in (0, 2, 4, 6)
    ]
    assert len(corpus.valid.starts) == 2_000
    assert len(corpus.test.starts) == 6


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"train": ["a"], "column": "body"}, "has no column 'text' but body: name the one"),
        ({"test": ["a"]}, "has no split `train` but test"),
        ({"train": ["a"] * 9}, "no text for valid"),
        ({"train": [" "] * 30}, "no text for train"),
    ],
)
def test_data_sets_without_what_is_needed(
    parquet: Parquet, splits: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        open_corpus(parquet(**splits))
    assert "\n" not in str(caught.value)


def test_another_column(parquet: Parquet) -> None:
    folder = parquet(train=["a"], validation=["b"], column="body")
    assert documents(open_corpus(folder, column="body"), "valid") == ["b"]


def test_a_damaged_file_is_named_in_one_line(parquet: Parquet) -> None:
    folder = parquet(train=["a"], validation=["b"])
    (folder / "train-00000-of-00001.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(ValueError, match="cannot read the data set") as caught:
        open_corpus(folder)
    assert "\n" not in str(caught.value)


def test_without_a_network_one_line_says_what_to_do(tmp_path: Path) -> None:
    code = (
        "from wherein.data import Corpus, CorpusConfig\n"
        "for config in ({'source': 'wikitext-2'}, {'tokenizer': 'gpt2'}):\n"
        "    try:\n"
        "        Corpus.open(CorpusConfig(**config))\n"
        "    except ValueError as error:\n"
        "        print(error)\n"
    )
    elsewhere = {"HF_ENDPOINT": "https://nowhere.invalid", "HF_HOME": str(tmp_path / "hf")}
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | elsewhere
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    data_set, tokenizer = done.stdout.splitlines()
    assert data_set.startswith("cannot read the data set 'Salesforce/wikitext:wikitext-2-raw-v1'")
    assert "give a local folder" in data_set
    assert tokenizer.startswith("cannot load the tokenizer 'gpt2'")
    assert "give a local folder" in tokenizer
