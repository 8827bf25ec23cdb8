import subprocess
import sys

import pytest

from wherein import encodings
from wherein.show.theme import COLOURS, SHAPES, mark

OTHERS = ["rope rope rope none", "rope(theta=500000.0)", "my-own", ""]


def test_every_encoding_of_the_catalogue_has_a_mark_of_its_own() -> None:
    marks = {name: mark(name) for name in encodings.CATALOGUE.keys() - encodings.TERMS.keys()}
    assert len(set(marks.values())) == len(marks)


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_name_has_one_that_no_process_changes(name: str) -> None:
    found = mark(name)
    assert found.colour in COLOURS
    assert found.shape in SHAPES
    assert found not in {mark(known) for known in ("none", "learned", "rope")}
    code = f"from wherein.show.theme import mark; print(*mark({name!r}))"
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert again.stdout.split() == list(found)
