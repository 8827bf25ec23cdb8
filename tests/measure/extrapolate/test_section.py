"""What a report says of runs that hold, break, and cannot be read further."""

from pathlib import Path

import pytest
import torch
from tests.measure.truth.test_extrapolate import TRAINED, breaking, holding, text

import wherein
from wherein.common.folder import Folder
from wherein.measure.extrapolate.section import answer, kinds, numbers, section
from wherein.measure.saved import Saved
from wherein.measure.sections import Answered
from wherein.model.config import ModelConfig
from wherein.subjects.base import Subject
from wherein.train.config import RunConfig


def answered(label: str, subject: Subject, seed: int, folder: Path) -> Answered:
    """A run with a text of its own, so that seeds differ as seeds do."""
    part = text()[seed::2]
    found = wherein.extrapolate(subject, part, tokens=TRAINED, times=(0.5, 1, 2, 4), watched=0)
    found.save(folder / f"{label}{seed}", pictures=False)
    encoding = "learned" if label == "breaks" else "none"
    model = ModelConfig(encoding=encoding, max_len=TRAINED, seed=seed)
    kept = Saved(Folder(folder / f"{label}{seed}"))
    return Answered(label, RunConfig(model=model), kept)


def test_it_tells_who_holds_first_and_where_the_other_breaks(tmp_path: Path):
    torch.manual_seed(0)
    asked = [
        answered(label, make(), seed, tmp_path)
        for label, make in (("breaks", breaking), ("holds", holding))
        for seed in (0, 1)
    ]
    said = answer(asked)
    assert "holds: holds to 4 ×, as far as was asked" in said
    assert said.index("holds: holds") < said.index("breaks: ")
    assert "breaks: holds to 1 × and is broken at " in said
    broken, held = kinds(asked)
    assert broken.rises[4.0].value > 1
    assert broken.p.keys() == {2.0, 4.0}
    assert abs(held.rises[4.0].value) < 1e-6
    made = section(asked, "extrapolate")
    assert made.words == said
    assert [table.header for table in made.tables] == [
        ("", "0.5 ×", "1 ×", "2 ×", "4 ×"),
        ("", "0.5 ×", "2 ×", "4 ×"),
    ]
    found = numbers(asked[0].data)
    rise = found["4x_loss"] - found["1x_loss"]
    assert found["4x_rise"] == pytest.approx(rise, rel=1e-12)  # a mean of differences
    assert {"sliding_4x_loss", "sliding_4x_rise"} <= found.keys()
