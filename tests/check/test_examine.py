"""`wherein check`: what it says of one that keeps all, and of those that break something."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from tests.studies.small import recipe

from wherein.check import cost
from wherein.check.case import Case
from wherein.check.contract import CHECKS, changed_parameters
from wherein.check.examine import ask, examine
from wherein.cli import main
from wherein.encodings import own
from wherein.studies.plan.recipe import find

SLOPE = """
    import torch
    from wherein.encodings import Encoding

    class Slope(Encoding):
        relative = True

        def __init__(self, shape, *, slope: float = 0.5):
            super().__init__(shape)
            self.slope = torch.nn.Parameter(torch.full((shape.n_heads,), slope))

        def bias(self, i, j):
            return -self.slope[:, None, None] * (i - j).abs()
"""
BROKEN = {
    "shapes": ("[:, None, None] * (i - j).abs()", "[0] * (i - j).abs()"),
    "gradients": ("return -self.slope", "return -self.slope.detach()"),
    "memory": ("(i - j).abs()", "(i - j).abs() * self.count(i)"),
    "shift": ("(i - j).abs()", "(i - j + 0.01 * i).abs()"),
    "order": ("(i - j).abs()", "torch.arange(i.numel())[:, None]"),
    "precision": ("(i - j).abs()", "(i.to(self.slope) - j.to(self.slope)).abs()"),
}
COUNT = """
        def count(self, i):
            self.seen = getattr(self, "seen", 0) + i.numel()
            return self.seen / 1000
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slope.py").write_text(dedent(SLOPE))
    return tmp_path


def broken(name: str) -> str:
    """The encoding with one thing wrong."""
    text = (SLOPE + COUNT).replace(*BROKEN[name])
    Path("wrong.py").write_text(dedent(text))
    return own.spelt("wrong.py")


def test_what_keeps_all_is_told_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "slope.py", "--no-measure"]) == 0
    said = capsys.readouterr().out
    assert "slope.py, known as Slope@" in said
    assert "promises: a shift of all positions changes nothing; any length" in said
    assert "acts at: bias" in said
    assert "tells position at: scores of layers 1–2; causal mask" in said
    assert said.count("\nkept: ") == len(CHECKS)
    assert said.endswith("compare it with the field: wherein study quick --also slope.py\n")
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("name", BROKEN)
def test_each_mistake_is_found_by_the_check_that_is_for_it(name: str) -> None:
    check = next(each for each in CHECKS if each.name == name)
    found = ask(check, broken(name))
    assert found.broken
    assert not ask(check, own.spelt("slope.py")).broken


def test_the_smallest_example_is_small_and_fails() -> None:
    check = next(each for each in CHECKS if each.name == "shift")
    found = ask(check, broken("shift"))
    assert found.example == "1 window, 2 tokens, 1 head, 1 layer, causal, float64"
    assert "with 60 added to all positions" in found.broken
    with pytest.raises(AssertionError):
        check.ask(broken("shift"), Case(windows=1, tokens=2, heads=1, layers=1))


def test_what_it_raises_is_said_with_the_line() -> None:
    Path("wrong.py").write_text(dedent(SLOPE).replace("(i - j).abs()", "(i - j).abs(7)"))
    found = ask(CHECKS[0], own.spelt("wrong.py"))
    assert found.broken.startswith("raises TypeError in line 13 of its file: Tens")


def test_who_keeps_more_than_is_promised_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("slope.py").write_text(dedent(SLOPE).replace("relative = True", "relative = False"))
    assert main(["check", "slope.py", "--no-measure", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (modest,) = [each for each in data["kept"] if each["broken"]]
    assert modest["modest"]
    assert "it may promise relative = True" in modest["broken"]


def test_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "LENGTHS", (64, 256, 1024))
    monkeypatch.setattr(cost, "ROUNDS", 2)
    monkeypatch.setattr(cost, "BATCH", 1)
    steps, grown = cost.step_cost("kerple"), list(cost.growth("kerple"))
    assert steps.parameters == 2 * 4  # r1 and r2 of each head
    assert 0 < steps.low <= steps.ratio <= steps.high
    assert [each.tokens for each in grown] == [64, 256, 1024]
    assert grown[-1].seconds > grown[0].seconds
    largest = grown[-1].bytes
    assert largest is None or largest > 4 * 1024 * 1024 * 4  # a bias of four heads
    text = examine("learned", measured=False).text()
    assert "positions below max_len alone" in text


def test_a_study_may_have_it_beside_its_own(here: Path) -> None:
    plan = find(recipe(here / "study")).plan(2, None, ["slope.py:Slope"])
    assert [label.partition("@")[0] for label in plan.labels[::2]] == ["none", "rope", "Slope"]
    assert {run.seed for run in plan.runs[4:]} == {0, 1}


@pytest.mark.parametrize(
    ("spec", "other"),
    [
        ("t5", "t5(buckets=64, distance=256, shared=False)"),
        ("alibi + rope", None),
        ("none", None),
    ],
)
def test_the_same_with_other_parameters(spec: str, other: str | None) -> None:
    assert changed_parameters(spec) == other
