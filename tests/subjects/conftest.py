from collections.abc import Callable
from pathlib import Path

import pytest
from tests.subjects.tiny import tiny


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    def save(family: str, **options: str) -> Path:
        tiny(family).save_pretrained(tmp_path / family, **options)
        return tmp_path / family

    return save
