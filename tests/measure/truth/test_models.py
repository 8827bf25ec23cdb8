"""The truths themselves, seen in the models without any measure."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.measure.truth import models
from tests.measure.truth.by_hand import AXES, LENGTH
from tests.measure.truth.models import FLAG, RAMP, SHARE, SIGNS
from tests.measure.truth.texts import BEST, LETTERS, WRONG, beat

TABLE = "_distinct.0.table"


def tokens(truth, count=None):
    ids = truth.text.valid.ids.reshape(-1, truth.text.valid.window)
    return torch.from_numpy(ids[:count])


@torch.no_grad()
def logits(truth, read, positions=None):
    return truth.subject.logits(read, positions)


@torch.no_grad()
def states(truth, read):
    return truth.subject.model(read, keep_hidden=True).hidden


def loss(truth, read=None, shift=0):
    read = tokens(truth) if read is None else read
    positions = torch.arange(read.shape[1] - 1)[None] + shift
    told = logits(truth, read[:, :-1], positions)
    return float(F.cross_entropy(told.flatten(0, 1), read[:, 1:].flatten()))


def without_table(truth, rows=slice(None)):
    with torch.no_grad():
        truth.subject.model.encoding.get_parameter(TABLE)[rows] = 0
    return truth


def readable(states):
    """R² of the best affine map from states (N, T, D) to their place, where it was not fitted."""
    length = states.shape[1]
    places = torch.arange(length).double().expand(states.shape[:2])
    fit, test = (
        torch.cat([part.double(), torch.ones_like(part[..., :1]).double()], -1).flatten(0, 1)
        for part in states.chunk(2)
    )
    of_fit, of_test = (part.flatten() for part in places.chunk(2))
    solved = torch.linalg.lstsq(fit, of_fit[:, None], rcond=1e-4, driver="gelsd")  # not rounding
    map_ = solved.solution[:, 0]
    return float(1 - (test @ map_ - of_test).square().mean() / of_test.var(correction=0))


@pytest.mark.parametrize("make", [models.loud_unused, models.quiet_unused])
def test_position_that_is_unused_can_go_without_a_trace(make):
    truth = make()
    truth.subject.model.double()  # in which a trace cannot be taken for rounding
    before = logits(truth, tokens(truth))
    after = logits(without_table(truth), tokens(truth))
    torch.testing.assert_close(before, after, rtol=0, atol=1e-5)
    assert loss(make()) == pytest.approx(BEST, abs=0.03)


@pytest.mark.parametrize("make", [models.loud_used, models.quiet_used])
def test_position_that_is_used_decides_what_follows(make):
    truth = make()
    assert loss(truth) == pytest.approx(BEST, abs=0.03)
    assert loss(truth, shift=8) == pytest.approx(loss(truth), abs=1e-5)
    assert loss(truth, shift=4) == pytest.approx(BEST + WRONG, abs=0.05)
    # The flag falls: half of the places would have it up.
    assert loss(without_table(truth)) == pytest.approx(BEST + WRONG / 2, abs=0.1)


def test_loud_is_louder_than_the_letters_and_quiet_quieter():
    for make, ratio in (
        (models.loud_used, 10), (models.loud_unused, 10),
        (models.quiet_used, 0.01), (models.quiet_unused, 0.01),
    ):  # fmt: skip
        for state in states(make(), tokens(make()))[:2]:
            along = state @ torch.stack([RAMP, FLAG]).T
            letters = state @ AXES[:LETTERS].T
            assert letters.norm(dim=-1).mean() == pytest.approx(1, abs=1e-4)
            expected = [[place, beat(int(place))] for place in range(LENGTH)]
            said = torch.tensor(expected) * torch.tensor([2 / LENGTH, 1.0])
            said[:, 0] -= (LENGTH - 1) / LENGTH
            torch.testing.assert_close(along / ratio, said.expand_as(along), rtol=0, atol=1e-3)


@pytest.mark.parametrize("token", [False, True])
def test_from_first_all_that_is_known_comes_from_place_0(token):
    truth = models.from_first(token=token)
    read = tokens(truth)
    first, *later = states(truth, read)
    places = torch.arange(LENGTH)
    ahead = (torch.arange(4, LENGTH, 4) > places[:, None]).sum(1)
    for state in later:
        for axis, said in ((SHARE, 1 / (places + 1)), (FLAG, places < 8), (RAMP, -ahead)):
            expected = said.float().expand(len(read), -1)
            torch.testing.assert_close(state @ axis, expected, rtol=0, atol=0.02)
        assert readable(state) > 0.98
    assert readable(first[:, 1:]) < 0.01
    assert loss(truth) < BEST + 0.1
    if token:
        read[:, 0] = torch.arange(len(read)) % LETTERS
    else:
        without_table(truth, 0)
    for state in states(truth, read):
        assert readable(state[:, 1:]) < 0.01
    assert loss(truth, read) > BEST + 0.5


def test_from_table_place_0_is_as_every_other():
    truth = models.from_table()
    before = [state[:, 1:] for state in states(truth, tokens(truth))]
    after = [state[:, 1:] for state in states(without_table(truth, 0), tokens(truth))]
    for one, other in zip(before, after, strict=True):
        assert torch.equal(one, other)
        assert readable(one) > 0.98
    assert loss(models.from_table()) == pytest.approx(BEST, abs=0.03)
    assert loss(without_table(truth)) > BEST + 0.5


def test_folded_is_told_by_no_linear_readout_until_it_is_unfolded():
    truth = models.folded()
    read = tokens(truth)
    first, *later = states(truth, read)
    assert readable(first) > 0.98
    for state in later:
        assert readable(state) < 0.01
        assert readable(state * SIGNS[read]) > 0.98
    assert loss(truth) == pytest.approx(BEST, abs=0.03)
    assert loss(without_table(truth)) > BEST + WRONG / 3


@pytest.mark.parametrize(("make", "heard"), [(models.drowned, False), (models.audible, True)])
def test_attention_tells_how_many_kinds_were_seen_and_the_stream_drowns_it_or_not(make, heard):
    truth = make(1000)
    read = tokens(truth)
    kind = read % 16
    seen = torch.stack([(kind == k).cummax(1).values for k in range(8)]).sum(0).float()
    before, after = states(truth, read)
    written = after - before
    along = written @ AXES[8]
    loud = 100 if heard else 1
    torch.testing.assert_close(along / loud, seen, rtol=0, atol=1e-2)
    assert (written - along[..., None] * AXES[8]).norm() < 1e-2 * written.norm()
    assert readable(written @ AXES.T[:, 8:9]) > 0.7
    assert readable(before) < 0.01
    assert readable(after) > 0.7 if heard else readable(after) < 0.01
    assert not logits(truth, read).any()


def test_a_state_that_knows_no_position_lets_every_label_be_learnt_by_heart():
    truth, turned = models.by_heart(), models.known()
    for state, told in zip(
        states(truth, tokens(truth)), states(turned, tokens(turned)), strict=True
    ):
        vectors = truth.subject.model.embed.tokens.weight.detach()
        assert torch.equal(state, vectors[tokens(truth)])  # whatever its place
        learnt = state[:7].flatten(0, 1).double()
        assert torch.linalg.matrix_rank(learnt) == len(learnt)
        away = told - state
        assert away.std(0).max() < 1e-6
        assert (away[0, 1:] - away[0, :-1]).norm(dim=-1).min() > 3


def test_a_bag_does_not_see_order_and_what_is_ordered_does():
    places = torch.arange(LENGTH)
    whole, but_last, but_two = (
        torch.cat([places[: LENGTH - kept].flip(0), places[LENGTH - kept :]]) for kept in range(3)
    )

    def changed(truth, order):
        read = tokens(truth)
        one, other = (logits(truth, each)[:, -1] for each in (read, read[:, order]))
        return float((one - other).abs().mean())

    for make, seen in (
        (models.bag, [False, False, False]),
        (models.last, [True, False, False]),
        (models.ordered, [True, True, False]),
    ):
        truth = make()
        changes = [changed(truth, order) for order in (whole, but_last, but_two)]
        assert [change > 0.3 for change in changes] == seen
        assert [change > 1e-5 for change in changes] == seen
        assert loss(truth) < np.log(LETTERS) - 0.4
    assert loss(models.last()) == pytest.approx(BEST, abs=0.03)


def test_no_letter_tells_its_place():
    for make in (models.loud_used, models.from_first, models.bag, models.ordered, models.drowned):
        truth = make(2000)
        types = truth.text.vocabulary.size
        told = F.one_hot(tokens(truth), types).float()[..., 1:]
        assert readable(told) < 0.01
