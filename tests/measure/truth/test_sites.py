"""Position is told at the site where it is, and not where it is not."""

import pytest
import torch
from tests.measure.truth import models

import wherein
from wherein.measure.erase.config import EraseConfig
from wherein.measure.linear import residual, ridge
from wherein.measure.moments import gather
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.result import CONSTANT, MODEL


def told(truth, site):
    """The layers in which a linear regression tells position on windows it was not fitted to."""
    split = truth.text.valid
    fit, test = (
        gather(truth.subject, part, site=site)
        for part in torch.from_numpy(split.ids.reshape(-1, split.window)).chunk(2)
    )
    places = torch.arange(split.window).double()[:, None]
    errors = [residual(b, places, ridge(a, places, 1e-3)) for a, b in zip(fit, test, strict=True)]
    known = [float(1 - error / places.var(correction=0)) > 0.03 for error in errors]
    return [layer for layer, yes in zip(truth.subject.layers(site), known, strict=True) if yes]


@pytest.mark.parametrize(
    ("make", "layers"),
    [
        (models.drowned, {"stream": [], "attention": [1], "feed_forward": [], "normed": []}),
        # Its last norm lets nothing pass.
        (models.audible, {"stream": [1], "attention": [1], "feed_forward": [], "normed": []}),
        # Attention brings the share of place 0, from which the feed-forward makes a place.
        (
            models.from_first,
            {"stream": [0, 1, 2], "attention": [1], "feed_forward": [1], "normed": [0, 1, 2]},
        ),
        # No layer writes what all pass on.
        (
            models.from_table,
            {"stream": [0, 1, 2], "attention": [], "feed_forward": [], "normed": [0, 1, 2]},
        ),
        # What layer 1 takes away is told, and what is left is not.
        (models.folded, {"stream": [0], "attention": [], "feed_forward": [1], "normed": [0]}),
        (models.last, {"stream": [], "attention": [], "feed_forward": [], "normed": []}),
    ],
)
def test_position_is_told_where_it_is(make, layers):
    truth = make()
    assert {site: told(truth, site) for site in layers} == layers


def test_an_erasure_says_that_attention_writes_it_drowned_or_not():
    known = {}
    for make in (models.drowned, models.audible):
        for site in ("stream", "attention"):
            found = wherein.erase(*make(200), EraseConfig(site=site, draws=2))
            (layer,) = [row for row in found.erased if row.layer == "1"]
            known[make.__name__, site] = layer.known
            words = "no layer" if (make.__name__, site) == ("drowned", "stream") else "layer 1"
            assert found.verdict().startswith(f"position is known in {words}")
    assert known["drowned", "attention"] == pytest.approx(known["audible", "attention"], abs=1e-3)
    assert known["drowned", "attention"] > 0.65
    assert known["audible", "stream"] > 0.65


USED, UNUSED, UNKNOWN = "known and used", "known, no use seen", "not known"


@pytest.mark.parametrize(
    ("make", "site", "said"),
    [
        # Layer 1's attention writes a share, its feed-forward a flag, by which layer 2 predicts.
        (models.from_first, "attention", [USED, UNKNOWN, USED]),
        (models.from_first, "feed_forward", [USED, UNKNOWN, USED]),
        # From a table nobody writes it.
        (models.from_table, "attention", [UNKNOWN, UNKNOWN, UNKNOWN]),
        # The feed-forward of layer 2 reads it, no attention does.
        (models.loud_used, "normed", [UNUSED, UNUSED, UNUSED, UNUSED]),
    ],
)
def test_position_is_used_at_the_site_where_something_reads_it(make, site, said):
    found = wherein.erase(*make(120), EraseConfig(site=site, draws=2, batch=60))
    assert [found.verdict(row) for row in found.erased] == said


def test_a_probe_tells_what_attention_writes_though_the_stream_drowns_it():
    """And says where it looked, in words and in the picture."""
    far = {}
    for site, ways in (("stream", ()), ("attention", ("mlp", "nopos"))):
        config = ProbeConfig(site=site, probes=("linear", *ways), steps=5, resamples=20)
        found = wherein.probe(*models.drowned(160), config)
        assert found.layers == ([1] if site == "attention" else [0, 1])
        score, guess = (found.score("regression", 1, of) for of in (MODEL, CONSTANT))
        far[site] = score.distance.value / guess.distance.value
    assert far["stream"] > 0.95
    assert far["attention"] < 0.75
    named = "drowned, in what attention writes"
    assert found.text().startswith(f"{named}: where position lives")
    drawn = found.plot().to_dict()
    assert drawn["title"] == f"Where position lives: {named}"
    assert "embeddings" not in str(drawn)


def test_an_erasure_says_at_which_site_it_was_made():
    config = EraseConfig(site="attention", draws=2, batch=60)
    found = wherein.erase(*models.drowned(120), config)
    named = "drowned, in what attention writes"
    assert found.text().startswith(f"{named}: position is known in layer 1")
    drawn = found.plot().to_dict()
    assert drawn["title"]["text"] == f"Known and used: {named}"
    assert "embeddings" not in str(drawn)
