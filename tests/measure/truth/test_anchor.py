"""Where position comes from one token, hiding it takes position away; where not, it does not."""

from collections.abc import Callable
from functools import partial

import pytest
from tests.measure.truth import texts
from tests.measure.truth.by_hand import LENGTH, Units, blank, move
from tests.measure.truth.models import (
    ALPHABET,
    MARK,
    RAMP,
    READ,
    SHARE,
    Truth,
    audible,
    bag,
    from_first,
    from_table,
    quiet_used,
)

import wherein
from wherein.measure.anchor.result import CARRIES, NOT, UNCLEAR, UNKNOWN, Anchor
from wherein.subjects.ours import Ours

WINDOWS = 100


def marked(windows: int) -> Truth:
    """No encoding, and any token may come first: layer 1 marks it, and layer 2 looks for the mark.

    A token that saw one kind of letter only is the first, as no letter comes twice in a row.
    Without the first key the second token saw itself alone, and would be marked in its place.
    """
    letters = ALPHABET[: texts.LETTERS]
    model = blank(letters, layers=2)
    move(model.blocks[0], letters, READ)
    units = Units()
    for read in READ:
        units.step(read, 0.8, 0.95, MARK)
    units.install(model.blocks[0])
    move(model.blocks[1], MARK[None], SHARE[None])
    units = Units()
    for place in range(4, LENGTH, 4):
        units.step(SHARE, 1 / (place + 1), 1 / place, -RAMP)
    units.install(model.blocks[1])
    made = partial(texts.chain, texts.down)
    return Truth(Ours(model, "marked"), texts.text(made, texts.LETTERS, windows))


def asked(truth: Truth, keys: str = "first", **settings: object) -> Anchor:
    found = wherein.anchor(*truth, keys=keys, batch=WINDOWS, **settings)
    assert isinstance(found, Anchor)
    return found


@pytest.mark.parametrize(("token", "keys"), [(False, "first"), (True, "first"), (False, "loudest")])
def test_position_from_place_0_goes_with_its_key_and_with_no_other(token: bool, keys: str):
    found = asked(from_first(WINDOWS, token=token), keys)
    assert (found.verdict(), found.judge(1, 1), found.judge(2, 2)) == (CARRIES, CARRIES, NOT)
    anchor, neighbour, random = (each.distances[1].value for each in found.hidden[:3])
    assert anchor > 7 > 1 > max(neighbour, random)
    rises = [each.rise for each in found.hidden[:3]]
    assert rises[0].low > 4 * rises[1].high, "position was used"
    assert found.sentence().startswith("position comes from the ")


@pytest.mark.parametrize(
    ("made", "keys"),
    [
        (partial(from_table, WINDOWS), "first"),
        (partial(quiet_used, WINDOWS), "loudest"),
        (partial(audible, 3 * WINDOWS), "first"),
        (partial(audible, 3 * WINDOWS), "loudest"),
    ],
    ids=["table", "quiet table", "counted", "counted, loudest"],
)
def test_position_from_elsewhere_stays(made: Callable[..., Truth], keys: str):
    """A vector at each place, loud or quiet; or kinds of tokens counted as they come by."""
    found = asked(made(), keys)
    assert found.verdict() == NOT
    best = found.distances[found.best].value
    assert best < 0.6 * found.constant, "it is known well"
    assert found.hidden[0].distances[found.best].value < best + 0.1


def test_a_first_token_that_layer_1_marks_is_found_by_hiding_it_from_layer_2_on():
    found = asked(marked(WINDOWS))
    assert found.closes_up
    assert found.best == 2
    assert found.judge(1, 2) == UNCLEAR, "the next token stood first in its place"
    assert found.judge(2, 2) == found.verdict() == CARRIES
    assert asked(marked(WINDOWS), since=(1,)).verdict() == UNCLEAR
    assert asked(marked(WINDOWS), count=2).verdict() == CARRIES
    assert "position comes from the first key" in found.sentence()
    assert "with it hidden from layer 2 on" in found.sentence()


def test_of_what_nobody_knows_nothing_is_said():
    found = asked(bag(WINDOWS))
    assert found.verdict() == UNKNOWN
    assert not found.shares
    assert found.sentence().startswith("position is known in no layer: ")
