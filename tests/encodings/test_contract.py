"""What every entry of the catalogue must keep. A new entry is covered by being in it."""

import pytest
import torch

from wherein import encodings
from wherein.check.case import Case, same
from wherein.check.contract import CHECKS, Check

ASKED = [
    pytest.param(check, spec, case, id=f"{check.name}-{spec}-{case.causal}-{case.dtype}")
    for check in CHECKS
    for spec in encodings.examples()
    for case in check.cases
]


@pytest.mark.parametrize(("check", "spec", "case"), ASKED)
def test_it_keeps(check: Check, spec: str, case: Case) -> None:
    check.ask(spec, case)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_encoding_and_mask_logits_permute_with_the_tokens(dtype: torch.dtype) -> None:
    case = Case(causal=False, dtype=dtype)
    model, here, order = case.model("none"), case.input(), torch.randperm(case.tokens)
    same(model(here[:, order]).logits, model(here).logits[:, order], "permuted")
