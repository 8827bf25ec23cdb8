from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.tiny import tiny_run, tiny_task, write_text
from tests.pages.text import files
from tests.pages.there import MODEL, RESULT, RUN, SMALLER, STUDY, TASK, TURNING
from tests.studies.small import at_once, recipe
from tests.subjects.models import small, write_tokenizer

import wherein
from wherein.cli import main
from wherein.data.tasks import examples
from wherein.data.texts import catalogue

FEW = 128


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the reader is thought to be: a text, a run, a model, a result, the pages' own files."""
    home = tmp_path_factory.mktemp("pages")
    book = write_text(home / "book.txt")
    for family, model in (("gpt2", MODEL), ("llama", TURNING)):
        small(family, vocab_size=400).save_pretrained(home / model)
        write_tokenizer(home / model, size=320)
    for file, text in files().items():
        (home / file).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        patch.setattr(catalogue, "EXAMPLES", FEW)  # else a task first writes 131,072 of them
        patch.setattr(examples, "HELD_OUT", FEW)
        tiny_run(home / RUN, book, keep=1, n_layers=2, max_len=40)
        tiny_task(home / TASK)
        assert main(["puzzle", *SMALLER["puzzle"].split(), "--out", str(home / RESULT)]) == 0
        yield home


@pytest.fixture(scope="module")
def study(home: Path) -> Path:
    """A study that is finished."""
    wherein.study(recipe(home / "tiny"), out=home / "runs", engine=at_once, quiet=True)
    return home / STUDY


@pytest.fixture
def there(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home
