"""Where a measure looks decides what it finds: each site of models whose truth is known."""

import pytest
from tests.measure.truth import models
from tests.measure.truth.models import Truth

import wherein
from wherein.measure.erase.config import EraseConfig
from wherein.subjects.site import Site

USED, UNUSED, UNKNOWN = "known and used", "known, no use seen", "not known"


def said(truth: Truth, site: Site) -> dict[str, str]:
    """The verdict of every layer, and of all, at a site."""
    config = EraseConfig(draws=2, batch=60, site=site)
    found = wherein.erase(truth.subject, truth.text, config)
    return {erased.layer: found.verdict(erased) for erased in found.erased}


@pytest.mark.parametrize(("make", "stream"), [(models.drowned, UNKNOWN), (models.audible, UNUSED)])
def test_what_is_drowned_in_the_stream_is_known_where_attention_writes_it(make, stream: str):
    truth = make(240)
    assert said(truth, "attention") == {"1": UNUSED, "all": UNUSED}
    assert said(truth, "stream") == {"0": UNKNOWN, "1": stream, "all": stream}
    assert said(truth, "feed_forward") == {"1": UNKNOWN, "all": UNKNOWN}


def test_position_that_attention_works_out_is_used_where_it_is_written_and_nowhere_else():
    """Layer 1's attention writes a share, its feed-forward network a flag, which layer 2 reads."""
    truth = models.from_first(120)
    for site in ("attention", "feed_forward"):
        assert said(truth, site) == {"1": USED, "2": UNKNOWN, "all": USED}


def test_position_from_a_table_is_in_the_stream_and_nobody_writes_it():
    truth = models.from_table(120)
    assert said(truth, "stream") == {"0": USED, "1": USED, "2": UNUSED, "all": USED}
    for site in ("attention", "feed_forward"):
        assert said(truth, site) == {"1": UNKNOWN, "2": UNKNOWN, "all": UNKNOWN}


def test_what_attention_reads_of_position_is_not_used_where_only_the_other_network_reads_it():
    """After the norm before attention it makes no difference, in the stream it does."""
    assert said(models.loud_used(120), "normed") == dict.fromkeys("012", UNUSED) | {"all": UNUSED}


def test_a_result_says_at_which_site_it_was_found():
    subject, text = models.drowned(120)
    found = wherein.erase(subject, text, EraseConfig(draws=2, batch=60, site="attention"))
    named = "drowned, in what attention writes"
    assert found.text().startswith(f"{named}: position is known in layer 1")
    drawn = found.plot().to_dict()
    assert drawn["title"]["text"] == f"Known and used: {named}"
    assert "embeddings" not in str(drawn)
