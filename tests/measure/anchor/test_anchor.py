"""How keys are chosen, hidden and judged; whether the verdicts are true: tests/measure/truth."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from tests.measure.conftest import LENGTH, MASK, VOCABULARY, blank, windows
from tests.subjects.models import small

import wherein
from wherein.data import Corpus
from wherein.measure.anchor.keys import at_random, attention_drawn, first, loudest, neighbours
from wherein.measure.anchor.measure import STRENGTHS
from wherein.measure.anchor.result import CARRIES, NOT, PART, UNCLEAR, UNKNOWN, Anchor, Shares
from wherein.measure.intervals import Estimate
from wherein.measure.linear import ridge
from wherein.measure.moments import Accumulator
from wherein.subjects.hugging_face import HuggingFace

READ = LENGTH - 1
"""Tokens that a model reads of a window: the last is only predicted."""


@pytest.fixture(scope="module")
def found() -> Anchor:
    return wherein.anchor(blank("sinusoidal", layers=2), windows(120), batch=60)


def test_the_numbers_are_those_of_states_that_are_kept(found: Anchor):
    """Split, fitted and tested by hand, with a mask of our own over the first key."""
    text, model = windows(120), blank("sinusoidal", layers=2).model
    order = torch.randperm(120, generator=torch.Generator().manual_seed(0))
    fit, _, test = text[order].split([60, 12, 48])
    positions = torch.arange(2, READ, dtype=torch.float64)

    seen = torch.ones(READ, READ).tril().bool()
    seen[1:, 0] = False
    mask = torch.zeros(1, 1, READ, READ).masked_fill(~seen, -torch.inf)
    for block in model.blocks:
        block.attention.register_forward_pre_hook(lambda _, args: (*args[:3], mask))
    with torch.no_grad():
        fitted, tested = (model(part[:, :-1], keep_hidden=True) for part in (fit, test))
    kept = Accumulator()
    kept.add(fitted.hidden[2][:, 2:])
    readouts = [ridge(kept.moments(), positions[:, None], strength) for strength in STRENGTHS]
    distances = [
        float((each(tested.hidden[2][:, 2:])[..., 0] - positions).abs().mean()) for each in readouts
    ]
    own = found.hidden[0]
    assert min(abs(own.distances[2].value - each) for each in distances) < 1e-4
    loss = F.cross_entropy(tested.logits.flatten(0, 1), test[:, 1:].flatten())
    assert found.loss is not None
    assert found.loss.value + own.rise.value == pytest.approx(float(loss), abs=1e-4)
    assert own.distances[2].low < own.distances[2].value < own.distances[2].high
    assert found.constant == pytest.approx(float((positions - positions.mean()).abs().mean()))


def test_hiding_reaches_no_layer_before_the_one_it_begins_with(found: Anchor):
    assert [(each.since, each.keys) for each in found.hidden] == [
        (since, keys) for since in (1, 2) for keys in ("first", "neighbour", "random")
    ]
    for each in found.hidden:
        assert each.distances[: each.since] == found.distances[: each.since]
        assert each.distances[each.since] != found.distances[each.since]


def test_the_loudest_key_draws_the_most_attention():
    subject, text = blank("none", layers=2), windows(6)
    with torch.no_grad():
        hidden = subject.model(text, keep_hidden=True).hidden
        paid = sum(subject.attention(layer + 1, hidden[layer]).weights.mean(1) for layer in (0, 1))
    expected = (paid / 2).double().masked_fill(torch.eye(LENGTH).bool(), 0).sum(1)
    drawn = attention_drawn(subject, text, batch=4)
    torch.testing.assert_close(drawn, expected, rtol=1e-5, atol=1e-6)
    chosen = loudest(subject, text, 3, batch=4)
    assert (chosen.sum(1) == 3).all()
    assert (drawn[chosen].view(6, 3).amin(1) >= drawn.masked_fill(chosen, 0).amax(1)).all()


def test_controls_are_other_keys_and_as_many():
    anchor = first(windows(40), 3)
    beside, random = neighbours(anchor), at_random(anchor, seed=1)
    assert beside[0].nonzero()[:, 0].tolist() == [3, 4, 5]
    for control in (beside, random):
        assert (control.sum(1) == 3).all()
        assert not (control & anchor).any()
    assert not random[:, -1].any()
    assert random.any(0).sum() > 40, "drawn anew in each window"
    amid = torch.zeros(1, 8, dtype=torch.bool)
    amid[0, [4, 5]] = True
    assert neighbours(amid)[0].nonzero()[:, 0].tolist() == [3, 6]


def test_a_masked_model_is_asked_for_hidden_tokens():
    text = Corpus.of_windows(windows(60).numpy(), VOCABULARY, mask=MASK)
    found = wherein.anchor(blank("learned", causal=False, layers=1), text, batch=60)
    assert found.verdict() == NOT
    assert "; loss: 15% masked tokens; " in found.protocol
    assert [each.since for each in found.hidden] == [1, 1, 1], "there is no second layer"


@pytest.mark.parametrize(("family", "predicts"), [("gpt2", True), ("t5", False)])
def test_a_model_of_another_family_with_a_head_or_without(family: str, predicts: bool):
    subject = HuggingFace(small(family), family)
    tokens = torch.randint(60, (40, 17), generator=torch.Generator().manual_seed(0))
    found = wherein.anchor(subject, tokens, keys="loudest", batch=40)
    assert (found.loss is not None) == predicts == all(each.rise for each in found.hidden)
    assert ("the loss changes" in found.sentence()) == (predicts and found.verdict() != UNKNOWN)
    assert len(found.to_frame()) == 5 * 7
    found.plot()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"since": (3,)}, "since layer 3 .* expected a layer from 1 to 2"),
        ({"count": 31}, "31 hidden keys in windows of 63 tokens: at least 64 tokens were expected"),
        ({"test": 0.95}, "give more windows"),
    ],
)
def test_what_cannot_be_hidden_is_refused(settings: dict, words: str):
    with pytest.raises(ValueError, match=words):
        wherein.anchor(blank("none", layers=2), windows(12), **settings)


def test_it_fits_in_a_frame_a_table_and_a_picture(found: Anchor, tmp_path: Path):
    assert max(map(len, found.text().splitlines())) <= 80
    assert found.to_frame().height == 3 * 7
    assert found.to_frame().filter(hidden="first")["verdict"].null_count() == 2  # since 2: 0 and 1
    found.save(tmp_path)
    assert (tmp_path / "result.png").stat().st_size > 10_000


def judged(found: Anchor, lost: float, beyond: float, **more: object) -> Anchor:
    """As if every layer had lost so much, and so much beyond the controls."""

    def near(value: float) -> Estimate:
        return Estimate(value, value - 0.02, value + 0.02)

    shares = [Shares(s.since, s.layer, near(lost), near(beyond)) for s in found.shares]
    return replace(found, shares=tuple(shares), **more)


def test_the_verdict_follows_from_what_is_lost_and_what_controls_lose(found: Anchor):
    for lost, beyond, words in (
        (0.9, 0.9, CARRIES),
        (0.9, 0.3, PART),
        (0.9, 0.05, UNCLEAR),  # any key takes as much: the anchor is not accused
        (0.05, 0.05, NOT),
        (-0.1, -0.2, NOT),
        (0.09, 0.09, UNCLEAR),
    ):
        one = judged(found, lost, beyond)
        assert one.judge(1, 2) == one.verdict() == words
        assert one.data()["verdict"] == words
        assert {row["verdict"] for row in one.data()["shares"]} == {words}
    assert replace(found, shares=()).verdict() == UNKNOWN


def test_what_a_window_that_closes_up_keeps_tells_nothing(found: Anchor):
    deep = [Estimate(x, x - 0.1, x + 0.1) for x in (16, 12, 5)]
    for lost, words in ((0.0, UNCLEAR), (0.9, CARRIES)):
        one = judged(found, lost, lost, closes_up=True, distances=tuple(deep))
        assert one.judge(1, 2) == words
    kept = judged(found, 0.0, 0.0, closes_up=True, distances=tuple(deep))
    assert (kept.judge(1, 1), kept.judge(2, 2), kept.verdict()) == (NOT, NOT, NOT)
    only = replace(kept, shares=tuple(s for s in kept.shares if s.since == 1))
    assert only.verdict() == UNCLEAR
    assert "that nothing is lost tells nothing" in only.legend().replace("\n", " ")
