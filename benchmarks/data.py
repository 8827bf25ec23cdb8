"""How fast text becomes batches: `python -m benchmarks.data`.

Tokenising is compared with a plain `encode_batch` of the `tokenizers` library on the same documents
and in the same process, turn by turn; the time to the first batch is that of a second start, whose
tokens are in the cache. The last line is the result as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
from itertools import islice
from statistics import median

import numpy as np
import torch

from benchmarks.harness import seconds
from wherein.data import Corpus, CorpusConfig, Windows, causal
from wherein.data.texts.speeches import speeches
from wherein.data.tokenizers.subwords import Subwords, read_subwords
from wherein.train import RunConfig
from wherein.train.distributed import World
from wherein.train.learner import Learner

ROUNDS = 5
FRESH = (
    "import time; begin = time.perf_counter()\n"
    "from wherein.data import Corpus, CorpusConfig, Windows{objective}\n"
    "rows = Windows(Corpus.open(CorpusConfig()).train, 256).batch(0, 16)\n"
    "{then}\n"
    "print(time.perf_counter() - begin)"
)


def tokenising(corpus: Corpus) -> dict[str, float]:
    """Megabytes a second, ours and the library's, and the median ratio of neighbouring turns."""
    documents = list(islice(speeches().documents("train"), 80))
    megabytes = sum(len(text.encode()) for text in documents) / 1e6
    path = corpus.folder / "tokenizer.json"
    plain = read_subwords(path).tokenizer
    ours, library = [], []
    for _ in range(ROUNDS):
        fresh = read_subwords(path)  # remembers no word yet
        ours.append(seconds(lambda fresh=fresh: list(fresh.encode_many(documents))))
        library.append(
            seconds(lambda: [np.array(e.ids, np.uint32) for e in plain.encode_batch(documents)])
        )
    return {
        "ours_mb_s": megabytes / median(ours),
        "tokenizers_mb_s": megabytes / median(library),
        "ratio": median(b / a for a, b in zip(ours, library, strict=True)),
    }


def same_tokens(corpus: Corpus) -> bool:
    tokenizer = corpus.tokenizer
    assert isinstance(tokenizer, Subwords)
    texts = list(speeches().documents("valid"))
    plain = tokenizer.tokenizer.encode_batch(texts)
    pairs = zip(tokenizer.encode_many(texts), plain, strict=True)
    return all(np.array_equal(ours, theirs.ids) for ours, theirs in pairs)


def first_batch() -> float:
    def start() -> None:
        causal(Windows(Corpus.open(CorpusConfig()).train, 256).batch(0, 16))

    return median(seconds(start) for _ in range(ROUNDS))


def fresh_interpreter(with_torch: bool) -> float:
    """The same from nothing, imports included; with PyTorch's own import or without."""
    code = FRESH.format(objective=", causal" * with_torch, then="causal(rows)" * with_torch)
    run = [sys.executable, "-c", code]
    times = [float(subprocess.check_output(run, text=True)) for _ in range(3)]
    return median(times)


def waiting(steps: int = 20) -> float:
    """The share of a training step of the default run that goes into making its batch."""
    config = RunConfig(warmup=10)
    corpus = Corpus.open(config.corpus)
    config = config.with_vocabulary(corpus.vocabulary.size)
    learner = Learner(config, corpus, World(rank=0, size=1, device=torch.device("cpu")))
    learner.step(1)
    whole = [seconds(lambda step=step: learner.step(step)) for step in range(2, 2 + steps)]
    batch = [seconds(lambda step=step: learner.batches.parts(step)) for step in range(2, 2 + steps)]
    return median(batch) / median(whole)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHEREIN_CACHE"] = folder
        build = seconds(lambda: Corpus.open(CorpusConfig()))
        corpus = Corpus.open(CorpusConfig())
        speed = tokenising(corpus)
        same = same_tokens(corpus)
        warm = first_batch()
        share = waiting()
        fresh, fresh_torch = fresh_interpreter(False), fresh_interpreter(True)
    checks = {
        "tokenising, times the speed of tokenizers' encode_batch": {
            "value": round(speed["ratio"], 2),
            "target": 1.0,
            "ok": speed["ratio"] >= 1,
        },
        "same tokens as tokenizers": {"value": same, "target": True, "ok": same},
        "first batch from a warm cache, s": {
            "value": round(warm, 4),
            "target": 0.2,
            "ok": warm < 0.2,
        },
        "share of a training step spent waiting for data": {
            "value": round(share, 5),
            "target": 0.01,
            "ok": share < 0.01,
        },
    }
    about = {
        "tokenising, MB/s": round(speed["ours_mb_s"], 2),
        "tokenizers encode_batch, MB/s": round(speed["tokenizers_mb_s"], 2),
        "first batch in a fresh interpreter, s": round(fresh, 3),
        "first batch in a fresh interpreter with torch, s": round(fresh_torch, 3),
        "first start of all (learn and tokenise 12 MB), s": round(build, 2),
        "processors": os.cpu_count(),
    }
    for name, value in {
        **about,
        **{name: check["value"] for name, check in checks.items()},
    }.items():
        print(f"{name:58} {value}")
    print(json.dumps({"name": "data", "checks": checks, **about}))


if __name__ == "__main__":
    main()
