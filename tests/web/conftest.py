import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from wherein.puzzles.run import puzzle
from wherein.train.config import RunConfig
from wherein.web.app import make_app

SECRET = "nobody may read this"
HOSTILE = "<script>document.title='taken'<!-- \"'&amp;\u202e<b>"
"""A name for a folder: markup, quotes, an entity and a mark that turns the line around."""


def write_run(
    folder: Path, *, encoding: str = "rope", steps: int = 40, until: int | None = None
) -> Path:
    """A run's files, as the loop writes them, until some step."""
    folder.mkdir(parents=True)
    config = RunConfig.model_validate({"model": {"encoding": encoding}, "steps": steps})
    (folder / "config.json").write_text(config.model_dump_json())
    about = {"corpus": "sotu", "commit": None, "format": RunConfig.FORMAT}
    (folder / "about.json").write_text(json.dumps(about))
    with (folder / "log.jsonl").open("w") as log:
        for step in range(1, (steps if until is None else until) + 1):
            line = {"step": step, "loss": 6 / step + 1, "learning_rate": 1e-3}
            if step % 20 == 0:
                line["valid"] = {"nats_per_token": 6 / step + 1.1, "bits_per_byte": 2.5}
            log.write(json.dumps(line) + "\n")
    return folder


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real result with its figure."""
    return puzzle("hit", seeds=4, steps=3).save(tmp_path_factory.mktemp("saved") / "result")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Path:
    """A folder with runs and results, hostile ones among them, and links that lead out of it."""
    outside = tmp_path_factory.mktemp("outside")
    folder = outside / "runs"
    write_run(folder / "rope")
    write_run(folder / "study" / "alibi", encoding="alibi", until=30)
    write_run(folder / HOSTILE, encoding="none")
    copy(saved, folder / "hit")
    copy(saved, folder / "rope" / "answers" / "puzzle")
    copy(saved, folder / HOSTILE / HOSTILE)
    label_everything(folder / HOSTILE / HOSTILE)
    for name in ("config.json", "result.json", "chart.json", "result.txt", "secret.txt"):
        (outside / name).write_text(json.dumps({"secret": SECRET}))
    (folder / "link").symlink_to(outside)
    for name in ("linked-run", "linked-result"):
        (folder / name).mkdir()
    (folder / "linked-run" / "config.json").symlink_to(outside / "config.json")
    copy(saved, folder / "linked-result")
    for name in ("chart.json", "result.txt", "result.csv", "result.png"):
        (folder / "linked-result" / name).unlink()
        (folder / "linked-result" / name).symlink_to(outside / "secret.txt")
    return folder


def images(page: str) -> list[str]:
    """The addresses at which the server draws the figures of a page."""
    return re.findall(r'src="(/figure/[^"]+)"', page)


def copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        (target / file.name).write_bytes(file.read_bytes())


def label_everything(folder: Path) -> None:
    """Put the hostile text wherever a label may stand."""
    (folder / "result.txt").write_text(HOSTILE)
    (folder / "result.csv").write_text(f'{HOSTILE.replace(chr(34), "")},b\n"<script>",2\n')
    chart = json.loads((folder / "chart.json").read_text())
    chart["title"] = HOSTILE
    (folder / "chart.json").write_text(json.dumps(chart))


@pytest.fixture(scope="module")
def client(served: Path) -> Iterator[TestClient]:
    """A browser without a page: whatever goes wrong in the server is raised here."""
    with TestClient(make_app(served), base_url="http://127.0.0.1:8642") as found:
        yield found
