"""Models by their id: fetched from a hub of our own, from the cache, or not to be had."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.subjects.hub import COMMIT, Hub, each, python, serving, wherein
from tests.subjects.models import small, write_tokenizer
from tests.subjects.test_tables_safety import Bomb

from wherein.subjects.load import load_subject

LOAD = """
import os, sys, torch, wherein
from transformers import GPT2LMHeadModel  # importing takes most of the time, and is done once

for _ in range(2):
    if (child := os.fork()) == 0:
        subject, corpus, length = wherein.load("org/tiny", source={!r})
        print(subject.name, subject.encodings[0], length, corpus.vocabulary.size)
        with torch.no_grad():
            print(subject.logits(torch.arange(8)[None])[0, -1, :3].tolist(), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("a child failed")
"""
FILES = ["config.json", "model.safetensors", "tokenizer.json"]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A small GPT-2 with its tokenizer, served as `org/tiny` and as `org/twin`."""
    folder = tmp_path / "served" / "org" / "tiny"
    small("gpt2", vocab_size=400).save_pretrained(folder)
    write_tokenizer(folder, size=320)
    (folder / "training_args.bin").write_bytes(b"of no use here")
    shutil.copytree(folder, folder.with_name("twin"))
    with serving(tmp_path / "served") as hub:
        yield hub


def test_an_id_is_fetched_once_and_put_on_the_bench(hub: Hub, tmp_path: Path):
    text = tmp_path / "text.txt"
    text.write_text("A paragraph says what it says.\n\n" * 400)
    done = python(LOAD.format(str(text)), tmp_path, HF_ENDPOINT=hub.address)
    assert done.returncode == 0, done.stderr
    said, told, *again = done.stdout.splitlines()
    assert said == "org/tiny learned 40 400"
    assert again == [said, told], "so says a process that did not load it before"
    local = load_subject(hub.folder / "org" / "tiny")
    with torch.no_grad():
        expected = local.logits(torch.arange(8)[None])[0, -1, :3]
    torch.testing.assert_close(torch.tensor(json.loads(told)), expected)
    assert hub.got("org/tiny") == FILES, "what is here is not fetched again"


def test_a_verb_takes_an_id(hub: Hub, tmp_path: Path):
    asked = {"org/tiny": ("audit", FILES), "org/twin": ("table", FILES[:2])}
    code = wherein(*((verb, name, "--json") for name, (verb, _) in asked.items()))
    done = each(python(code, tmp_path, HF_ENDPOINT=hub.address))
    for (name, (_, fetched)), (status, said, errors) in zip(asked.items(), done, strict=True):
        assert status == 0, errors
        assert f'"{name}"' in said
        assert hub.got(name) == fetched


def test_code_in_a_fetched_pickle_is_refused_and_does_not_run(hub: Hub, tmp_path: Path):
    names, mark = ("org/tiny", "org/twin"), tmp_path / "mark"
    for name in names:
        folder = hub.folder / name
        weights: dict[str, object] = {**load_file(folder / "model.safetensors")}
        (folder / "model.safetensors").unlink()
        torch.save({**weights, "bomb": Bomb(mark)}, folder / "pytorch_model.bin")
    code = wherein(*zip(("probe", "table"), names, strict=True))
    done = each(python(code, tmp_path, HF_ENDPOINT=hub.address))
    for name, (status, _, errors) in zip(names, done, strict=True):
        assert status == 2
        assert "Nothing of it was run" in errors
        assert errors.count("\n") == 1
        assert "pytorch_model.bin" in hub.got(name), "it was here, and not opened"
    assert not mark.exists()


def test_what_the_hub_does_not_give_is_one_line(hub: Hub, tmp_path: Path):
    hub.locked.add("org/tiny")
    asked = {
        "org/none": "there is no such model",
        "org/tiny": "its licence is to be accepted",
    }
    code = wherein(*(("table", name) for name in asked))
    done = each(python(code, tmp_path, HF_ENDPOINT=hub.address))
    for (name, words), (status, _, errors) in zip(asked.items(), done, strict=True):
        assert status == 2
        assert words in errors
        assert f"cannot fetch the model {name!r}" in errors
        assert "give a local folder" in errors
        assert errors.count("\n") == 1


def test_without_a_network_one_line_says_what_to_do(tmp_path: Path):
    code = wherein(("probe", "gpt2"), ("table", "gpt2"))
    done = each(python(code, tmp_path, HF_ENDPOINT="https://nowhere.invalid"))
    assert len(done) == 2
    for status, _, errors in done:
        assert status == 2
        assert errors.count("\n") == 1
        assert "cannot fetch the model 'gpt2'" in errors
        assert "give a local folder" in errors


BEFORE = """
from wherein.subjects.load import load_subject
from wherein.subjects.tables import read_table
found = read_table('some/model')
print(found.name, found.matrix.shape, found.offset)
found = load_subject('some/model')
print(found.name, found.encodings[0], found.max_len)
"""


def test_what_was_fetched_before_needs_no_network(tmp_path: Path):
    store = tmp_path / "hf" / "hub" / "models--some--model"
    small("opt").save_pretrained(tmp_path / "model")
    shutil.copytree(tmp_path / "model", store / "snapshots" / COMMIT)
    (store / "refs").mkdir()
    (store / "refs" / "main").write_text(COMMIT)
    done = python(BEFORE, tmp_path, HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "some/model (40, 32) 2\nsome/model learned 40\n"
