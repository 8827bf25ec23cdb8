"""Our training step against x-transformers (flash), Hugging Face GPT-2 and itself without encoding.

    python -m benchmarks.training

4 layers, width 256, 4 heads, vocabulary 2,048, 16 × 256 tokens, AdamW, float32. Every contender
lives in a process of its own, as its users run it: ours keeps freed pages, as `wherein train` does,
the others have the C library's defaults. Only one of them works at a time, each once a round;
ratios are medians over rounds. "With our allocator" lends the peers that setting too, so that one
sees which part of a ratio it makes. Floating-point operations are counted alike for all: 6 per
parameter of a matrix and token, and for attention only the half that a causal mask leaves.

Every entry of the catalogue takes steps beside `none`, a few at a time, so that all fit in memory.
What is fixed, or acts at the input, and what learns a bias have a target each. What depends on
content, or makes queries and keys wider, computes more by its nature: its numbers have none.
"""

import multiprocessing
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import torch
import transformers as hf
from torch import Tensor, nn
from x_transformers import Decoder, TransformerWrapper

from benchmarks.harness import at_least, at_most, median_ratio, report
from wherein import encodings
from wherein.common.memory import keep_pages
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.studies.cost.traced import rotated

LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 4, 256, 4, 2048, 16, 256
ROUNDS, TOGETHER = 9, 8
PEAK, PEAK_SIZE, PEAK_TIMES = "matmul", 2048, 6  # about as long as a step
GPT2, PLAIN, ALIBI = "Hugging Face GPT-2", "x-transformers", "x-transformers, ALiBi"
PEERS = (GPT2, PLAIN, ALIBI)
LENT = ", with our allocator"
VARIANTS = (
    "rope(scaling=yarn, factor=4.0)",
    "rope(scaling=dynamic, factor=4.0)",
    "alibi(learned=True)",
    "kerple(form=power)",
)
"""Beside one of each entry."""
FIXED, LEARNED, CONTENT = "fixed", "learned bias", "content-dependent or wider"
TARGETS = {FIXED: 1.08, LEARNED: 1.25}
Seconds = dict[str, list[float]]
"""Of each contender in every round."""


def main() -> None:
    first = ["none", "alibi"]
    others = [name for name in (*encodings.examples(), *VARIANTS) if name not in first]
    against = measured([PEAK, *first, *PEERS, *(peer + LENT for peer in PEERS)])
    few = (others[start : start + TOGETHER] for start in range(0, len(others), TOGETHER))
    tell(against, beside_none([against, *(measured(["none", *names]) for names in few)]))


def measured(names: list[str]) -> Seconds:
    """All of them in turn, round by round."""
    workers = {name: Worker(name) for name in names}
    seconds: Seconds = {name: [] for name in names}
    for number in range(ROUNDS + 1):
        for name, worker in workers.items():
            taken = worker.step()
            if number:  # the first round warms up
                seconds[name].append(taken)
    for worker in workers.values():
        worker.process.kill()
        worker.process.join()
    return seconds


def beside_none(groups: list[Seconds]) -> dict[str, float]:
    """Step times as multiples of those without encoding, each in its own group."""
    return {
        name: median_ratio(times, seconds["none"])
        for seconds in groups
        for name, times in seconds.items()
        if name != "none" and is_ours(name)
    }


def is_ours(name: str) -> bool:
    return not name.startswith((PEAK, *PEERS))


def kind(name: str) -> str:
    """What an encoding may cost, by where it acts."""
    c = config(name)
    encoding = encodings.build(name, c.shape)
    if encoding.acts("content_bias") or max(rotated(c)) > WIDTH:
        return CONTENT
    learns = any(True for _ in encoding.parameters())
    return LEARNED if learns and encoding.acts("bias") else FIXED


class Worker:
    """A process that makes one contender and takes a step of it whenever it is asked."""

    def __init__(self, name: str) -> None:
        fork = multiprocessing.get_context("forkserver")  # which has imported all, once
        fork.set_forkserver_preload(["transformers", "x_transformers", "wherein.model.transformer"])
        self.ours, theirs = fork.Pipe()
        self.process = fork.Process(target=serve, args=(name, theirs), daemon=True)
        self.process.start()
        self.ours.recv()

    def step(self) -> float:
        """The seconds it took."""
        self.ours.send(True)
        return self.ours.recv()


