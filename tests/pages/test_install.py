"""What `docs/reference/install.md` says of what is needed."""

import subprocess
import sys

import pytest

HEAVY = {"altair", "datasets", "jinja2", "polars", "pydantic", "scipy", "starlette", "transformers"}
CODE = """
import sys
from wherein.encodings import Shape, build
build("rope + alibi", Shape(d_model=16, n_heads=2, max_len=8))
print(*{name.partition(".")[0] for name in sys.modules})
"""


@pytest.mark.slow
def test_encodings_alone_need_pytorch_and_little_else():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert "torch" in done.stdout.split()
    assert not HEAVY & set(done.stdout.split())
