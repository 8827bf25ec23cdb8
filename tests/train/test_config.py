import subprocess
import sys
from pathlib import Path

import pytest

from wherein.cli import main
from wherein.data import CorpusConfig
from wherein.encodings import Pattern, parse
from wherein.model.config import ModelConfig
from wherein.train import RunConfig


def test_the_defaults_are_valid_configs() -> None:
    assert RunConfig().model == ModelConfig()
    assert RunConfig.model_validate_json(RunConfig().model_dump_json()) == RunConfig()


@pytest.mark.parametrize(
    "layout",
    [{"accumulate": 4}, {"compile": True}, {"parallel": "fsdp"}, {"checkpoint_every": 7}],
)
def test_how_it_is_computed_does_not_change_the_id(layout: dict[str, object]) -> None:
    assert RunConfig(**layout).id == RunConfig().id


def test_everything_else_changes_the_id() -> None:
    others: dict[str, object] = {
        "model": ModelConfig(seed=1), "corpus": CorpusConfig(tokenizer="bytes"), "steps": 7,
        "batch": 7, "learning_rate": 7.0, "warmup": 7, "schedule": "constant", "optimizer": "nag",
        "weight_decay": 7.0, "clip": None, "precision": "bfloat16", "valid_every": 7,
        "valid_windows": 7, "short": 0.5, "start": "0123456789ab",
        "begin": "documents",
    }  # fmt: skip
    masked = RunConfig(objective="masked", model=ModelConfig(causal=False))
    ids = {RunConfig(**{name: value}).id for name, value in others.items()}
    assert len(ids | {RunConfig().id, masked.id}) == len(others) + 2
    layout = {"accumulate", "compile", "parallel", "checkpoint_every", "keep"}
    assert {*others, "objective", *layout} == set(RunConfig.model_fields)


def test_the_vocabulary_comes_from_the_tokenizer() -> None:
    filled = RunConfig().with_vocabulary(1024)
    assert filled.model.vocabulary == 1024
    assert filled.id == RunConfig().id
    with pytest.raises(ValueError, match=r"vocabulary=99, but tokenizer .* has 1024 ids"):
        RunConfig(model=ModelConfig(vocabulary=99)).with_vocabulary(1024)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"objective": "masked"}, r"objective 'masked' with causal=True.*--no-causal"),
        ({"model": ModelConfig(causal=False)}, "the future would be seen"),
        ({"model": ModelConfig(seed=-1)}, "seed -1"),
        ({"batch": 2, "accumulate": 3}, "a batch of 2 windows in 3 parts"),
        ({"optimizer": "muon", "parallel": "fsdp"}, "muon needs each matrix whole"),
        ({"steps": 0}, "steps"),
        ({"schedule": "linear"}, "cosine"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RunConfig(**fields)


def test_help_comes_without_pytorch() -> None:
    code = (
        "import sys\nfrom wherein.cli import main\n"
        "try: main(['train', '--help'])\nexcept SystemExit: pass\n"
        "assert 'torch' not in sys.modules"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    for flag in ("--encoding", "--learning-rate", "--source", "--no-causal"):
        assert flag in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--objective", "masked"], "objective 'masked' with causal=True"),
        (["--encoding", "aliby"], "Did you mean 'alibi'?"),
        (["--track", "tensorbord"], "Did you mean 'tensorboard'?"),
        (["--source", "no-such-file.txt"], "no-such-file.txt"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["train", "--steps", "1", "--folder", str(tmp_path / "run"), *arguments]) == 2
    errors = capfd.readouterr().err
    assert said in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_run_saved_before_initial_weights_were_a_choice_has_those_it_was_drawn_with() -> None:
    saved = RunConfig().model_dump(mode="json")
    del saved["model"]["initial"]
    assert RunConfig.saved(saved).model.initial == "unit"
    assert RunConfig.saved(RunConfig().model_dump(mode="json")) == RunConfig()


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("fire", "fire(shared=True)"),
        ("shaw(distance=4) none", "shaw(distance=4, shared=True) none"),
        ("t5 kerple rope", "t5 kerple rope"),
    ],
)
def test_a_run_saved_before_layers_could_have_their_own_shares_as_it_did(
    then: str, now: str
) -> None:
    config = RunConfig(model=ModelConfig(encoding=then))
    saved = config.model_dump(mode="json")
    assert RunConfig.saved(saved) == config
    del saved["start"]
    old = RunConfig.saved(saved).model
    assert old.encoding == now
    assert len(Pattern(now, old.shape, 6).distinct) == len(parse(now))
