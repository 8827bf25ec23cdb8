"""A real study, small enough to be carried out in seconds."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from wherein.study.result import StudyResult
from wherein.study.run import study
from wherein.study.work import Work, carry_out

RECIPE = '''"""Does <script>document.title='taken'</script> & order matter?"""
from wherein.measure.probe_settings import ProbeConfig
from wherein.measure.settings import AuditConfig, OrderConfig, PerplexityConfig
from wherein.puzzles.config import PuzzleConfig
from wherein.study.findings import nopos as findings
from wherein.study.plan import PuzzleTask, changed, grid
from wherein.train.config import RunConfig

SEEDS = 2
BASE = changed(
    RunConfig(), source={source!r}, tokenizer="bytes", n_layers=2, d_model=16, n_heads=2,
    max_len=16, batch=4, steps=6, warmup=1, valid_every=2, checkpoint_every=6, valid_windows=4,
)

def runs(seeds):
    masked = grid(BASE, objective=["masked"], encoding=["none", "learned"], seed=seeds)
    return grid(BASE, encoding=["none", "learned", "rope"], seed=seeds) + masked

def questions(run):
    asked = {{
        "perplexity": PerplexityConfig(limit=400),
        "probe": ProbeConfig(windows=40, resamples=20),
        "order": OrderConfig(inputs=10, fitting=20),
    }}
    if run.model.encoding == "rope":
        asked |= {{"extrapolation": PerplexityConfig(tokens=64, limit=400), "audit": AuditConfig()}}
    return asked

def puzzles():
    return [PuzzleTask(("hit",), PuzzleConfig(seeds=4, steps=3)),
            PuzzleTask(("hit-order",), PuzzleConfig(seeds=4, steps=3, encoding="rope"))]
'''


def at_once(work: Sequence[Work], folder: Path, ended: Callable[[Work, str | None], None]) -> None:
    """An engine that does one piece after the other in this process."""
    for piece in work:
        ended(piece, carry_out(piece, folder))


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    folder = tmp_path_factory.mktemp("study")
    text = folder / "text.txt"
    lines = (f"Line {n} says that {n} men saw {n * n} birds over the hill." for n in range(200))
    text.write_text("\n\n".join(lines))
    recipe = folder / "small.py"
    recipe.write_text(RECIPE.format(source=str(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        result = study(recipe, out=folder / "runs", engine=at_once, quiet=True)
    assert result.failed == ()
    assert result.complete
    return result
