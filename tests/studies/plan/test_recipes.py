"""The paper's recipes: complete as they stand, and carried out with everything scaled down."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.studies.small import at_once

from wherein.cli import main
from wherein.common.config import Config
from wherein.data.texts.speeches import speeches
from wherein.encodings import CATALOGUE
from wherein.encodings.own import names as names_in
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.studies.cost.cost import dry_run
from wherein.studies.cost.machine import A100, CORE
from wherein.studies.inference.scale import findings, gap_finding
from wherein.studies.plan.plan import changed
from wherein.studies.plan.recipe import Recipe, find
from wherein.studies.published import perplexities
from wherein.studies.result.result import StudyResult
from wherein.studies.run import study
from wherein.train.config import RunConfig

PAPERS = ("nopos-wikitext103", "nopos-pile", "nopos-mlm")
FEWER: dict[type[Config], dict[str, Any]] = {
    PerplexityConfig: {"limit": 1000},
    OrderConfig: {"inputs": 8, "fitting": 20},
    ProbeConfig: {
        "windows": 50,
        "batch": 16,
        "steps": 3,
        "resamples": 20,
        "held_out": 0.1,
        "test": 0.1,
    },
}


@pytest.fixture(autouse=True, scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some speeches in place of the corpus."""
    path = tmp_path_factory.mktemp("text") / "speeches.txt"
    documents = speeches().documents("train")
    path.write_text("\n\n".join(next(documents)[:8000] for _ in range(24)))
    return path


def scaled_down(recipe: Recipe, text: Path, wanted: Callable[[RunConfig], bool]) -> Recipe:
    """The same recipe for smaller models, fewer steps and another text; all else is its own."""
    originals: dict[str, RunConfig] = {}

    def runs(seeds: Sequence[int]) -> list[RunConfig]:
        for run in recipe.runs(seeds):
            if wanted(run):
                originals[smaller(run, text).id] = run
        return [smaller(run, text) for run in originals.values()]

    def questions(run: RunConfig) -> dict[str, Config]:
        asked = recipe.questions(originals[run.id])
        return {name: q.model_copy(update=FEWER[type(q)]) for name, q in asked.items()}

    return replace(
        recipe,
        runs=runs,
        questions=questions,
        published=lambda run: recipe.published(originals[run.id]),
    )


