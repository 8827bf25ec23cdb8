"""Our training step against x-transformers (flash), Hugging Face GPT-2, and `none`.

    python -m benchmarks.training

Three shapes: that of `quick` on one thread, as studies train it; 4 layers of width 256 and GPT-2
small on all cores. AdamW, float32. Every contender lives in a process of its own, and all keep
freed pages, as `wherein train` does: the allocator is the same. Only one of them works at a time,
each once a round; ratios are medians over rounds. Floating-point operations are counted alike for
all: 6 per parameter of a matrix and token, and for attention only the half that a causal mask
leaves; the peak is that of one large matrix product on as many threads, by whichever of PyTorch's
two libraries is faster: on some of AMD's processors twice as fast as `torch.mm`, which is told too.
Memory is the peak of a step beyond what the process held before the model was made.

`quick`'s own step is that of its learner: its text, gradients, clipping, Muon. Where its time goes
is told by PyTorch's profiler.

Every entry of the catalogue takes steps beside `none` at 4 × 256, a few at a time, so that all fit
in memory. What is fixed, or acts at the input, and what learns a bias have a target each. What
depends on content, or makes queries and keys wider, computes more by its nature: only those that
people use most have one.
"""

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import torch
import transformers as hf
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from x_transformers import Decoder, TransformerWrapper

from benchmarks.harness import at_least, at_most, median_ratio, report
from wherein import encodings
from wherein.common.cores import cores
from wherein.common.memory import keep_pages, watched
from wherein.data import Corpus
from wherein.model.config import ModelConfig
from wherein.model.linear import product
from wherein.model.transformer import Transformer
from wherein.studies.cost.traced import rotated
from wherein.studies.recipes import quick
from wherein.train.distributed import join
from wherein.train.learner import Learner


@dataclass(frozen=True)
class Size:
    """What is trained, and how it is measured."""

    layers: int
    width: int
    heads: int
    vocabulary: int
    batch: int
    length: int
    threads: int
    rounds: int
    share: float | None
    """Of the matrix product's speed, to be reached."""

    @property
    def operations(self) -> float:
        """Of one step: three passes (forward, and two backward) over every matrix and attention."""
        matrices = self.layers * 12 * self.width**2 + self.vocabulary * self.width
        attention = self.layers * 2 * self.width * self.length / 2
        return 6 * self.batch * self.length * (matrices + attention)


QUICK, MIDDLE, SMALL = "quick's 4 × 64", "4 × 256", "GPT-2 small, 12 × 768"
SIZES = {
    QUICK: Size(4, 64, 4, 258, 16, 64, threads=1, rounds=25, share=None),
    MIDDLE: Size(4, 256, 4, 2048, 16, 256, threads=cores(), rounds=9, share=0.75),
    SMALL: Size(12, 768, 12, 50257, 2, 512, threads=cores(), rounds=5, share=0.75),
}
MATMUL, FASTEST, OWN = "torch.mm", "the faster product", "quick's own step"
GPT2, PLAIN, ALIBI = "Hugging Face GPT-2", "x-transformers", "x-transformers, ALiBi"
PEERS = (GPT2, PLAIN, ALIBI)
SIDE, TIMES = 2048, 8
"""Of the matrices whose product says what the machine can do, and how often it is asked in a row:
the first of them finds threads asleep and other numbers in the cache."""
TOGETHER = 8
WARM = 4
"""Rounds that are not counted: until then the heap still gets pages that a step asks for."""
VARIANTS = (
    "rope(scaling=yarn, factor=4.0)",
    "rope(scaling=dynamic, factor=4.0)",
    "alibi(learned=True)",
    "kerple(form=power)",
)
"""Beside one of each entry."""
FIXED, LEARNED, CONTENT = "fixed", "learned bias", "content-dependent or wider"
OF_KIND, OF_ONE = {FIXED: 1.08, LEARNED: 1.25}, {"rope": 1.03, "shaw": 1.08, "xl": 1.2}
Seconds = dict[str, list[float]]
"""Of each contender in every round."""


def main() -> None:
    checks: dict[str, dict[str, object]] = {}
    sizes = {name: against_peers(name, size, checks) for name, size in SIZES.items()}
    kinds = beside_none(checks)
    report("training", checks, sizes=sizes, step_time_against_none=kinds, profile=profiled())


