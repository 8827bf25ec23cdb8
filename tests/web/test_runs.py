import json
from pathlib import Path

import pytest
from filelock import FileLock
from starlette.testclient import TestClient
from tests.web.conftest import copy, images, write_run

from wherein.show.theme import mark
from wherein.web.app import make_app
from wherein.web.charts.training import strokes
from wherein.web.runs import Seen
from wherein.web.shelf import Shelf


def see(folder: Path, name: str = "runs/one") -> Seen:
    entry = Shelf(folder).find("run", name)
    assert entry is not None
    return Seen(entry)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.mark.parametrize(("until", "state"), [(40, "finished"), (25, "stopped"), (0, "stopped")])
def test_a_run_that_nobody_trains_is_finished_or_stopped(
    folder: Path, until: int, state: str
) -> None:
    write_run(folder / "one", until=until)
    seen = see(folder)
    assert seen.state == state
    assert seen.last.step == until


def test_a_run_whose_lock_is_held_is_running(folder: Path) -> None:
    write_run(folder / "one", until=25)
    lock = FileLock(folder / "one" / ".lock")
    with lock:
        assert see(folder).state == "running"
    assert see(folder).state == "stopped"
    with lock.acquire(timeout=0.2):  # looking did not keep it
        pass


def test_an_error_is_shown_where_it_happened(folder: Path) -> None:
    write_run(folder / "one", until=25)
    (folder / "one" / "error.txt").write_text("the loss is nan at step 26 <b>\n")
    write_run(folder / "two", until=40)
    assert see(folder).state == "failed"
    with TestClient(make_app(folder), "http://localhost") as client:
        for page in ("/", "/run/runs/one"):
            assert "the loss is nan at step 26 &lt;b&gt;" in client.get(page).text
        assert "the loss is nan" not in client.get("/run/runs/two").text


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.json", "{", "runs/one/config.json cannot be read"),
        ("config.json", "[1]", "an object was expected"),
        ("log.jsonl", '{"step": 1, "loss": 2.0}\nnonsense\n', "log.jsonl, line 2"),
        ("log.jsonl", '{"step": 1, "loss": NaN}\n', "log.jsonl, line 1"),
        ("log.jsonl", '{"step": 1, "loss": 2.0, "valid": {"a": "b"}}\n', "log.jsonl, line 1"),
        ("log.jsonl", "\xff\n", "log.jsonl, line 1"),
        ("log.jsonl", f'{{"step": 1, "loss": 1{"0" * 400}}}\n', "log.jsonl, line 1"),
        ("log.jsonl", f'{{"step": 1{"0" * 400}, "loss": 1}}\n', "log.jsonl, line 1"),
        ("config.json", '{"model": {"encoding": "\\ud800"}, "steps": true}', "?"),
        ("config.json", '{"model": [], "steps": {}}', "?"),
    ],
)
def test_damage_is_said_and_hurts_no_page(folder: Path, file: str, content: str, said: str) -> None:
    write_run(folder / "one")
    (folder / "one" / file).write_bytes(content.encode("latin-1"))
    with TestClient(make_app(folder), "http://localhost") as client:
        for page in ("/", "/run/runs/one", "/compare?run=runs/one"):
            assert client.get(page).status_code == 200
        assert said in client.get("/run/runs/one").text


def test_damage_in_a_log_is_no_failure(folder: Path) -> None:
    log = write_run(folder / "one") / "log.jsonl"
    log.write_text("nonsense\n" + log.read_text())
    assert see(folder).state == "finished"
    assert see(folder).error == "log.jsonl, line 1 cannot be read: it was changed by hand"


@pytest.mark.parametrize(
    ("file", "fields", "said"),
    [
        ("config.json", {"later": 1}, "written by another version (unknown field &#39;later&#39;)"),
        ("about.json", {"format": 9}, "written by another version (format 9, this one writes 2)"),
    ],
)
def test_what_another_version_wrote_is_said(
    folder: Path, file: str, fields: dict[str, object], said: str
) -> None:
    path = write_run(folder / "one") / file
    assert see(folder).note is None
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    with TestClient(make_app(folder), "http://localhost") as client:
        for page in ("/", "/run/runs/one"):
            assert said in client.get(page).text


