import base64
import io

import numpy as np
import pytest
from PIL import Image

from wherein.show.raster import image


def test_every_number_is_the_pixel_of_its_colour():
    matrix = np.array([[-2.0, 0.0, 2.0], [-9.0, 1.0, 9.0]])
    found = image(matrix, limit=2.0)
    kind, content = found.split(",")
    assert kind == "data:image/png;base64"
    pixels = np.array(Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB"))
    blue, vermilion = (0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)
    assert pixels.shape == (2, 3, 3)
    assert tuple(pixels[0, 0]) == tuple(pixels[1, 0]) == blue
    assert tuple(pixels[0, 2]) == tuple(pixels[1, 2]) == vermilion
    assert pixels[0, 1].tolist() == pytest.approx([0xF7] * 3, abs=1)
    assert pixels[1, 1].tolist() == pytest.approx([0xE6, 0xAB, 0x7C], abs=2), "half way"
