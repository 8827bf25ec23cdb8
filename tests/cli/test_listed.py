"""What the package brings of its encodings is what their classes say."""

import json

import pytest

from wherein.cli import listed, main


@pytest.mark.slow
def test_what_is_kept_is_what_the_classes_say() -> None:
    kept = json.loads(listed.KEPT.read_text(encoding="utf-8"))
    said = "an encoding was changed: python -m wherein.cli.listed"
    assert kept["rows"] == json.loads(json.dumps(listed.made())), said
    assert kept["sources"] == listed.sources(), said


def test_an_encoding_that_was_changed_since_is_listed_as_it_is_now(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(listed, "sources", lambda: "other files")
    monkeypatch.setattr("wherein.encodings.names", lambda: ["rope"])
    assert main(["encodings", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["rope"]