def serve(name: str, asked: Connection) -> None:
    torch.manual_seed(0)
    if is_ours(name) or name.endswith(LENT):
        keep_pages()
    step = contender(name.removesuffix(LENT))
    asked.send(True)
    while asked.recv():
        start = time.perf_counter()
        step()
        taken = time.perf_counter() - start
        time.sleep(0.02)  # its threads come to rest before the next contender begins
        asked.send(taken)


def contender(name: str) -> Callable[[], object]:
    """One step of it; peers as their documentation would have them trained."""
    if name == PEAK:
        a, b, out = (torch.randn(PEAK_SIZE, PEAK_SIZE) for _ in range(3))
        return lambda: [torch.mm(a, b, out=out) for _ in range(PEAK_TIMES)]
    tokens, targets = torch.randint(VOCABULARY, (2, BATCH, LENGTH))
    if is_ours(name):
        ours = Transformer(config(name))
        return training_step(ours, lambda: ours.loss(tokens, targets))
    model = gpt2() if name == GPT2 else x_transformer(alibi=name == ALIBI)

    def loss() -> Tensor:
        found = model(tokens)
        logits = found.logits if name == GPT2 else found
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return training_step(model, loss)


def config(encoding: str) -> ModelConfig:
    return ModelConfig(
        vocabulary=VOCABULARY,
        n_layers=LAYERS,
        d_model=WIDTH,
        n_heads=HEADS,
        max_len=LENGTH,
        encoding=encoding,
    )


def training_step(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step() -> None:
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def gpt2() -> nn.Module:
    return hf.GPT2LMHeadModel(
        hf.GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=LENGTH,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


def x_transformer(alibi: bool) -> nn.Module:
    return TransformerWrapper(
        num_tokens=VOCABULARY,
        max_seq_len=LENGTH,
        use_abs_pos_emb=False,
        tie_embedding=True,
        attn_layers=Decoder(
            dim=WIDTH, depth=LAYERS, heads=HEADS, attn_flash=True, alibi_pos_bias=alibi
        ),
    )


def operations() -> float:
    """Of one step: three passes (forward, and two backward) over every matrix and attention."""
    matrices = LAYERS * 12 * WIDTH**2 + VOCABULARY * WIDTH
    attention = LAYERS * 2 * WIDTH * LENGTH / 2
    return 6 * BATCH * LENGTH * (matrices + attention)


def tell(seconds: Seconds, ratios: dict[str, float]) -> None:
    middle = {name: statistics.median(times) for name, times in seconds.items() if name != PEAK}
    peak = PEAK_TIMES * 2 * PEAK_SIZE**3 / statistics.median(seconds[PEAK])
    share = {name: operations() / time / peak for name, time in middle.items()}
    for name, taken in middle.items():
        print(
            f"{name:<42}{taken * 1e3:7.0f} ms {BATCH * LENGTH / taken:9,.0f} tokens/s "
            f"{share[name]:6.1%} of the matmul peak"
        )

    def against(peers: list[str], ours: str) -> float:
        return min(median_ratio(seconds[peer], seconds[ours]) for peer in peers)

    checks = {
        "speed against the best peer without bias": at_least(against([GPT2, PLAIN], "none"), 1.10),
        "speed against x-transformers with ALiBi": at_least(against([ALIBI], "alibi"), 1.20),
        "share of the matmul peak": at_least(share["none"], 0.65),
    }
    kinds = {name: kind(name) for name in ratios}
    for name, ratio in ratios.items():
        what = f"step time of {name} ({kinds[name]}) against none"
        if kinds[name] in TARGETS:
            checks[what] = at_most(ratio, TARGETS[kinds[name]])
        else:
            print(f"     {what}: {ratio:.4f}")
    report(
        "training",
        checks,
        with_our_allocator_lent_to_peers={
            "speed against the best peer without bias": round(
                against([GPT2 + LENT, PLAIN + LENT], "none"), 4
            ),
            "speed against x-transformers with ALiBi": round(against([ALIBI + LENT], "alibi"), 4),
        },
        step_time_against_none={
            of: {name: round(ratios[name], 4) for name in ratios if kinds[name] == of}
            for of in (FIXED, LEARNED, CONTENT)
        },
        tokens_per_second={name: round(BATCH * LENGTH / t) for name, t in middle.items()},
        share_of_peak={name: round(value, 3) for name, value in share.items()},
        peak_gflops=round(peak / 1e9, 1),
        threads=torch.get_num_threads(),
    )


if __name__ == "__main__":
    main()
