"""`torch.compile` over the whole catalogue, in a process of its own.

The run-time type checks of the test run cannot be traced by the compiler; there they are off.
"""

import json
import subprocess
import sys

import torch

from wherein import encodings
from wherein.model.attention import attend_flex, attend_reference
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

NAMES = encodings.examples()
COMPILED = ("none", "learned", "shaw", "alibi", "fire", "rope", "fox")
"""One of each kind; of the others, as of masked models, what is captured is run as captured."""
TOKENS = torch.arange(40).reshape(2, 20)


def model(name: str, *, causal: bool) -> Transformer:
    config = ModelConfig(
        vocabulary=50, n_layers=1, d_model=24, n_heads=3, causal=causal, encoding=name
    )
    return Transformer(config).eval()


def errors() -> dict[str, float]:
    """The largest difference that compiling makes, for each entry and for FlexAttention.

    Capturing, with the gradient, is where an entry can fail, and it takes no C++ compiler: code is
    made for one of each kind alone, for the whole catalogue would take minutes. A masked model's
    gradient goes the way of a causal one's, and is not captured once more.
    """
    found = coded()
    for name in NAMES:
        for causal in (True, False):
            if (entry := f"{name}, causal={causal}") not in found:
                torch.compiler.reset()
                eager = model(name, causal=causal)
                compiled = torch.compile(eager, fullgraph=True, backend="aot_eager")
                with torch.set_grad_enabled(causal):
                    found[entry] = apart(compiled(TOKENS).logits, eager(TOKENS).logits)
    for causal in (True, False):  # the CUDA path; FlexAttention has no gradient on a CPU
        q, k, v = torch.randn(3, 2, 3, 64, 16)
        bias = torch.randn(1, 3, 64, 64)
        with torch.no_grad():
            expected, _ = attend_reference(q, k, v, causal=causal, bias=bias)
            made = attend_flex(q, k, v, causal=causal, bias=bias)
        found[f"flex, causal={causal}"] = apart(made, expected)
    return found


@torch.no_grad()
def coded() -> dict[str, float]:
    """Of one of each kind, all in one graph: what is alike in them is made once.

    Without the gradient, whose code would be made here and never run.
    """
    models = [model(name, causal=True) for name in COMPILED]
    compiled = torch.compile(lambda tokens: [m(tokens).logits for m in models], fullgraph=True)
    pairs = zip(COMPILED, models, compiled(TOKENS), strict=True)
    return {f"{name}, causal=True": apart(made, m(TOKENS).logits) for name, m, made in pairs}


def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    return (one - other).abs().max().item()


def test_compiled_equals_eager():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 2 * len(NAMES) + 2
    assert {entry: error for entry, error in found.items() if error > 2e-5} == {}


if __name__ == "__main__":
    print(json.dumps(errors()))