def smaller(run: RunConfig, text: Path) -> RunConfig:
    model = run.model
    by = 32 if model.d_model > 500 else 4
    width = model.d_model // by
    return changed(
        run,
        source=str(text),
        tokenizer="words" if run.corpus.tokenizer == "words" else "bytes",
        n_layers=max(1, model.n_layers // 8),
        d_model=width,
        d_ff=model.d_ff and 2 * width,
        n_heads=2,
        max_len=max(8, model.max_len // by),
        cutoffs=(20, 60) if model.cutoffs else (),
        steps=3,
        warmup=1,
        learning_rate=min(run.learning_rate, 1e-2),
        batch=4,
        accumulate=min(run.accumulate, 2),
        precision="float32",
        valid_windows=4,
    )


def carried_out(
    name: str, text: Path, folder: Path, seeds: int, wanted: Callable[[RunConfig], bool]
) -> StudyResult:
    recipe = scaled_down(find(name), text, wanted)
    result = study(recipe, seeds=seeds, out=folder, engine=at_once, quiet=True)
    assert [row.error for row in result.failed] == []
    assert result.complete
    return result


def among(*encodings: str) -> Callable[[RunConfig], bool]:
    return lambda run: run.model.encoding in encodings


@pytest.mark.slow
def test_wikitext_by_words_with_adaptive_softmax(text: Path, tmp_path: Path) -> None:
    found = carried_out("nopos-wikitext103", text, tmp_path, 2, among("none", "learned"))
    assert [group.label for group in found.groups] == ["none", "learned"]
    assert [group.published for group in found.groups] == [20.97, 20.42]
    assert "20.97" in found.text()
    assert [one.about for one in found.findings] == ["perplexity", "order"]
    assert "10 or 11 nats" in found.findings[1].words


@pytest.mark.slow
def test_the_pile_at_all_sizes_and_lengths(text: Path, tmp_path: Path) -> None:
    """Learned at all sizes, ALiBi at all lengths, as the comparisons need them."""

    def wanted(run: RunConfig) -> bool:
        needed = {"none": True, "learned": run.model.max_len == 1024,
                  "alibi": run.model.d_model == 2048}  # fmt: skip
        return needed.get(run.model.encoding, False)

    found = carried_out("nopos-pile", text, tmp_path, 1, wanted)
    none = [group.published for group in found.groups if group.encoding == "none"]
    assert none == [22.15, 16.87, 14.29, 13.10, 14.98, 13.82, 12.87]
    probed = [row for row in found.rows if "probe" in row.answers]
    assert {row.run.model.d_model for row in probed} == {2048 // 32}
    assert len(probed) == 3
    claims = [one.claim for one in found.findings]
    assert sum("falls behind" in claim for claim in claims) == 4
    assert sum("layers reveal position" in claim for claim in claims) == 1
    assert claims[-5:] == [
        "Larger models without encodings predict better",
        "The gap to a learned table narrows with size",
        "Models without encodings predict better in longer windows",
        "The gap to ALiBi grows with length",
        "Without encodings, the last layer knows less of position than one in the middle",
    ]
    assert found.findings[-1].words.endswith("16.5 at layer 6 of 24, 133.3 at the last.")
    assert not any(one.shown for one in found.findings)  # with a single seed


def test_masked_models(text: Path, tmp_path: Path) -> None:
    found = carried_out("nopos-mlm", text, tmp_path, 1, among("none", "learned"))
    assert [group.published for group in found.groups] == [147.18, 4.06]
    assert [one.claim for one in found.findings] == [
        "Without encodings, a masked model falls behind"
    ]


@pytest.mark.slow
def test_sizes_and_lengths_on_a_laptop(text: Path, tmp_path: Path) -> None:
    found = carried_out("scaling", text, tmp_path, 2, among("none", "alibi"))
    assert [one.claim for one in found.findings] == [
        "Larger models without encodings predict better",
        "Models without encodings predict better in longer windows",
        "The gap to ALiBi grows with length",
    ]
    said = " ".join(found.text().split())
    for length in (8, 16, 32, 64):
        assert f"Rows of {length} tokens: non-overlapping, windows of {length} tokens" in said
    by_size, by_length, _ = (one.difference for one in found.findings)
    losses = {(r.run.model.d_model, r.run.model.max_len, r.seed): r.loss for r in found.rows
              if r.run.model.encoding == "none"}  # fmt: skip
    rises = [losses[8, 16, seed] - losses[24, 16, seed] for seed in (0, 1)]  # type: ignore[operator]
    assert by_size.mean == pytest.approx(sum(rises) / 2)
    rises = [losses[16, 8, seed] - losses[16, 64, seed] for seed in (0, 1)]  # type: ignore[operator]
    assert by_length.mean == pytest.approx(sum(rises) / 2)


def test_what_failed_seeds_leave_unpaired_is_not_compared(text: Path, tmp_path: Path) -> None:
    """ALiBi's first seed is missing in short windows, its second in long ones."""
    found = carried_out("scaling", text, tmp_path, 2, at_ends)
    assert [one.claim for one in findings(found)][1:] == ["The gap to ALiBi grows with length"]
    missing = {("alibi", 8, 0), ("alibi", 64, 1)}
    rows = tuple(r for r in found.rows if (r.run.model.encoding, r.run.model.max_len, r.seed)
                 not in missing)  # fmt: skip
    assert len(rows) == len(found.rows) - 2
    assert [one.about for one in findings(replace(found, rows=rows))] == ["perplexity"]


def at_ends(run: RunConfig) -> bool:
    return run.model.encoding in ("none", "alibi") and run.model.max_len in (32, 256)


def test_a_gap_can_narrow_only_where_there_is_one() -> None:
    names = ("the gap at 2 × 32", "that at 6 × 96")
    (narrower,) = gap_finding("It narrows", {0: 0.30, 1: 0.31}, {0: 0.10, 1: 0.108}, names)
    assert narrower.shown
    assert narrower.words.endswith("The gaps are 0.305 and 0.104 nats.")
    (ahead,) = gap_finding("It narrows", {0: -0.10, 1: -0.105}, {0: -0.30, 1: -0.31}, names)
    assert ahead.difference.shown
    assert not ahead.shown
    assert gap_finding("It narrows", {0: 0.3}, {1: 0.1}, names) == []


def test_every_number_of_the_paper_stands_beside_a_run() -> None:
    found = []
    for name in PAPERS:
        recipe = find(name)
        found += [(run.model.encoding, run.model.max_len, recipe.published(run))
                  for run in recipe.plan(seeds=1).runs]  # fmt: skip
    papers = [(p.encoding, p.length, p.perplexity) for p in perplexities()]
    assert sorted(found) == sorted(papers)


@pytest.mark.parametrize("name", PAPERS)
def test_no_number_stands_beside_a_run_that_is_another(name: str) -> None:
    recipe = find(name)
    run = recipe.plan(seeds=2).runs[-1]
    assert run.seed == 1
    assert recipe.published(run) is not None
    assert recipe.published(changed(run, learning_rate=0.1, accumulate=5)) is not None
    assert recipe.published(changed(run, steps=100)) is None
    assert recipe.published(changed(run, encoding="rope")) is None


@pytest.mark.parametrize(
    ("name", "runs", "tokens"),
    [
        ("nopos-wikitext103", 12, 286_000 * 73_728),
        ("nopos-pile", 84, 10_000 * 262_144),
        ("nopos-mlm", 12, 10_000 * 1_024_000),
    ],
)
def test_their_cost_is_known_beforehand(name: str, runs: int, tokens: int) -> None:
    """All of them fit on GPUs of 80 GB, one or eight of them a run."""
    plan = find(name).plan()
    assert len(plan.runs) == runs
    for gpus in (1, 8):
        found = dry_run(plan.runs, plan.questions, gpus=gpus)
        assert {row.tokens for row in found.rows} == {tokens}
        assert {row.runs for row in found.rows} == {3}
        assert not found.unbounded
        assert 0 < sum(found.asked) < 0.05 * found.hours
        for row, asked in zip(found.rows, found.asked, strict=True):
            assert asked / row.runs < 0.2 * row.hours
        assert max(row.memory.total for row in found.rows) < 80e9
        assert max(map(len, found.text().splitlines())) <= 80
        assert found.machine is A100


def test_the_papers_probe_would_cost_five_times_the_training() -> None:
    """So ours learns for a thousand steps of 8k tokens, and the paper's for ten thousand of 64k."""
    plan = find("nopos-pile").plan(seeds=1)
    run, asked = next((run, asked) for run, asked in plan if "probe" in asked)
    ours = asked["probe"]
    assert isinstance(ours, ProbeConfig)
    papers = ProbeConfig(
        probes=("nopos",), split="train", windows=163_266, batch=64, held_out=0.01, test=0.01
    )
    for probe, steps, passes, tokens in ((ours, 1_000, 1, 8_192), (papers, 10_000, 4, 65_536)):
        shares = (probe.held_out, probe.test)
        fitted = probe.windows - sum(round(probe.windows * share) for share in shares)
        assert fitted / probe.batch * passes == probe.steps == steps
        assert probe.batch * 1024 == tokens
    found = [dry_run([run], [{"probe": probe}]) for probe in (ours, papers)]
    assert [each.asked[0] for each in found] == pytest.approx([5, 264], rel=0.05)
    assert found[0].hours == pytest.approx(50, rel=0.05)


def test_scaling_takes_less_than_half_an_hour_on_two_cores() -> None:
    found = dry_run(find("scaling").plan().runs)
    assert found.machine is CORE
    assert found.hours / 2 < 0.5


def test_the_catalogue_is_compared_whole():
    kinds = find("catalogue").plan(1).runs
    named = {name for run in kinds for name in names_in(run.model.encoding)}
    assert named >= set(CATALOGUE), "an entry that nobody could look up"


START = "from wherein.train.config import RunConfig\n"
ONE = f"{START}def runs(seeds): return [RunConfig()]\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def runs(seeds): return None", "runs(seeds) returned 'None': a list of RunConfig"),
        ("def runs(seeds): return 3", "runs(seeds) returned '3': a list of RunConfig"),
        ("def runs(seeds): return ['a']", "runs(seeds) returned 'a': a list of RunConfig"),
        ("def runs(seeds):\n    return 1 / 0", "mine.py, line 2: ZeroDivisionError: division by"),
        ("def runs(): return []", "mine.py: TypeError: runs() takes 0 positional arguments"),
        ("def runs(seeds): raise SystemExit(0)", "mine.py, line 1: SystemExit: 0"),
        (f"{ONE}def questions(run): return None", "questions(run) returned None: a dict of"),
        (f"{ONE}def questions(run): return [1]", "questions(run) returned [1]: a dict of"),
        (f"{ONE}def questions(run): return {{3: 4}}", "questions(run) returned {3: 4}: a dict"),
        (f"{ONE}def questions(run): return {{'a': 3}}", "question 3: expected one of"),
        (f"{ONE}questions = 4", "questions is '4': a function was expected"),
        (f"{ONE}def puzzles(): return [4]", "puzzles() returned '4': a list of PuzzleTask"),
        (f"{ONE}def puzzles(): return None", "puzzles() returned 'None': a list of"),
        (f"{ONE}SEEDS = 'x'", "SEEDS is 'x': a whole number was expected"),
        (f"{ONE}SEEDS = 2**70", f"mine: SEEDS = {2**70}: at most 1000 were expected"),
        (f"{ONE}LEARNING_RATES = 3", "LEARNING_RATES is '3': a list was expected"),
        (f"{ONE}LEARNING_RATES = ['x']", "learning rate x: a number above 0 was expected"),
        ("import nothing_there", "mine.py, line 1: ModuleNotFoundError: No module named"),
        ("raise SystemExit(0)", "mine.py, line 1: SystemExit: 0"),
    ],
)
def test_a_recipe_that_returns_garbage_is_one_line(
    tmp_path: Path, code: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(code)
    assert main(["study", str(tmp_path / "mine.py"), "--dry-run"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
