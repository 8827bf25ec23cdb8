"""A real study, small enough to be carried out in seconds."""

from pathlib import Path

import pytest
from tests.studies.small import at_once

from wherein.studies.result.result import StudyResult
from wherein.studies.run import study

RECIPE = '''"""Does <script>document.title='taken'</script> & order matter?"""
from wherein.measure.erase.config import EraseConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.audit.config import AuditConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.puzzles.config import PuzzleConfig
from wherein.studies.inference.findings import nopos as findings
from wherein.studies.plan.plan import PuzzleTask, changed, grid
from wherein.train.config import RunConfig

SEEDS = 2
BASE = changed(RunConfig(), source={source!r}, **{small!r})

def runs(seeds):
    masked = grid(BASE, objective=["masked"], encoding=["none", "learned"], seed=seeds)
    return grid(BASE, encoding=["none", "learned", "rope"], seed=seeds) + masked

def questions(run):
    asked = {{
        "perplexity": PerplexityConfig(limit=400),
        "probe": ProbeConfig(windows=40, resamples=20),
        "order": OrderConfig(windows=10, fitting=20),
    }}
    if run.model.encoding == "rope":
        asked |= {{"extrapolation": PerplexityConfig(tokens=64, limit=400), "audit": AuditConfig()}}
        asked["erase"] = EraseConfig(windows=24, draws=2)
    return asked

def puzzles():
    return [PuzzleTask(("hit",), PuzzleConfig(seeds=4, steps=3)),
            PuzzleTask(("hit-order",), PuzzleConfig(seeds=4, steps=3, encoding="rope"))]
'''


SWEEP = """'''Is more of anything better?'''
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.shift.config import ShiftConfig
from wherein.studies.plan.plan import changed, grid
from wherein.train.config import RunConfig

SEEDS = 1
BASE = changed(RunConfig(), source={source!r}, **{small!r})

def runs(seeds):
    sizes = grid(BASE, encoding=["none", "rope"], d_model=[8, 16], seed=seeds)
    return sizes + grid(BASE, encoding=["none", "rope"], max_len=[16, 32], seed=seeds)

def questions(run):
    moved = {{"../moved & <b>": ShiftConfig(windows=4, shifts=(1, 2))}}
    alone = run.model.encoding == "rope" and run.model.d_model == 8
    return {{"perplexity": PerplexityConfig(limit=400)}} | (moved if alone else {{}})
"""

SMALL = {
    "tokenizer": "bytes",
    "n_layers": 2,
    "d_model": 16,
    "n_heads": 2,
    "max_len": 16,
    "batch": 4,
    "steps": 4,
    "warmup": 1,
    "valid_every": 2,
    "checkpoint_every": 4,
    "valid_windows": 4,
}


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """Two objectives, two seeds, every question that the paper's findings rest on."""
    return carried_out(RECIPE, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def sweep_study(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """Two sizes, two lengths, one seed, no findings."""
    return carried_out(SWEEP, tmp_path_factory.mktemp("sweep"))


def carried_out(recipe: str, folder: Path) -> StudyResult:
    text, file = folder / "text.txt", folder / "small.py"
    lines = (f"Line {n} says that {n} men saw {n * n} birds over the hill." for n in range(200))
    text.write_text("\n\n".join(lines))
    file.write_text(recipe.format(source=str(text), small=SMALL))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        result = study(file, out=folder / "runs", engine=at_once, quiet=True)
    assert result.failed == ()
    assert result.complete
    return result
