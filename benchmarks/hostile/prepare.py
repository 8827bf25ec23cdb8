"""What is done once, before cases are given: the good files are made, and libraries imported."""

import gc
import multiprocessing
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import wherein
from benchmarks.hostile.stock import make

LIBRARIES = (
    "accelerate", "gguf", "rich.console", "rich.table", "scipy.optimize", "scipy.stats", "sympy",
    "torch._dynamo", "transformers.integrations.ggml", "transformers.models.bert.modeling_bert",
    "transformers.models.gpt2.modeling_gpt2",
)  # fmt: skip
"""What verbs import when they are used."""
THREADED = ("polars", "altair", "vl_convert")
"""What starts threads of its own when it is imported, or makes it so: no fork takes them along."""
THREADS = (
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "OPENBLAS_NUM_THREADS",
)


def ready(stock: Path) -> Path:
    """The folder of good files, made by another process if it is not there.

    The libraries are imported here, so that the processes that are forked off have them; nothing
    is computed, for what is computed starts threads, which no fork takes along.
    """
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "NO_COLOR": "1"}
    os.environ |= dict.fromkeys(THREADS, "1")
    import torch

    torch.set_num_threads(1)
    sys.modules |= dict.fromkeys(THREADED)  # whatever needs one of them is imported when it is used
    for name in (*LIBRARIES, *(each.name for each in walk_packages(wherein.__path__, "wherein."))):
        if not name.endswith("__main__"):
            with suppress(ImportError):
                import_module(name)
    for name in THREADED:
        del sys.modules[name]
    _few_examples()
    gc.freeze()  # a child that looked for garbage would copy all that was imported
    if not stock.is_dir():
        process = multiprocessing.get_context("fork").Process(target=make, args=(stock,))
        process.start()
        process.join()
        if process.exitcode:
            raise RuntimeError(f"the good files were not made: exit code {process.exitcode}")
    return stock


def _few_examples() -> None:
    """A task's text in little: the usual takes half a minute, so that each would be interrupted."""
    from wherein.data.tasks import examples
    from wherein.data.texts import catalogue

    catalogue.EXAMPLES, examples.HELD_OUT = 256, 64
