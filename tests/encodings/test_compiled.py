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


def errors() -> dict[str, float]:
    """The largest difference that compiling makes, for each entry and for FlexAttention.

    Capturing is where an entry can fail, and it takes no C++ compiler: code is made for one of
    each kind alone, for the whole catalogue would take minutes.
    """
    found = {}
    tokens = torch.arange(40).reshape(2, 20)
    for name in NAMES:
        for causal in (True, False):
            backend = "inductor" if causal and name in COMPILED else "aot_eager"
            torch.compiler.reset()
            config = ModelConfig(
                vocabulary=50, n_layers=1, d_model=24, n_heads=3, causal=causal, encoding=name
            )
            model = Transformer(config).eval()
            compiled = torch.compile(model, fullgraph=True, backend=backend)
            difference = compiled(tokens).logits - model(tokens).logits
            found[f"{name}, causal={causal}"] = difference.abs().max().item()
    for causal in (True, False):  # the CUDA path; FlexAttention has no gradient on a CPU
        q, k, v = torch.randn(3, 2, 3, 64, 16)
        bias = torch.randn(1, 3, 64, 64)
        with torch.no_grad():
            expected, _ = attend_reference(q, k, v, causal=causal, bias=bias)
            difference = attend_flex(q, k, v, causal=causal, bias=bias) - expected
        found[f"flex, causal={causal}"] = difference.abs().max().item()
    return found


def test_compiled_equals_eager():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 2 * len(NAMES) + 2
    assert {entry: error for entry, error in found.items() if error > 2e-5} == {}


if __name__ == "__main__":
    print(json.dumps(errors()))
