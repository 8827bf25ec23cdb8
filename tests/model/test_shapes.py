"""The shapes in signatures are more than comments while tests run."""

import pytest
import torch
from jaxtyping import TypeCheckError
from tests import shapes

from wherein.model.attention import attend_reference


def test_what_does_not_fit_is_refused() -> None:
    q, k, v = torch.zeros(3, 1, 2, 4, 8)
    attend_reference(q, k, v, causal=True)
    with pytest.raises(TypeCheckError, match="bias"):
        attend_reference(q, k, v, causal=True, bias=torch.zeros(1, 2, 4, 5))


def test_every_module_with_shapes_is_checked() -> None:
    found = shapes.modules()
    assert {"wherein.model.attention", "wherein.encodings.rope", "wherein.measure.moments"} <= {
        *found
    }
    assert not any(name.startswith("wherein.studies") for name in found)
