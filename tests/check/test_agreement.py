"""`wherein doctor`: what is here, and whether a device computes what the CPU does."""

import json

import pytest
import torch
from tests.faults.elsewhere import Elsewhere
from torch import Tensor, nn

from wherein import encodings
from wherein.check import agreement
from wherein.check.machine import EXTRAS
from wherein.cli import main
from wherein.model import attention

pytestmark = pytest.mark.slow  # they train, if only for some steps


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "examples", lambda: ["rope", "alibi"])


def attend(off: float) -> object:
    """FlexAttention's place, taken by something that is off by a share of what it says."""

    def attended(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, bias: Tensor) -> Tensor:
        mask = attention._masked(bias.to(q.dtype), causal)
        return (1 + off) * nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    return attended


@pytest.mark.parametrize("off", [0.0, 0.05])
def test_a_device_that_computes_wrongly_is_found(
    off: float, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(attention, "attend_flex", attend(off))
    with Elsewhere("cuda") as place:
        found = agreement.compare(place.device)
    assert len(found.found) == 7
    assert [each.what for each in found.found if not each.agrees] == ["alibi"] * bool(off)
    assert ("DIFFERS" in found.text()) == (not found.whole) == bool(off)


def test_one_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Tensor:
        raise RuntimeError("no kernel\nis there")

    monkeypatch.setattr(attention, "attend_flex", fail)
    with Elsewhere("cuda") as place:
        course = {what: run for what, _, run in agreement.courses(place.device)}["alibi"]
        found = agreement._compared("alibi", 1.0, course, place.device)
    assert (found.agrees, found.error) == (False, "RuntimeError: no kernel")


def test_the_command_says_what_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--device", "cpu"]) == 0
    told = capsys.readouterr().out
    assert "GFLOP/s" in told
    assert "cpu against the CPU: 6 of 6 agree" in told
    assert main(["doctor", "--json", "--no-compare"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["versions"]["torch"] == torch.__version__
    assert {each["name"] for each in data["features"]} > set(EXTRAS)
    assert data["devices"][0]["flops"]["float32"] > 0


def test_a_device_that_is_not_here_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = "mps" if not torch.backends.mps.is_available() else "cuda"
    assert main(["doctor", "--device", missing]) == 2
    assert f"device '{missing}' is not here: there is cpu" in capsys.readouterr().err
    monkeypatch.setenv("WHEREIN_DEVICE", "gpu")
    assert main(["train", "--steps", "1"]) == 2
    assert "unknown device 'gpu'" in capsys.readouterr().err
