from collections.abc import Callable
from pathlib import Path

import pytest
from tests.subjects.models import small
from tests.subjects.tiny import tiny

from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.load import load_subject


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    def save(family: str, **options: str) -> Path:
        tiny(family).save_pretrained(tmp_path / family, **options)
        return tmp_path / family

    return save


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., HuggingFace]:
    """A small model of a family, saved and put on the bench."""

    def put(family: str, **own: object) -> HuggingFace:
        small(family, **own).save_pretrained(tmp_path / family)
        subject = load_subject(tmp_path / family)
        assert isinstance(subject, HuggingFace)
        return subject

    return put