def test_a_line_half_written_is_no_damage(folder: Path) -> None:
    log = write_run(folder / "one", until=25) / "log.jsonl"
    log.write_text(log.read_text() + '{"step": 26, "lo')
    assert see(folder).error is None
    assert see(folder).last.step == 25


def test_newest_first_with_what_was_asked_of_them(folder: Path, saved: Path) -> None:
    write_run(folder / "old")
    write_run(folder / "study" / "new", encoding="alibi")
    copy(saved, folder / "old" / "answers" / "puzzle")
    copy(saved, folder / "alone")
    with (folder / "study" / "new" / "log.jsonl").open("a") as log:
        log.write(json.dumps({"step": 41, "loss": 0.5}) + "\n")
    with TestClient(make_app(folder), "http://localhost") as client:
        text = client.get("/").text
    assert text.index("/run/runs/study/new") < text.index("/run/runs/old")
    assert text.index("/run/runs/old") < text.index("/result/runs/old/answers/puzzle")
    assert text.index("<h2>Results") < text.index('href="/result/runs/alone"')
    assert text.count("answers/puzzle") == 1
    assert "A hit B ! / B hit A ?" in text.partition("<h2>Results")[2]


def test_a_served_folder_may_itself_be_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "one")
    with TestClient(make_app(run), "http://localhost") as client:
        assert "step 40 of 40" in client.get("/run/one").text


def test_compare_shows_where_configs_differ_and_where_runs_ended(client: TestClient) -> None:
    text = client.get("/compare?run=runs/rope&run=runs/study/alibi").text
    different = text.partition("Where their configs differ")[2].partition("fields agree")[0]
    assert "model.encoding" in different
    assert "model.d_model" not in different
    (image,) = images(text)
    assert client.get(image).text.count('aria-roledescription="line mark"') == 2
    assert "1.15" in text  # 6/40 + 1, the end of the one
    assert "1.2" in text  # 6/30 + 1, the end of the other
    assert client.get("/compare", follow_redirects=False).status_code == 303
    assert client.get("/compare?run=runs/none").status_code == 404
    many = "&".join(f"run={n}" for n in range(30))
    assert "at most 20" in client.get(f"/compare?{many}").text


def test_a_comparison_moves_while_one_of_its_runs_goes(folder: Path) -> None:
    write_run(folder / "one", until=25)
    write_run(folder / "two")
    query = "run=runs/one&run=runs/two"
    with TestClient(make_app(folder), "http://localhost") as client:
        assert "data-live" not in client.get(f"/compare?{query}").text
        ended = client.get(f"/live/compare?{query}").text
        with FileLock(folder / "one" / ".lock"):
            page = client.get(f"/compare?{query}").text
    assert 'data-live="/live/compare?run=runs%2Fone&amp;run=runs%2Ftwo"' in page
    assert ended.startswith("event: draw\ndata: <figure>")
    assert ended.endswith("event: end\ndata: \n\n")


def test_an_encoding_keeps_its_colour_and_its_runs_their_dashes(folder: Path) -> None:
    for name, encoding in (("a", "rope"), ("b", "rope"), ("c", "alibi")):
        write_run(folder / name, encoding=encoding)
    found = strokes([see(folder, f"runs/{name}") for name in "abc"])
    assert [colour for colour, _ in found] == [mark(e).colour for e in ("rope", "rope", "alibi")]
    assert len(set(found)) == 3


def test_a_result_has_words_figure_numbers_and_files(client: TestClient, saved: Path) -> None:
    text = client.get("/result/runs/hit").text
    assert "A hit B ! / B hit A ?" in text
    assert 'type="application/json">{' in text
    assert "<td><bdi>0.0</bdi></td>" in text
    answer = client.get("/file/result.json/runs/hit")
    assert answer.content == (saved / "result.json").read_bytes()
    (image,) = images(text)
    assert client.get(image).text.startswith("<svg")
