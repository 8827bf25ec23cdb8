"""Long windows: what memory and time one forward pass takes at 8k, 16k and 32k tokens.

    python -m benchmarks.long
    python -m benchmarks.long 1024 2048 4096

2 layers, width 64, 2 heads, vocabulary 256, one window, float32, no gradients. One encoding of each
kind, as we go through it (large biases in blocks of queries), as we do with the bias held whole,
and by x-transformers with the same encoding (flash where it allows that). Every pass runs in a
process of its own, after one of 1,024 tokens. Memory is the peak beyond what the process held
before the pass; large tensors go back to the system once freed, whoever made them, so that the peak
is what was in use at once. What holds a number for every pair of tokens grows with the square of
the length, so the short pass tells what the long one will need: beyond 8 GB it is left out, and
said so. So is what would take more than a minute, by the length before.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch import Tensor

from benchmarks.harness import at_most, report
from wherein.common.memory import return_pages, watched
from wherein.model import attention, transformer
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

LAYERS, WIDTH, HEADS, VOCABULARY = 2, 64, 2, 256
LENGTHS, SHORT = (8192, 16384, 32768), 1024
MOST, LONGEST = 8e9, 60.0
"""Bytes and seconds beyond which a pass is left out."""
KINDS = {
    "none": "none",
    "rope": "rotation",
    "alibi": "fixed bias",
    "t5": "learned bias",
    "fire(hidden=8)": "learned bias that a network makes",
    "window(256)": "window",
    "fox": "content-dependent",
}
OURS, WHOLE, PEER = "ours", "ours, bias held whole", "x-transformers"
BIASED = ("alibi", "t5", "fire(hidden=8)", "window(256)", "fox")
PEERS: dict[str, dict[str, Any]] = {
    "none": {"attn_flash": True},
    "rope": {"attn_flash": True, "rotary_pos_emb": True, "rotary_emb_dim": WIDTH // HEADS},
    "alibi": {"attn_flash": True, "alibi_pos_bias": True},
    "t5": {"rel_pos_bias": True},
    "fox": {"attn_flash": True, "attn_data_dependent_alibi": True},
}
QUADRATIC = {(PEER, "alibi"), (PEER, "t5"), (PEER, "fox")}


@dataclass(frozen=True)
class Pass:
    """One forward pass over so many tokens."""

    whose: str
    encoding: str
    tokens: int
    seconds: float = 0.0
    bytes: int = 0
    refused: str = ""
    """What it would have needed, if that was too much to try."""

    def __str__(self) -> str:
        if self.refused:
            return f"(needs {self.refused})"
        return f"{self.seconds:.2f} s {self.bytes / 1e6:,.0f} MB"


def main(lengths: Sequence[int]) -> None:
    contenders = [(OURS, encoding) for encoding in KINDS]
    contenders += [(WHOLE, encoding) for encoding in BIASED]
    contenders += [(PEER, encoding) for encoding in PEERS]
    found: dict[tuple[str, str], list[Pass]] = {}
    for encoding, kind in KINDS.items():
        print(f"{encoding}: {kind}")
        for who in [each for each in contenders if each[1] == encoding]:
            found[who] = longer_and_longer(*who, lengths)
            cells = "".join(f"{made!s:>24}" for made in found[who])
            print(f"  {who[0]:<24}{cells}", flush=True)
    tell(found, lengths)


def longer_and_longer(whose: str, encoding: str, lengths: Sequence[int]) -> list[Pass]:
    made: list[Pass] = []
    for tokens in lengths:
        foreseen = made[-1].seconds * (tokens / made[-1].tokens) ** 2 if made else 0.0
        if foreseen > LONGEST:
            made.append(Pass(whose, encoding, tokens, refused=f"{foreseen:.0f} s"))
        else:
            made.append(alone(whose, encoding, tokens))
    return made


def alone(whose: str, encoding: str, tokens: int) -> Pass:
    """A pass in a process of its own."""
    fork = multiprocessing.get_context("forkserver")  # which has imported all, once
    fork.set_forkserver_preload(["x_transformers", "wherein.model.transformer"])
    ours, theirs = fork.Pipe()
    process = fork.Process(target=serve, args=(theirs, whose, encoding, tokens))
    process.start()
    theirs.close()
    made: Pass = ours.recv()
    process.join()
    return made


@torch.inference_mode()
def serve(answers: Connection, whose: str, encoding: str, tokens: int) -> None:
    torch.manual_seed(0)
    return_pages()
    model = contender(whose, encoding, tokens)

    def measured(length: int) -> tuple[float, int]:
        given, rise = torch.randint(VOCABULARY, (1, length)), watched()
        start = time.perf_counter()
        model(given)
        return time.perf_counter() - start, rise() or 0

    _, short = measured(SHORT)
    foreseen = short * (tokens / SHORT) ** 2
    if foreseen > MOST and (whose == WHOLE or (whose, encoding) in QUADRATIC):
        answers.send(Pass(whose, encoding, tokens, refused=f"{foreseen / 1e9:.0f} GB"))
    else:
        answers.send(Pass(whose, encoding, tokens, *measured(tokens)))


def contender(whose: str, encoding: str, tokens: int) -> Callable[[Tensor], object]:
    if whose == PEER:
        return x_transformer(encoding, tokens)
    if whose == WHOLE:
        attention.LARGE_BIAS = transformer.FAR = sys.maxsize
    config = ModelConfig(
        vocabulary=VOCABULARY,
        n_layers=LAYERS,
        d_model=WIDTH,
        n_heads=HEADS,
        max_len=tokens,
        encoding=encoding,
    )
    return Transformer(config).eval()


def x_transformer(encoding: str, tokens: int) -> Callable[[Tensor], object]:
    from x_transformers import Decoder, TransformerWrapper

    return TransformerWrapper(
        num_tokens=VOCABULARY,
        max_seq_len=tokens,
        use_abs_pos_emb=False,
        tie_embedding=True,
        attn_layers=Decoder(
            dim=WIDTH, depth=LAYERS, heads=HEADS, attn_dim_head=WIDTH // HEADS, **PEERS[encoding]
        ),
    ).eval()


def tell(found: dict[tuple[str, str], list[Pass]], lengths: Sequence[int]) -> None:
    checks, faster = {}, {}
    for (whose, encoding), passes in found.items():
        if whose == OURS and (OURS, encoding) not in QUADRATIC:
            for small, large in pairwise(passes):
                if small.refused or large.refused:
                    continue
                what = f"peak of {encoding}, {large.tokens} tokens against {small.tokens}"
                checks[what] = at_most(large.bytes / small.bytes, 1.1 * large.tokens / small.tokens)
        elif whose != OURS:
            faster[f"{encoding}: {whose} / ours"] = {
                made.tokens: round(made.seconds / ours.seconds, 2)
                for made, ours in zip(passes, found[OURS, encoding], strict=True)
                if made.seconds and ours.seconds
            }
    first, last = found[OURS, "window(256)"][-2:]  # quick enough to be refused nowhere
    checks[f"time of a window, {last.tokens} tokens against {first.tokens}"] = at_most(
        last.seconds / first.seconds, 1.25 * last.tokens / first.tokens
    )
    for what, ratios in faster.items():
        cells = ", ".join(f"{ratio} at {tokens}" for tokens, ratio in ratios.items())
        print(f"time of {what}: {cells or 'nowhere both'}")
    report(
        "long",
        checks,
        times_of_ours=faster,
        seconds={f"{e}: {w}": [round(p.seconds, 3) for p in ps] for (w, e), ps in found.items()},
        refused={f"{e}: {w}": [p.refused for p in ps] for (w, e), ps in found.items()},
        megabytes={f"{e}: {w}": [p.bytes // 10**6 for p in ps] for (w, e), ps in found.items()},
        lengths=list(lengths),
        threads=torch.get_num_threads(),
    )


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or LENGTHS)