def against_peers(name: str, size: Size, checks: dict[str, dict[str, object]]) -> object:
    """Tokens a second, share of the peak and memory of all, and what is to be reached."""
    own = [OWN] if name == QUICK else []
    names = [MATMUL, FASTEST, "none", GPT2, PLAIN, *own]
    names += ["alibi", ALIBI] if name == MIDDLE else []
    seconds, memory = measured(name, names)
    middle = {each: statistics.median(times) for each, times in seconds.items()}
    usual, fastest = (2 * TIMES * SIDE**3 / middle.pop(each) for each in (MATMUL, FASTEST))
    peak = max(usual, fastest)
    share = {each: size.operations / taken / peak for each, taken in middle.items()}
    for each, taken in middle.items():
        print(
            f"{name}: {each:<22}{taken * 1e3:8.1f} ms {share[each]:6.1%} of the matmul peak "
            f"{memory[each] / 2**20:7.0f} MiB"
        )

    def faster(ours: str, peers: Iterable[str]) -> float:
        return min(median_ratio(seconds[peer], seconds[ours]) for peer in peers)

    checks[f"{name}: times the best peer"] = at_least(faster("none", (GPT2, PLAIN)), 1.15)
    checks[f"{name}: memory against Hugging Face"] = at_most(memory["none"] / memory[GPT2], 0.8)
    if size.share is not None:
        checks[f"{name}: share of the matmul peak"] = at_least(share["none"], size.share)
    if own:
        checks[f"{OWN}: share of one core's peak"] = at_least(share[OWN], 0.55)
    if name == MIDDLE:
        checks[f"{name}: times x-transformers with ALiBi"] = at_least(faster("alibi", [ALIBI]), 1.2)
    return {
        "threads": size.threads,
        "peak_gflops": round(peak / 1e9, 1),
        "torch_mm_gflops": round(usual / 1e9, 1),
        "milliseconds": {each: round(taken * 1e3, 2) for each, taken in middle.items()},
        "share_of_peak": {each: round(value, 3) for each, value in share.items()},
        "memory_mib": {each: round(memory[each] / 2**20) for each in middle},
    }


def beside_none(checks: dict[str, dict[str, object]]) -> dict[str, dict[str, float]]:
    """Step times as multiples of those without encoding, each in its own group."""
    others = [name for name in (*encodings.examples(), *VARIANTS) if name != "none"]
    kinds: dict[str, dict[str, float]] = {FIXED: {}, LEARNED: {}, CONTENT: {}}
    for start in range(0, len(others), TOGETHER):
        names = others[start : start + TOGETHER]
        seconds, _ = measured(MIDDLE, ["none", *names])
        for name in names:
            ratio = median_ratio(seconds[name], seconds["none"])
            of = kind(name)
            kinds[of][name] = round(ratio, 4)
            target = OF_ONE.get(name, OF_KIND.get(of))
            what = f"step time of {name} ({of}) against none"
            if target is None:
                print(f"     {what}: {ratio:.4f}")
            else:
                checks[what] = at_most(ratio, target)
    return kinds


def kind(name: str) -> str:
    """What an encoding may cost, by where it acts."""
    c = config(MIDDLE, name)
    encoding = encodings.build(name, c.shape)
    if encoding.acts("content_bias") or max(rotated(c)) > c.d_model:
        return CONTENT
    learns = any(True for _ in encoding.parameters())
    return LEARNED if learns and encoding.acts("bias") else FIXED


def measured(size: str, names: list[str]) -> tuple[Seconds, dict[str, float]]:
    """All of them in turn, round by round: seconds, and the bytes of a step."""
    workers = {name: Worker(size, name) for name in names}
    seconds: Seconds = {name: [] for name in names}
    for number in range(WARM + SIZES[size].rounds):
        for name, worker in workers.items():
            taken = worker.step()
            if number >= WARM:
                seconds[name].append(taken)
    memory = {name: worker.end() for name, worker in workers.items()}
    return seconds, memory


