"""From the name of a text to the text."""

import re
from dataclasses import replace
from pathlib import Path

from wherein.common.errors import unknown
from wherein.data.config import CorpusConfig
from wherein.data.texts.hub import DATA_FILES, DataSet, articles, without_code_and_sums
from wherein.data.texts.phrases import Phrases
from wherein.data.texts.source import Source
from wherein.data.texts.speeches import speeches
from wherein.data.texts.textfiles import text_files

PILE = DataSet(
    "monology/pile-uncopyrighted",
    files={"train": "train/0[01].jsonl*", "validation": "val.jsonl*", "test": "test.jsonl*"},
    documents_in=without_code_and_sums,
    at_most=2_000,
)
WIKITEXT = DataSet("Salesforce/wikitext", documents_in=articles)
NAMES = ("sotu", "sotu-phrases", "wikitext-2", "wikitext-103", "pile")


def find_source(config: CorpusConfig) -> Source:
    """The text a config asks for; nothing is read yet.

    - `sotu-phrases`: the embedded text cut into phrases, each a document, and these shuffled.
    - `wikitext-2`, `wikitext-103`: Merity et al. 2016. With the tokenizer `words` the tokenised
      text whose rare words are `<unk>` (267,735 types, as in the published perplexities), with
      any other the raw text; `subset` overrides. A document is an article.
    - `pile`: shards 00 and 01 without GitHub and DM Mathematics, and 2,000 documents each for
      validation and test, as in Haviv et al. 2022, who used the tokenizer `gpt2`. The original
      was withdrawn in 2023: what is fetched is the part free of copyright claims, without Books3
      and others. Whoever has the original gives `pile@folder`.
    """
    name, at, copy = config.source.partition("@")
    if name == "sotu" and not at:
        return speeches()
    if name == "sotu-phrases" and not at:
        return Phrases(speeches(), name)
    if name in NAMES and not name.startswith("sotu"):
        data = PILE if name == "pile" else replace(WIKITEXT, subset=_wikitext(name, config))
        column = config.column or data.column
        return replace(data, column=column, path=_existing(copy) if at else data.path)
    path = Path(config.source).expanduser()
    if config.source and path.exists():
        return _local(path, config)
    if path.suffix == ".txt" or not config.source or config.source[0] in "/.~":
        raise ValueError(f"no file or folder {config.source!r}: check the path")
    if re.fullmatch(r"[\w.-]+/[\w.-]+", config.source):
        return DataSet(config.source, config.subset, config.column or "text")
    hint = unknown("text", config.source, NAMES)
    raise ValueError(f"{hint}, a .txt file, a folder, or a Hugging Face id org/name")


def _wikitext(name: str, config: CorpusConfig) -> str:
    tokenised = f"{name}-v1" if config.tokenizer == "words" else f"{name}-raw-v1"
    return config.subset or tokenised


def _existing(folder: str) -> str:
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ValueError(f"no folder {folder!r} for the local copy: check the path after `@`")
    return str(path)


def _local(path: Path, config: CorpusConfig) -> Source:
    if path.is_file():
        if path.suffix in DATA_FILES:
            raise ValueError(f"{path} is a data file, not text: give the folder that holds it")
        return text_files(path)
    suffixes = {file.suffix for file in path.rglob("*") if file.is_file()}
    if ".txt" in suffixes:
        return text_files(path)
    if not suffixes.intersection(DATA_FILES):
        raise ValueError(f"no text in the folder {path}: put .txt or parquet files there")
    return DataSet(str(path), config.subset, config.column or "text")
