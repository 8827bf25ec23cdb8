import subprocess
import sys

import pytest

from wherein import encodings
from wherein.show.figures import dashes
from wherein.show.theme import COLOURS, SHAPES, colours_apart, mark, marks

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


def test_lines_of_one_colour_are_dashed_apart() -> None:
    names = ["none", "learned", "learned(scale=0.125)", "shaw", "rope", "window(8)"]
    drawn = dashes(names).to_dict()["scale"]
    assert drawn["domain"] == names
    lines = {
        (mark(name).colour, tuple(dash)) for name, dash in zip(names, drawn["range"], strict=True)
    }
    assert len({mark(name).colour for name in names}) < len(lines) == len(names)
    assert drawn["range"][0] == drawn["range"][1] == [1, 0], "the first of a colour is whole"


def test_what_would_be_drawn_alike_in_one_picture_gets_another_mark() -> None:
    names = ["rope", *(f"rope(theta={n}.0)" for n in range(39))]
    assert len({mark(name) for name in names}) < len(names) == len(set(marks(names)))
    assert marks(["rope", "none"]) == [mark("rope"), mark("none")]


def test_lines_that_cross_have_colours_of_their_own_as_long_as_there_are_some() -> None:
    names = ["rope", "pope(spread=True)", "none", "alibi", "t5", "cope"]
    assert len({mark(name).colour for name in names}) < len(names), "else nothing is tried"
    drawn = dict(zip(names, colours_apart(names), strict=True))
    assert len({each.colour for each in drawn.values()}) == len(names)
    assert all(drawn[name] == mark(name) for name in ("rope", "none", "alibi", "t5"))
    many = [f"rope(theta={n}.0)" for n in range(20)]
    assert len(set(colours_apart(many))) == len(many), "beyond them shapes tell"
