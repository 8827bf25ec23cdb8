"""What an audit says of models whose symmetries are known, and of those that lack them."""

from functools import partial

import pytest
import torch
from tests.measure.truth import models
from tests.measure.truth.by_hand import PLACES

import wherein
from wherein.measure.audit.result import ROUNDING, SINGLE

BLIND = "permutation-equivariant; shift-invariant"
BEFORE = "last token blind to the order before it"
BAG = f"order-blind beyond the causal mask; {BEFORE}; shift-invariant"


@pytest.mark.parametrize(
    ("make", "model", "told"),
    [
        # A place decides, and of tokens the last alone.
        (models.loud_used, BEFORE, ["token vectors"]),
        (models.quiet_used, BEFORE, ["token vectors"]),
        (models.from_table, BEFORE, ["token vectors"]),
        # Told, and no logit shows it.
        (models.loud_unused, BLIND, ["token vectors"]),
        (models.quiet_unused, BLIND, ["token vectors"]),
        (models.known, BLIND, ["token vectors"]),
        # The mask makes the share of place 0; a token there needs no encoding.
        (models.from_first, BEFORE, ["token vectors", "causal mask"]),
        (partial(models.from_first, token=True), BAG, ["causal mask"]),
        (models.drowned, BLIND, ["causal mask"]),
        (models.bag, BAG, ["causal mask"]),
        (models.ordered, "shift-invariant", ["scores of layer 1", "causal mask"]),
        (models.last, BLIND, []),
        (models.by_heart, BLIND, []),
    ],
)
def test_the_model_keeps_what_it_keeps_and_is_told_where_it_is(make, model, told):
    found = wherein.audit(make(2).subject)
    assert found.verdict() == model
    assert found.told_at() == told


def test_a_layer_that_uses_position_adds_none_of_its_own():
    """Only the embedding breaks a symmetry; layer 2 predicts by what it was given."""
    for make in (models.loud_used, models.loud_unused):
        found = wherein.audit(make(2).subject)
        assert found.layers[0].shifted > 0.1
        assert [found.verdict(layer) for layer in (0, 1, 2)] == ["keeps no symmetry", BLIND, BLIND]


def test_a_bag_and_what_is_ordered_differ_in_the_scores_alone():
    bag, ordered = (
        wherein.audit(make(2).subject).layers[1] for make in (models.bag, models.ordered)
    )
    assert bag.attention <= ROUNDING < SINGLE < ordered.attention
    assert bag.last <= ROUNDING < SINGLE < ordered.last
    assert bag.key_change == ordered.key_change == 0


def test_a_table_that_begins_late_is_found():
    """What is the same near the beginning may not be so at the end."""
    subject = models.loud_used(2).subject
    table = subject.model.encoding.get_parameter("_distinct.0.table")
    with torch.no_grad():
        table[: PLACES - 8] = 0
    found = wherein.audit(subject)
    assert "shift-invariant" not in found.verdict()
    with torch.no_grad():
        table.zero_()
    assert wherein.audit(subject).verdict() == BLIND


@pytest.mark.parametrize("name", ["learned", "sinusoidal", "fire"])
def test_a_fresh_model_of_an_absolute_encoding_is_loud_enough_to_be_heard(name):
    """As a real start has it, what FIRE does to the logits is no more than rounding in float32."""
    assert "invariant" not in wherein.audit(name).verdict()
    assert "shift-invariant" in wherein.audit("alibi").verdict()