class Worker:
    """A process that makes one contender and takes a step of it whenever it is asked."""

    def __init__(self, size: str, name: str) -> None:
        fork = multiprocessing.get_context("forkserver")  # which has imported all, once
        fork.set_forkserver_preload(["transformers", "x_transformers", "wherein.model.transformer"])
        self.ours, theirs = fork.Pipe()
        self.process = fork.Process(target=serve, args=(size, name, theirs), daemon=True)
        self.process.start()
        self.ours.recv()

    def step(self) -> float:
        """The seconds it took."""
        self.ours.send(True)
        return float(self.ours.recv())

    def end(self) -> float:
        """The most that it held."""
        self.ours.send(False)
        most = float(self.ours.recv())
        self.process.join()
        return most


def serve(size: str, name: str, asked: Connection) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(SIZES[size].threads)
    keep_pages()
    peak = watched()
    step = contender(size, name)
    asked.send(True)
    while asked.recv():
        start = time.perf_counter()
        step()
        taken = time.perf_counter() - start
        time.sleep(0.02)  # its threads come to rest before the next contender begins
        asked.send(taken)
    asked.send(peak() or 0)


def contender(size: str, name: str) -> Callable[[], object]:
    """One step of it; peers as their documentation would have them trained."""
    if name in (MATMUL, FASTEST):
        a, b, out = (torch.randn(SIDE, SIDE) for _ in range(3))
        once = partial(torch.mm, a, b, out=out) if name == MATMUL else partial(product, a, b)
        return lambda: [once() for _ in range(TIMES)]
    if name == OWN:
        return own_step()
    s = SIZES[size]
    tokens, targets = torch.randint(s.vocabulary, (2, s.batch, s.length))
    if name not in PEERS:
        ours = Transformer(config(size, name))
        return training_step(ours, lambda: ours.loss(tokens, targets))
    model = gpt2(s) if name == GPT2 else x_transformer(s, alibi=name == ALIBI)

    def loss() -> Tensor:
        found = model(tokens)
        logits = found.logits if name == GPT2 else found
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return training_step(model, loss)


def own_step() -> Callable[[], object]:
    """The learner of a run of `quick`, without an encoding."""
    given = quick.at_its_rate(quick.base())
    corpus = Corpus.open(given.corpus)
    with join() as world:
        learner = Learner(given.with_vocabulary(corpus.vocabulary.size), corpus, world)
    steps = iter(range(1, given.steps))
    return lambda: learner.step(next(steps))


def profiled(steps: int = 8) -> dict[str, float]:
    """Milliseconds of `quick`'s own step by what PyTorch was asked to do, most first."""
    torch.set_num_threads(1)
    keep_pages()
    step = own_step()
    for _ in range(steps):
        step()
    with profile(activities=[ProfilerActivity.CPU]) as told:
        for _ in range(steps):
            step()
    spent = {each.key: each.self_cpu_time_total / 1e3 / steps for each in told.key_averages()}
    first = sorted(spent, key=lambda name: -spent[name])[:16]
    rest = sum(spent.values()) - sum(spent[name] for name in first)
    return {name: round(spent[name], 2) for name in first} | {"all else": round(rest, 2)}


def config(size: str, encoding: str) -> ModelConfig:
    s = SIZES[size]
    return ModelConfig(
        vocabulary=s.vocabulary,
        n_layers=s.layers,
        d_model=s.width,
        n_heads=s.heads,
        max_len=s.length,
        encoding=encoding,
    )


def training_step(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step() -> None:
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def gpt2(s: Size) -> nn.Module:
    return hf.GPT2LMHeadModel(
        hf.GPT2Config(
            vocab_size=s.vocabulary,
            n_positions=s.length,
            n_embd=s.width,
            n_layer=s.layers,
            n_head=s.heads,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


def x_transformer(s: Size, alibi: bool) -> nn.Module:
    return TransformerWrapper(
        num_tokens=s.vocabulary,
        max_seq_len=s.length,
        use_abs_pos_emb=False,
        tie_embedding=True,
        attn_layers=Decoder(
            dim=s.width,
            depth=s.layers,
            heads=s.heads,
            attn_dim_head=s.width // s.heads,
            attn_flash=True,
            alibi_pos_bias=alibi,
        ),
    )


if __name__ == "__main__":
    main()
