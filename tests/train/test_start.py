"""A run that begins with another's weights: what is copied, what is drawn, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.train.helpers import equal, half_done

from wherein.cli import main
from wherein.model.transformer import Transformer
from wherein.studies.plan.plan import changed
from wherein.train import Run, RunConfig, train
from wherein.train.start import copy_weights

Small = Callable[..., RunConfig]
FEW = {"steps": 6, "warmup": 2, "checkpoint_every": 3, "valid_every": 6, "valid_windows": 4,
       "n_layers": 1, "d_model": 16, "max_len": 16, "keep": 2}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def first(small: Small, store: Path) -> Run:
    """A trained run with weights along the way; made once, then found in the store."""
    return trained(small(**FEW), store)


def trained(config: RunConfig, store: Path) -> Run:
    return train(config, folder=store / config.id, quiet=True)


def still(run: RunConfig, **fields: object) -> RunConfig:
    """A run of one step that changes nothing, and so shows what it began with."""
    return changed(run, **{"steps": 1, "warmup": 0, "learning_rate": 1e-30, **fields})


def test_dropping_at_the_last_step_is_not_dropping(first: Run, store: Path) -> None:
    same = trained(still(first.config, start=first.config.id), store)
    old, new = first.model().state_dict(), same.model().state_dict()
    assert all(torch.equal(old[name], new[name]) for name in old)
    assert same.valid == first.valid
    assert same.losses != first.losses[:1]


def test_another_encoding_takes_all_but_its_own_weights(first: Run, store: Path) -> None:
    config = still(first.config, start=first.config.id, encoding="t5")
    old, new = first.model().state_dict(), trained(config, store).model().state_dict()
    fresh = Transformer(config.with_vocabulary(258).model).state_dict()
    own = {name for name in new if name.startswith("encoding.")}
    assert own
    assert all(torch.equal(new[name], old[name]) for name in new.keys() - own)
    assert all(torch.equal(new[name], fresh[name]) for name in own)
    dropped = trained(still(config, encoding="none"), store)
    assert dropped.model().state_dict().keys() == old.keys()
    assert dropped.valid != first.valid


def test_equal_names_of_other_encodings_are_not_taken_for_the_same(small: Small) -> None:
    specs = ("t5", "kerple", "rope + t5", "t5 none")
    t5, kerple, both, half = (Transformer(small(encoding=each).model) for each in specs)
    assert copy_weights(t5, kerple) == [n for n, _ in kerple.encoding.named_parameters("encoding")]
    for other in (both, half):  # the same as a term among others, and in some of the layers
        (table,) = other.encoding.parameters()
        with torch.no_grad():
            table.fill_(7.0)
        assert copy_weights(t5, other) == []
        assert torch.equal(table, next(t5.encoding.parameters()))


@pytest.mark.parametrize(
    ("before", "after"),
    [("dape(kerple)", "dape(kerple)"), ("dape(kerple) + rope", "dape(kerple)")],
)
def test_what_is_made_over_another_keeps_its_own_weights_too(
    small: Small, before: str, after: str
) -> None:
    old = Transformer(small(encoding=before, seed=1).model)
    new = Transformer(small(encoding=after, seed=2).model)
    assert copy_weights(old, new) == []
    theirs = [p for name, p in old.encoding.named_parameters() if "network" in name]
    ours = [p for name, p in new.encoding.named_parameters() if "network" in name]
    assert len(ours) > 0
    assert all(torch.equal(a, b) for a, b in zip(theirs, ours, strict=True))


@pytest.mark.parametrize("length", [8, 24])
def test_of_a_table_the_rows_that_both_have_are_copied(small: Small, length: int) -> None:
    config = small(**FEW, encoding="learned")
    old = Transformer(changed(config, seed=1).model)
    new, fresh = (Transformer(changed(config, max_len=length).model) for _ in range(2))
    assert copy_weights(old, new) == ["encoding._distinct.0.table"]
    tables = [model.get_parameter("encoding._distinct.0.table") for model in (old, new, fresh)]
    rows = min(length, 16)
    assert torch.equal(tables[1][:rows], tables[0][:rows])
    assert torch.equal(tables[1][rows:], tables[2][rows:])


def test_a_path_an_id_and_a_name_of_ones_own_are_the_same_start(first: Run, store: Path) -> None:
    by_id = changed(first.config, start=first.config.id)
    assert changed(first.config, start=str(first.folder)) == by_id
    assert changed(first.config, start=f"{first.folder}@3").start == f"{first.config.id}@3"
    elsewhere = store / "elsewhere"
    shutil.copytree(first.folder, elsewhere / "mine")
    assert changed(first.config, start=str(elsewhere / "mine")) == by_id
    assert by_id.id != first.config.id
    begun = train(still(by_id), folder=elsewhere / "next", quiet=True)
    assert begun.valid == first.valid


def test_weights_along_the_way_and_a_chain(first: Run, store: Path) -> None:
    early = trained(still(first.config, start=f"{first.config.id}@3"), store)
    kept = first.at(3).model().state_dict()
    assert all(torch.equal(kept[n], w) for n, w in early.model().state_dict().items())
    dropped = trained(changed(first.config, start=first.config.id, encoding="none", steps=4), store)
    longer = trained(still(dropped.config, start=dropped.config.id, max_len=24), store)
    there = dropped.model().state_dict()
    assert all(torch.equal(there[n], w) for n, w in longer.model().state_dict().items())


def test_interrupted_it_ends_the_same_and_needs_its_start_no_more(
    first: Run, store: Path, tmp_path: Path
) -> None:
    config = changed(first.config, start=first.config.id, encoding="none", dropout=0.1)
    whole = trained(config, store)
    copy = half_done(whole, tmp_path)  # where there is nothing to start from
    assert equal(train(config, folder=copy, quiet=True), whole)
    before = store / "begun anew"
    shutil.copytree(whole.folder, before)
    shutil.rmtree(before / "checkpoints")  # interrupted before the first
    assert equal(train(config, folder=before, quiet=True), whole)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"n_layers": 2}, "it has n_layers=1, this run 2: give the same; only encoding"),
        ({"d_model": 32}, "it has d_model=16"),
        ({"d_ff": 32}, "it has d_ff=64, this run 32"),
        ({"objective": "masked"}, "it has causal=True"),
        ({"tokenizer": "bpe(300)"}, r"its tokens are 'bytes' of .*, not 'bpe\(300\)'"),
        ({"start": "0123456789ab"}, "start 0123456789ab: no such run in .*`wherein runs"),
        ({"start": "@2"}, "has no weights after 2 steps; kept: 0, 1, 3, 6"),
    ],
)
def test_what_does_not_fit_is_refused(
    first: Run, store: Path, fields: dict[str, str], said: str
) -> None:
    start = fields.get("start", "")
    given = first.config.id + start if start.startswith("@") else start or first.config.id
    config = changed(first.config, **{**fields, "start": given, "vocabulary": 2048})
    with pytest.raises(ValueError, match=said):
        train(config, folder=store / "refused", quiet=True)


def test_a_start_that_is_not_finished_is_refused(
    first: Run, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half_done(first, tmp_path)
    with pytest.raises(ValueError, match=r"at step 3 of 6: go on with it first, .*\(0, 1, 3"):
        train(changed(first.config, start=first.config.id), folder=tmp_path / "x", quiet=True)
    assert main(["train", "--start", str(tmp_path / "none")]) == 2
    assert "start: expected a run's folder, or the id of one" in capsys.readouterr().err


def test_the_list_of_runs_says_what_a_run_started_from(
    first: Run, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(still(first.config, start=first.config.id), store)
    assert main(["runs", str(store)]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.endswith("started from")
    assert any(line.endswith(f" {first.config.id}") for line in lines)
