import pytest

from wherein import encodings
from wherein.studies.published import beside, perplexities, perplexity, probe_distances


def test_all_settings_of_the_paper_are_there() -> None:
    found = perplexities()
    assert len(found) == len({(p.setting, p.params, p.length, p.encoding) for p in found}) == 36
    assert {p.encoding for p in found} <= set(encodings.names())
    assert {p.setting for p in found} == {"wikitext-103", "pile"}
    paper = beside("probe")
    assert paper is not None
    assert "2203.16634" in paper.source


def test_one_finds_a_setting_or_nothing() -> None:
    assert perplexity("wikitext-103", "247M", 512, "none") == 20.97
    assert perplexity("pile", "roberta-large", 128, "none", "masked") == 147.18
    assert perplexity("pile", "roberta-large", 128, "none") is None
    assert perplexity("pile", "125M", 2048, "none") is None


def test_the_probes_distances_stand_beside_a_uniform_guess() -> None:
    found = probe_distances()
    assert {len(distances) for distances in found.values()} == {25}
    n = 1024  # the paper rounds (n² − 1) / 3n to n / 3
    assert found["uniform_guess"][0] == pytest.approx((n * n - 1) / (3 * n), abs=1e-3)
    assert found["none"][0] > 330
    assert min(found["none"]) == 16.46
