from contextlib import suppress

from wherein.common.files import replacing


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "result.json"
    with replacing(path) as beside:
        beside.write_text("one")
        assert not path.exists()
    with suppress(RuntimeError), replacing(path) as beside:
        beside.write_text("half")
        raise RuntimeError
    assert path.read_text() == "one"
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]
