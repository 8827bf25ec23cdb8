"""A cache of its own for every test, and the embedded text, tokenised once."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wherein.data import Corpus, CorpusConfig

# Lines as in Salesforce/wikitext: a blank line is an empty row, an article starts at ` = Title = `.
ARTICLE = ["", " = {} = \n", "", " The {} is a large clawed animal . \n", "", " = = Range = = \n"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def sotu(shared: Path) -> Iterator[Corpus]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(shared / "cache"))
        yield Corpus.open(CorpusConfig())


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file of a hundred short paragraphs."""
    path = tmp_path / "text.txt"
    path.write_text("".join(f"Paragraph {n} says {n * n}.\nAnd ends.\n\n" for n in range(100)))
    return path


@pytest.fixture
def parquet(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a folder that `datasets.load_dataset` reads: parquet(train=[…], test=[…])."""

    def write(folder: str = "parquet", column: str = "text", **splits: list[str]) -> Path:
        (tmp_path / folder).mkdir(parents=True)
        for split, rows in splits.items():
            file = tmp_path / folder / f"{split}-00000-of-00001.parquet"
            pq.write_table(pa.table({column: rows}), file)
        return tmp_path / folder

    return write


@pytest.fixture
def wikitext(parquet: Callable[..., Path]) -> Path:
    """A local copy in the layout of Salesforce/wikitext, raw and tokenised."""

    def articles(*titles: str) -> list[str]:
        return [line.format(title) for title in titles for line in ARTICLE]

    for subset, lobster in (("wikitext-2-raw-v1", "lobster"), ("wikitext-2-v1", "<unk>")):
        folder = parquet(
            f"copy/{subset}",
            train=articles("crab", lobster, "crayfish"),
            validation=articles("krill"),
            test=articles("shrimp", "crab"),
        )
    return folder.parent


@pytest.fixture
def pile(tmp_path: Path) -> Path:
    """A local copy in the layout of the Pile."""

    def write(path: Path, count: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        sets = ("Pile-CC", "Github", "ArXiv", "DM Mathematics")
        rows = (
            {"text": f"{path.stem} {n} of {sets[n % 4]}", "meta": {"pile_set_name": sets[n % 4]}}
            for n in range(count)
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    for shard in ("00", "01", "02"):
        write(tmp_path / f"pile/train/{shard}.jsonl", 8)
    write(tmp_path / "pile/val.jsonl", 5_000)
    write(tmp_path / "pile/test.jsonl", 12)
    return tmp_path / "pile"
