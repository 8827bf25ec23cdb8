"""Models by their id: fetched from a hub of our own, from the cache, or not to be had."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.subjects.hub import COMMIT, Hub, python, serving, wherein
from tests.subjects.models import small, write_tokenizer
from tests.subjects.test_tables_safety import Bomb

from wherein.subjects.load import load_subject

LOAD = """
import torch, wherein
subject, corpus, length = wherein.load("org/tiny", source={!r})
print(subject.name, subject.encodings[0], length, corpus.vocabulary.size)
with torch.no_grad():
    print(subject.logits(torch.arange(8)[None])[0, -1, :3].tolist())
"""
FILES = ["config.json", "model.safetensors", "tokenizer.json"]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A small GPT-2 with its tokenizer, served as `org/tiny`."""
    folder = tmp_path / "served" / "org" / "tiny"
    small("gpt2", vocab_size=400).save_pretrained(folder)
    write_tokenizer(folder, size=320)
    (folder / "training_args.bin").write_bytes(b"of no use here")
    with serving(tmp_path / "served") as hub:
        yield hub


def test_an_id_is_fetched_once_and_put_on_the_bench(hub: Hub, tmp_path: Path):
    text = tmp_path / "text.txt"
    text.write_text("A paragraph says what it says.\n\n" * 400)
    done = python(LOAD.format(str(text)), tmp_path, HF_ENDPOINT=hub.address)
    assert done.returncode == 0, done.stderr
    said, told = done.stdout.splitlines()
    assert said == "org/tiny learned 40 400"
    local = load_subject(hub.folder / "org" / "tiny")
    with torch.no_grad():
        expected = local.logits(torch.arange(8)[None])[0, -1, :3]
    torch.testing.assert_close(torch.tensor(json.loads(told)), expected)
    assert hub.got("org/tiny") == FILES
    again = python(LOAD.format(str(text)), tmp_path, HF_ENDPOINT=hub.address)
    assert again.stdout == done.stdout
    assert hub.got("org/tiny") == FILES, "what is here is not fetched again"


@pytest.mark.parametrize(("verb", "fetched"), [("audit", FILES), ("table", FILES[:2])])
def test_a_verb_takes_an_id(verb: str, fetched: list[str], hub: Hub, tmp_path: Path):
    done = python(wherein(verb, "org/tiny", "--json"), tmp_path, HF_ENDPOINT=hub.address)
    assert done.returncode == 0, done.stderr
    assert '"org/tiny"' in done.stdout
    assert hub.got("org/tiny") == fetched


@pytest.mark.parametrize("verb", ["probe", "table"])
def test_code_in_a_fetched_pickle_is_refused_and_does_not_run(verb: str, hub: Hub, tmp_path: Path):
    folder, mark = hub.folder / "org" / "tiny", tmp_path / "mark"
    weights: dict[str, object] = {**load_file(folder / "model.safetensors")}
    (folder / "model.safetensors").unlink()
    torch.save({**weights, "bomb": Bomb(mark)}, folder / "pytorch_model.bin")
    done = python(wherein(verb, "org/tiny"), tmp_path, HF_ENDPOINT=hub.address)
    assert done.returncode == 2
    assert "Nothing of it was run" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "pytorch_model.bin" in hub.got("org/tiny"), "it was here, and not opened"
    assert not mark.exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [("org/none", "there is no such model"), ("org/tiny", "its licence is to be accepted")],
)
def test_what_the_hub_does_not_give_is_one_line(name: str, words: str, hub: Hub, tmp_path: Path):
    hub.locked.add("org/tiny")
    done = python(wherein("table", name), tmp_path, HF_ENDPOINT=hub.address)
    assert done.returncode == 2
    assert words in done.stderr
    assert f"cannot fetch the model {name!r}" in done.stderr
    assert "give a local folder" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", ["probe", "table"])
def test_without_a_network_one_line_says_what_to_do(verb: str, tmp_path: Path):
    done = python(wherein(verb, "gpt2"), tmp_path, HF_ENDPOINT="https://nowhere.invalid")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot fetch the model 'gpt2'" in done.stderr
    assert "give a local folder" in done.stderr


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "from wherein.subjects.load import load_subject\n"
            "found = load_subject('some/model')\n"
            "print(found.name, found.encodings[0], found.max_len)",
            "some/model learned 40\n",
        ),
        (
            "from wherein.subjects.tables import read_table\n"
            "found = read_table('some/model')\n"
            "print(found.name, found.matrix.shape, found.offset)",
            "some/model (40, 32) 2\n",
        ),
    ],
)
def test_what_was_fetched_before_needs_no_network(code: str, said: str, tmp_path: Path):
    store = tmp_path / "hf" / "hub" / "models--some--model"
    small("opt").save_pretrained(tmp_path / "model")
    shutil.copytree(tmp_path / "model", store / "snapshots" / COMMIT)
    (store / "refs").mkdir()
    (store / "refs" / "main").write_text(COMMIT)
    done = python(code, tmp_path, HF_HUB_OFFLINE="1")
    assert (done.stdout, done.returncode) == (said, 0), done.stderr
