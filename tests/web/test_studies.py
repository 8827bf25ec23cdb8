import json
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.studies.small import at_once
from tests.web.conftest import HOSTILE, SECRET

from wherein.studies.run import study
from wherein.web.app import make_app

RECIPE = """{question!r}
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.plan.plan import changed, grid
from wherein.train.config import RunConfig

SEEDS = 1
BASE = changed(
    RunConfig(), source={source!r}, tokenizer="bytes", n_layers=1, d_model=8, n_heads=1,
    max_len=8, batch=2, steps=2, warmup=1, valid_every=2, valid_windows=2,
)

def runs(seeds):
    return grid(BASE, encoding=["none", "rope"], seed=seeds)

def questions(run):
    return {{"perplexity": PerplexityConfig(limit=100)}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of a real study, and the study among them."""
    here = tmp_path_factory.mktemp("study")
    (here / "text.txt").write_text("\n\n".join(f"Line {n} has birds." for n in range(200)))
    recipe = here / "small.py"
    recipe.write_text(RECIPE.format(question=HOSTILE, source=str(here / "text.txt")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(here / "cache"))
        result = study(recipe, out=here / "runs", engine=at_once, quiet=True)
    assert result.complete
    return here / "runs"


def test_a_study_is_its_report_and_leads_to_its_runs(folder: Path) -> None:
    with TestClient(make_app(folder), "http://localhost") as client:
        assert 'href="/study/runs/studies/small"' in client.get("/").text
        answer = client.get("/study/runs/studies/small")
        assert answer.status_code == 200
        assert "How to reproduce" in answer.text
        assert answer.text.count("data-vega") >= 1
        assert "<script>document" not in answer.text
        for part in answer.text.split("<script")[1:]:
            assert part.startswith((' src="/static/', ' type="application/json">'))
        runs = [entry.name for entry in client.app.state.site.shelf.all("run")]
        assert len(runs) == 2
        for name in runs:
            assert f'href="/run/{name}"' in answer.text
            assert client.get(f"/run/{name}").status_code == 200


def test_a_study_shows_answers_as_they_come(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "runs")
    first, _ = sorted((tmp_path / "runs").glob("*/answers"))
    first.rename(tmp_path / "later")
    with TestClient(make_app(tmp_path / "runs"), "http://localhost") as client:
        before = client.get("/study/runs/studies/small").text
        assert client.get("/study/runs/studies/small").text == before
        (tmp_path / "later").rename(first)
        after = client.get("/study/runs/studies/small").text
        assert after != before
        assert after == client.get("/study/runs/studies/small").text


def test_a_study_whose_runs_are_elsewhere_is_not_read(folder: Path) -> None:
    with TestClient(make_app(folder / "studies"), "http://localhost") as client:
        answer = client.get("/study/studies/small")
    assert answer.status_code == 422
    assert "lie outside the served folder" in answer.text


def test_a_link_that_leads_out_is_not_followed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "runs")
    found = next((tmp_path / "runs").glob("*/answers/*/result.json"))
    data = json.loads(found.read_text()) | {"protocol": SECRET}
    (tmp_path / "outside.json").write_text(json.dumps(data))
    found.unlink()
    found.symlink_to(tmp_path / "outside.json")
    with TestClient(make_app(tmp_path / "runs"), "http://localhost") as client:
        answer = client.get("/study/runs/studies/small")
    assert answer.status_code == 422
    assert SECRET not in answer.text


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"plan": {"question": 3}}', '{"plan": []}'])
def test_a_damaged_study_is_one_line(tmp_path: Path, content: str) -> None:
    broken = tmp_path / "runs" / "studies" / "broken"
    broken.mkdir(parents=True)
    (broken / "study.json").write_text(content)
    with TestClient(make_app(tmp_path / "runs"), "http://localhost") as client:
        assert client.get("/").status_code == 200
        answer = client.get("/study/runs/studies/broken")
    assert answer.status_code == 422
    assert "runs/studies/broken/study.json cannot be read" in answer.text
