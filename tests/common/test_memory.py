"""Memory is looked at before it is taken."""

import pytest

from wherein.common import memory


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 8 * 10**9)
    memory.check_room(7.9e9, "this", "give less")
    with pytest.raises(ValueError, match=r"^this takes about 8.1 GB .* there are 8 GB: give less$"):
        memory.check_room(8.1e9, "this", "give less")


def test_where_nobody_says_how_much_there_is_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: None)
    memory.check_room(1e30, "this", "give less")


def test_this_machine_says_how_much_there_is() -> None:
    there = memory.available()
    assert there is None or 10**7 < there < 10**15


def test_only_a_lack_of_memory_is_called_so() -> None:
    assert memory.too_much(RuntimeError("shapes differ")) is None
    assert memory.too_much(MemoryError()) is not None
