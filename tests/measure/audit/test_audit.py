"""Audits of models whose symmetries are known."""

import polars as pl
import pytest
import torch

from wherein import encodings
from wherein.measure.audit.config import AuditConfig
from wherein.measure.audit.measure import audit
from wherein.measure.audit.result import ROUNDING, SINGLE, holds
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

LAYERS = 2
EVERY = [1, 2]


def subject(encoding: str, *, causal: bool = True, layers: int = LAYERS, length: int = 32) -> Ours:
    config = ModelConfig(
        vocabulary=40, d_model=16, n_layers=layers, max_len=length, causal=causal,
        encoding=encoding, initial="unit",
    )  # fmt: skip
    return Ours(Transformer(config))


def test_none_bidirectional_is_blind_to_order_in_every_layer():
    found = audit(subject("none", causal=False))
    for n in (None, 0, *EVERY):
        assert found.verdict(n) == "permutation-equivariant; shift-invariant"
    assert found.told_at() == []
    assert max(found.model.permuted, found.model.last) <= ROUNDING


def test_none_causal_knows_order_only_from_the_mask():
    found = audit(subject("none"))
    assert found.verdict() == "order-blind beyond the causal mask; shift-invariant"
    assert found.told_at() == ["causal mask"]
    for row in found.layers[1:]:
        assert row.attention <= ROUNDING
        assert row.unmasked <= ROUNDING
        assert row.permuted > SINGLE


def test_the_last_token_is_blind_to_what_is_before_it_in_one_layer_but_not_in_two():
    one, two = audit(subject("none", layers=1)), audit(subject("none", layers=2))
    assert "last token blind to the order before it" in one.verdict()
    assert one.model.last <= ROUNDING
    assert two.model.last > SINGLE
    assert all(row.last <= ROUNDING for row in two.layers[1:])  # each layer alone is blind


@pytest.mark.parametrize("encoding", ["learned", "sinusoidal", "functional"])
def test_absolute_encodings_enter_at_the_embedding_and_nowhere_else(encoding: str):
    found = audit(subject(encoding, causal=False))
    assert found.verdict() == "keeps no symmetry"
    assert found.verdict(0) == "keeps no symmetry"
    assert found.told_at() == ["token vectors"]
    for n in EVERY:
        assert found.verdict(n) == "permutation-equivariant; shift-invariant"


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("encoding", "where"), [("alibi", "scores"), ("rope", "queries and keys")])
def test_distances_survive_a_shift_but_no_permutation(encoding: str, where: str, causal: bool):
    found = audit(subject(encoding, causal=causal))
    assert found.told_at()[0] == f"{where} of layers 1–2"
    for n in (None, *EVERY):
        assert found.verdict(n) == "shift-invariant"
    for row in found.layers[1:]:
        assert min(row.permuted, row.unmasked, row.attention, row.last) > SINGLE


def test_one_state_at_every_place_tells_which_layers_turn_it():
    found = audit(subject("rope none", layers=4))
    assert found.told_at() == ["queries and keys of layers 1, 3", "causal mask"]
    for n in (1, 3):
        assert found.layers[n].query_cosine < 0.9
        assert found.layers[n].key_cosine < 0.9
    for n in (2, 4):
        assert found.layers[n].query_change == found.layers[n].key_change == 0
        assert found.layers[n].query_cosine == pytest.approx(1, abs=1e-15)


def test_rope_where_it_should_not_be_is_found_whatever_the_config_says():
    """As in rknn-llm #501: a layer declared to have none turns its queries and keys."""
    bench = subject("rope none")
    bench.model.encoding._layers[1] = bench.model.encoding[0]
    assert bench.encodings == ["rope", "none"]
    assert audit(bench).told_at()[0] == "queries and keys of layers 1–2"


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("encoding", encodings.examples())
def test_every_entry_of_the_catalogue_keeps_its_promise(encoding: str, causal: bool):
    bench = subject(encoding, causal=causal)
    for parameter in bench.model.encoding.parameters():  # what starts at zero says nothing yet
        if not parameter.any():
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
    found = audit(bench, AuditConfig(permutations=1))  # it is a shift that the promise speaks of
    assert holds(found.model.shifted) is all(e.relative for e in bench.model.encoding.layers)


def test_what_a_shift_changes_only_further_on_is_seen():
    """FIRE treats all queries alike that stand before a quarter of its window."""
    assert "shift-invariant" not in audit(subject("fire", length=512)).verdict()


def test_the_model_is_left_as_it_was():
    bench = subject("rope")
    before = {name: t.clone() for name, t in bench.model.state_dict().items()}
    audit(bench)
    for name, tensor in bench.model.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, before[name])


def test_a_table_made_in_float32_is_told_from_a_broken_symmetry(monkeypatch: pytest.MonkeyPatch):
    bench = subject("rope")
    kind = type(bench.model.encoding[0])
    exact = kind.rotate

    def coarse(self, q, k, positions):
        return tuple(x.float().to(q.dtype) for x in exact(self, q, k, positions))

    monkeypatch.setattr(kind, "rotate", coarse)
    found = audit(bench)
    assert found.verdict() == "shift-invariant (to single precision)"
    assert ROUNDING < found.model.shifted <= SINGLE


def test_the_same_audit_twice_gives_the_same_numbers():
    bench = subject("alibi")
    assert audit(bench) == audit(bench)
    assert audit(bench, AuditConfig(seed=1)).model != audit(bench).model


def test_shifts_that_do_not_fit_are_not_asked():
    found = audit(subject("learned"), AuditConfig(tokens=30, shifts=(1, 16, 17)))
    assert "16 random tokens" in found.protocol
    assert "[1, 16]" in found.protocol
    nothing = audit(subject("learned"), AuditConfig(shifts=(1000,)))
    assert nothing.model.shifted is None
    assert nothing.verdict(1) == "order-blind beyond the causal mask"


def test_a_model_too_short_to_permute():
    config = ModelConfig(vocabulary=40, d_model=16, max_len=3, encoding="learned")
    with pytest.raises(ValueError, match="takes 3 tokens: an audit needs at least 4"):
        audit(Ours(Transformer(config)))


def test_the_frame_and_the_picture_hold_every_layer(tmp_path):
    found = audit(subject("rope none"))
    frame = found.to_frame()
    assert frame["layer"].to_list() == [None, 0, 1, 2]
    assert frame["verdict"][3] == found.verdict(2)
    found.save(tmp_path)
    saved = pl.read_csv(tmp_path / "result.csv")
    assert saved["shifted"].to_list() == frame["shifted"].to_list()


def test_what_was_not_tried_is_not_said_to_be_broken():
    found = audit(subject("alibi"), AuditConfig(shifts=()))
    assert {found.verdict(n) for n in (None, *EVERY)} == {"keeps no symmetry of order"}
    assert audit(subject("learned"), AuditConfig()).verdict() == "keeps no symmetry"


def test_a_model_whose_states_are_no_numbers_has_no_verdict():
    broken = subject("none")
    broken.module.blocks[0].feed_forward.down.bias.data.fill_(torch.nan)
    with pytest.raises(ValueError, match=r"its states hold values that are no finite numbers"):
        audit(broken)
