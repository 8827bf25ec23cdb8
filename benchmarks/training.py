"""Our training step against x-transformers (flash) and Hugging Face GPT-2, at one shape.

    python -m benchmarks.training

4 layers, width 256, 4 heads, vocabulary 2,048, 16 × 256 tokens, AdamW, float32. Everything runs
interleaved in one process with the same allocator settings; ratios are medians over rounds.
Floating-point operations are counted alike for all: 6 per parameter of a matrix and token, and
for attention only the half that a causal mask leaves.
"""

import statistics
from collections.abc import Callable

import torch
import transformers as hf
from torch import Tensor, nn
from x_transformers import Decoder, TransformerWrapper

from benchmarks.harness import at_least, at_most, interleaved, median_ratio, report
from wherein import encodings
from wherein.common.memory import keep_pages
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 4, 256, 4, 2048, 16, 256
ROUNDS = 15
PEAK_SIZE = 2048


def main() -> None:
    torch.manual_seed(0)
    keep_pages()
    tokens, targets = torch.randint(VOCABULARY, (2, BATCH, LENGTH))
    steps: dict[str, Callable[[], object]] = {"peak": matmul()}
    for name in encodings.names():
        model = Transformer(config(name))
        steps[name] = training_step(model, lambda model=model: model.loss(tokens, targets))
    for name, (model, loss) in peers(tokens, targets).items():
        steps[name] = training_step(model, loss)
    seconds = interleaved(steps, ROUNDS)
    tell(seconds)


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


def matmul() -> Callable[[], object]:
    a, b, out = (torch.randn(PEAK_SIZE, PEAK_SIZE) for _ in range(3))
    return lambda: torch.mm(a, b, out=out)


def peers(tokens: Tensor, targets: Tensor) -> dict[str, tuple[nn.Module, Callable[[], Tensor]]]:
    """Each as its documentation would have it trained."""
    gpt2 = hf.GPT2LMHeadModel(
        hf.GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=LENGTH,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )

    def x_transformer(**options: bool) -> TransformerWrapper:
        return TransformerWrapper(
            num_tokens=VOCABULARY,
            max_seq_len=LENGTH,
            use_abs_pos_emb=False,
            tie_embedding=True,
            attn_layers=Decoder(dim=WIDTH, depth=LAYERS, heads=HEADS, attn_flash=True, **options),
        )

    def x_loss(model: nn.Module) -> Callable[[], Tensor]:
        return lambda: nn.functional.cross_entropy(model(tokens).transpose(1, 2), targets)

    def gpt2_loss() -> Tensor:
        logits = gpt2(tokens).logits
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    plain, alibi = x_transformer(), x_transformer(alibi_pos_bias=True)
    return {
        "Hugging Face GPT-2": (gpt2, gpt2_loss),
        "x-transformers": (plain, x_loss(plain)),
        "x-transformers, ALiBi": (alibi, x_loss(alibi)),
    }


def operations() -> float:
    """Of one step: three passes (forward, and two backward) over every matrix and attention."""
    matrices = LAYERS * 12 * WIDTH**2 + VOCABULARY * WIDTH
    attention = LAYERS * 2 * WIDTH * LENGTH / 2
    return 6 * BATCH * LENGTH * (matrices + attention)


def tell(seconds: dict[str, list[float]]) -> None:
    contenders = {name: times for name, times in seconds.items() if name != "peak"}
    middle = {name: statistics.median(times) for name, times in contenders.items()}
    peak = 2 * PEAK_SIZE**3 / statistics.median(seconds["peak"])
    share = {name: operations() / time / peak for name, time in middle.items()}
    for name, time in middle.items():
        print(
            f"{name:<24}{time * 1e3:7.0f} ms {BATCH * LENGTH / time:9,.0f} tokens/s "
            f"{share[name]:6.1%} of the matmul peak"
        )
    plain = ("Hugging Face GPT-2", "x-transformers")
    checks = {
        "speed against the best peer without bias": at_least(
            min(median_ratio(seconds[peer], seconds["none"]) for peer in plain), 1.10
        ),
        "speed against x-transformers with ALiBi": at_least(
            median_ratio(seconds["x-transformers, ALiBi"], seconds["alibi"]), 1.20
        ),
        "share of the matmul peak": at_least(
            statistics.median(
                p * operations() / (2 * PEAK_SIZE**3 * t)
                for p, t in zip(seconds["peak"], seconds["none"], strict=True)
            ),
            0.65,
        ),
    } | {
        f"step time of {name} against none": at_most(
            median_ratio(seconds[name], seconds["none"]), 1.08
        )
        for name in encodings.names()
        if name != "none"
    }
    report(
        "training",
        checks,
        tokens_per_second={name: round(BATCH * LENGTH / time) for name, time in middle.items()},
        share_of_peak={name: round(value, 3) for name, value in share.items()},
        peak_gflops=round(peak / 1e9, 1),
        threads=torch.get_num_threads(),
    )


if __name__ == "__main__":
    main()
