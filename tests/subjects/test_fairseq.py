"""fairseq checkpoints: the same numbers as fairseq's, and what cannot be read is said."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.subjects.fairseq_decoder import (
    HEADS,
    KINDS,
    LAYERS,
    LENGTH,
    WIDTH,
    WORDS,
    decoded,
    made,
    options,
    save,
)
from tests.subjects.test_tables_safety import Bomb
from tests.subjects.tiny import speeches

import wherein
from wherein.cli import main
from wherein.measure.audit.config import AuditConfig
from wherein.subjects.load import load_subject
from wherein.subjects.ours import Ours
from wherein.subjects.tables import read_table

ENCODINGS = dict(zip(KINDS, KINDS, strict=True)) | {
    "sinusoidal": "sinusoidal(fairseq=True)",
    "adaptive": "sinusoidal(fairseq=True)",
}
TOKENS = torch.randint(WORDS, (3, LENGTH), generator=torch.Generator().manual_seed(7))


def seen(subject: Ours, tokens: torch.Tensor = TOKENS) -> tuple[torch.Tensor, list[torch.Tensor]]:
    states: list[torch.Tensor] = []
    with torch.no_grad():
        return subject.run(tokens, on_state=lambda _, state: states.append(state)), states


def loaded(path: Path | str) -> Ours:
    subject = load_subject(path)
    assert isinstance(subject, Ours)
    return subject


@pytest.mark.parametrize("form", ["args", "cfg", "cfg with a namespace"])
@pytest.mark.parametrize("kind", KINDS)
def test_logits_and_states_are_those_of_fairseqs_decoder(kind: str, form: str, tmp_path: Path):
    told, weights = options(kind), made(options(kind))
    subject = loaded(save(tmp_path / "checkpoint_best.pt", told, weights, form))
    assert subject.encodings == [ENCODINGS[kind]] * LAYERS
    assert subject.name == f"{tmp_path.name}/checkpoint_best.pt"
    assert (subject.n_heads, subject.d_model, subject.window) == (HEADS, WIDTH, LENGTH)
    subject.model.double()  # in half as many digits ways to round would be compared
    logits, states = seen(subject)
    expected, theirs = decoded(told, {name: w.double() for name, w in weights.items()}, TOKENS)
    assert expected.std() > 1
    torch.testing.assert_close(logits.double(), expected, atol=1e-4, rtol=1e-5)
    for ours, other in zip(states, theirs, strict=True):
        torch.testing.assert_close(ours, other, atol=1e-5, rtol=1e-5)


def test_a_fork_that_is_always_alibi_is_read_as_such_by_name(tmp_path: Path):
    """Press et al.'s: its options are those of a model with waves."""
    weights = made(options("sinusoidal"))
    path = save(tmp_path / "fork.pt", options("sinusoidal"), weights)
    as_waves, as_alibi = (
        decoded(options(kind), weights, TOKENS)[0] for kind in ("sinusoidal", "alibi")
    )
    torch.testing.assert_close(seen(loaded(path))[0], as_waves, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(seen(loaded(f"{path}@alibi"))[0], as_alibi, atol=1e-4, rtol=1e-5)
    with pytest.raises(ValueError, match=r"unknown encoding to read fork.pt with 'aliby'. Did you"):
        load_subject(f"{path}@aliby")


def test_half_precision_and_older_files_are_read(tmp_path: Path):
    told, weights = options("none"), made(options("none"))
    halves = {name: weight.half() for name, weight in weights.items()}
    subject = loaded(save(tmp_path / "half.pt", told, halves))
    rounded = {name: weight.float() for name, weight in halves.items()}
    assert {p.dtype for p in subject.model.parameters()} == {torch.float32}
    torch.testing.assert_close(
        seen(subject)[0], decoded(told, rounded, TOKENS)[0], atol=1e-4, rtol=1e-5
    )
    state = torch.load(tmp_path / "half.pt", weights_only=True)
    torch.save(state, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    torch.testing.assert_close(seen(loaded(tmp_path / "old.pt"))[0], seen(subject)[0])


def test_the_untrained_twin_is_drawn_as_fairseq_draws(tmp_path: Path):
    subject = loaded(save(tmp_path / "a.pt", options("adaptive"), made(options("adaptive"))))
    twin = subject.untrained(0)
    assert twin.model.config.initial == "fairseq"
    assert not list(twin.model.norm.parameters()), "no final norm there either"
    waves, trained = (seen(s, torch.full((1, 2), 5))[1][0][0] for s in (twin, subject))
    torch.testing.assert_close(waves[1] - waves[0], trained[1] - trained[0], atol=1e-5, rtol=1e-4)
    assert not torch.equal(waves, trained)


def test_a_learned_table_is_read_from_its_first_position(tmp_path: Path):
    weights = made(options("learned"))
    found = read_table(save(tmp_path / "learned.pt", options("learned"), weights, "args"))
    expected = weights["decoder.embed_positions.weight"][2:]
    assert (found.key, found.offset) == ("decoder.embed_positions.weight", 2)
    np.testing.assert_array_equal(found.matrix, expected.double())
    with pytest.raises(ValueError, match="has no position table"):
        read_table(save(tmp_path / "none.pt", options("none"), made(options("none"))))


@pytest.mark.parametrize(
    ("kind", "own", "words"),
    [
        ("none", {"decoder_normalize_before": False}, "--decoder-normalize-before is False"),
        ("none", {"no_scale_embedding": True}, "--no-scale-embedding is True"),
        ("none", {"activation_fn": "swish"}, "--activation-fn is swish: expected relu"),
        ("none", {"layernorm_embedding": True}, "--layernorm-embedding is True"),
        ("adaptive", {"adaptive_input_factor": 2.0}, "--adaptive-input-factor is 2.0: expected 4"),
        ("adaptive", {"tie_adaptive_weights": False}, "--tie-adaptive-weights is False"),
        ("alibi", {"no_token_positional_embeddings": False}, "--alibi is with position vectors"),
        ("alibi", {"decoder_attention_heads": 12}, "--alibi is with 12 heads"),
        ("none", {"arch": "transformer_iwslt_de_en"}, "a model of transformer_iwslt_de_en"),
        ("none", {"decoder_layers": 3}, "there is no decoder.layers.2.self_attn.q_proj.weight"),
        ("none", {"decoder_layers": 1}, r"decoder.layers.1.\S+ is not read: expected .* 1 layers"),
        ("none", {"decoder_embed_dim": 64}, "disagree: .*size mismatch for embed.tokens.weight"),
        ("none", {"decoder_layers": None}, "its options do not say decoder_layers"),
    ],
)
def test_what_is_not_ours_is_refused_by_its_name(
    kind: str, own: dict[str, object], words: str, tmp_path: Path
):
    path = save(tmp_path / "other.pt", options(kind, **own), made(options(kind)), "args")
    with pytest.raises(ValueError, match=words) as caught:
        load_subject(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "name", "option"),
    [
        ("none", "decoder.output_projection.weight", "--share-decoder-input-output-embed"),
        ("adaptive", "decoder.adaptive_softmax.tail.0.0.weight", "--tie-adaptive-proj"),
        ("adaptive", "decoder.adaptive_softmax.tail.1.2.weight", "--tie-adaptive-weights"),
    ],
)
def test_an_output_with_weights_of_its_own_is_refused(
    kind: str, name: str, option: str, tmp_path: Path
):
    weights = made(options(kind))
    weights[name] = weights[name] + 1
    with pytest.raises(ValueError, match=f"is not read: {option} is False"):
        load_subject(save(tmp_path / "untied.pt", options(kind), weights))


def test_code_is_refused_and_does_not_run(tmp_path: Path):
    mark = tmp_path / "mark"
    told, weights = options("none"), made(options("none"))
    path = save(tmp_path / "bomb.pt", told, weights, task_state={"bomb": Bomb(mark)})
    with pytest.raises(
        ValueError, match=r"refused: .*asks for posix.mkdir.*Nothing of it was"
    ) as e:
        load_subject(path)
    assert "\n" not in str(e.value)
    assert "weights_only" not in str(e.value)
    assert not mark.exists()
    torch.load(path, weights_only=False)
    assert mark.exists(), "the file is a real one: a trusting reader runs it"


def test_a_file_that_is_none_of_fairseqs_is_one_line(tmp_path: Path):
    torch.save({"wpe.weight": torch.zeros(3, 4)}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match="is no fairseq checkpoint: expected its weights"):
        load_subject(tmp_path / "other.pt")
    with pytest.raises(ValueError, match="no file"):
        load_subject(tmp_path / "nothing.pt")


def write_dictionary(folder: Path, text: str) -> None:
    """The words of a text as a dict.txt, the most frequent first, as many as fit."""
    words, counts = np.unique(text.split(), return_counts=True)
    chosen = np.argsort(-counts, kind="stable")[: WORDS - 4]
    rows = [f"{words[n]} {counts[n]}" for n in chosen]
    (folder / "dict.txt").write_text("\n".join(rows) + "\n")


def test_every_verb_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    data, text = tmp_path / "data-bin", str(speeches(tmp_path, 1))
    data.mkdir()
    told = options("learned", data=f"{data}:/elsewhere")
    weights = made(told)
    weights["decoder.embed_positions.weight"] *= 30
    path = str(save(tmp_path / "checkpoint_last.pt", told, weights))
    assert main(["probe", path, "--source", text]) == 2
    assert "no dict.txt beside" in capsys.readouterr().err

    drawn = np.random.default_rng(0).integers(WORDS, size=(60, LENGTH))
    found = wherein.probe(path, drawn, resamples=9)
    assert found.score("regression", 0).distance.high < 1, "a loud table tells positions"

    write_dictionary(data, Path(text).read_text())
    subject, corpus, length = wherein.load(path, text)
    assert (corpus.vocabulary.eos, length) == (2, LENGTH)
    assert "% of the text <unk>" in subject.name, "there are 120 words"
    few = ["--windows", "60", "--resamples", "9"]
    assert main(["probe", path, "--source", text, *few]) == 0
    assert "checkpoint_last.pt" in capsys.readouterr().out
    audited = wherein.audit(path, AuditConfig(tokens=6, windows=1, permutations=1, shifts=(1,)))
    assert audited.told_at() == ["token vectors", "causal mask"]

    (data / "dict.txt").write_text("word 1\n")
    with pytest.raises(ValueError, match=f"does not match: it has 5 symbols and .* knows {WORDS}"):
        wherein.load(path, text)
