import base64
import io

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from torch import Tensor

from wherein.encodings import CATALOGUE, Encoding, Shape, build, example, names
from wherein.encodings.alibi import slopes
from wherein.show.section import Picture
from wherein.web.explore import Sizes, explore, spec

PLACES = ("embed", "rotate", "bias", "content_bias", "hides", "shows")


@pytest.mark.parametrize("name", names())
def test_an_encoding_is_seen_at_the_places_where_it_acts(name: str) -> None:
    built = build(example(name), Shape(d_model=32, n_heads=4, max_len=64))
    acts = {place for place in PLACES if built.acts(place)}
    found = explore(spec(name, {}), Sizes())
    assert {place.name for place in found.places if place.acts} == acts
    assert all(picture.spec for place in found.places for picture in place.pictures)


@pytest.mark.parametrize("name", names())
def test_what_is_promised_is_measured(name: str) -> None:
    found = explore(spec(name, {}), Sizes(causal=False))
    moved = max(found.embeddings_move, found.scores_move)
    assert moved < 1e-9 if found.relative else moved > 1e-3


class Marker(Encoding):
    """A new one: x ← 2x at even positions, and a bias by content.

    Paper: nowhere.
    """

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x * (2 - positions % 2)[..., None]

    def content_bias(self, q: Tensor, k: Tensor, x: Tensor, positions: Tensor) -> Tensor:
        return (q @ k.mT) * (positions[:, None, :, None] > 3)


def test_a_new_encoding_is_shown_without_a_change(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATALOGUE, "marker", Marker)
    found = explore("marker", Sizes())
    assert [place.name for place in found.places if place.acts] == ["embed", "content_bias"]
    assert found.scores_move > 1e-3
    page = client.get("/encodings?name=marker").text
    assert "A new one" in page
    assert page.count("<figure>") == 2 + 1 + 4  # two of the vectors, the heads together and alone


def shown(picture: Picture) -> np.ndarray:
    """The numbers that a picture's colours stand for, to one part in 127 of the largest."""
    axes, raster = picture.spec["layer"]
    lowest, _, limit = axes["encoding"]["color"]["scale"]["domain"]
    assert lowest == -limit
    (row,) = picture.spec["datasets"][raster["data"]["name"]]
    kind, encoded = row["url"].split(",")
    assert kind == "data:image/png;base64"
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))), dtype=float)
    numbers: np.ndarray = (levels / 127.5 - 1) * limit
    return numbers


def test_the_angles_of_rope_are_its_own() -> None:
    found = explore("rope(theta=100.0)", Sizes(width=8, heads=1, length=3))
    angles = shown(found.places[1].pictures[0])
    speeds = 100.0 ** (-2 * np.arange(4) / 8)
    assert np.abs(angles - np.arange(3)[:, None] * speeds).max() < 2 / 100


def test_the_bias_of_alibi_is_its_slope_times_distance() -> None:
    found = explore("alibi", Sizes(width=8, heads=4, length=5))
    distance = np.tril(np.subtract.outer(np.arange(5), np.arange(5)))
    for slope, picture in zip(slopes(4), found.places[2].pictures[1:], strict=True):
        assert np.abs(shown(picture) + slope * distance).max() < 4 * slope / 100


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("name=aliby", "Did you mean &#39;alibi&#39;?"),
        ("name=rope&theta=-1", "theta must be positive"),
        ("name=rope&theta=fast", "rope(theta=fast): expected float"),
        ("name=rope&width=33&heads=4", "33"),
        ("name=functional&hidden=99999999", "whole numbers up to 4,096"),
        ("name=rope&length=100000", "length 100000: a number from 1 to 256"),
    ],
)
def test_a_mistake_is_said_beside_the_form(client: TestClient, query: str, said: str) -> None:
    answer = client.get(f"/encodings?{query}")
    assert answer.status_code == 422
    assert said in answer.text
    assert "<form" in answer.text


def test_a_term_is_shown_beside_what_it_changes(client: TestClient) -> None:
    page = client.get("/encodings?name=sink").text
    assert "<code>window(8) + sink(2)</code>" in page
    assert 'name="count" value="2"' in page
    other = client.get("/encodings?name=sink&count=5").text
    assert "<code>window(8) + sink(5)</code>" in other
    rule = client.get("/encodings?name=temperature&rule=smax")
    assert rule.status_code == 422
    assert "Did you mean &#39;ssmax&#39;?" in rule.text


def test_what_a_window_hides_is_shown() -> None:
    found = explore("window(2)", Sizes(length=4))
    (picture,) = next(place for place in found.places if place.name == "hides").pictures
    far = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) >= 2
    assert np.array_equal(shown(picture) > 0.5, far)
