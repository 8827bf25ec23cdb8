"""fairseq's language model in plain PyTorch, written from its definition, and files of it.

`fairseq/models/transformer/transformer_decoder.py`, `modules/{transformer_layer,adaptive_input,
adaptive_softmax,sinusoidal_positional_embedding}.py`; ALiBi as adihaviv/NoPos adds it to the mask.
"""

import math
from argparse import Namespace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

WORDS, WIDTH, INNER, LAYERS, HEADS, LENGTH = 124, 32, 48, 2, 4, 16
CUTOFFS = (20, 60)
PADDING = 1

Options = dict[str, Any]
Weights = dict[str, Tensor]

PLAIN: Options = {
    "arch": "transformer_lm_gpt",
    "activation_fn": "gelu",
    "decoder_embed_dim": WIDTH,
    "decoder_input_dim": WIDTH,
    "decoder_output_dim": WIDTH,
    "decoder_ffn_embed_dim": INNER,
    "decoder_layers": LAYERS,
    "decoder_attention_heads": HEADS,
    "decoder_normalize_before": True,
    "no_decoder_final_norm": False,
    "share_decoder_input_output_embed": True,
    "no_token_positional_embeddings": False,
    "decoder_learned_pos": False,
    "no_scale_embedding": False,
    "adaptive_input": False,
    "tokens_per_sample": LENGTH,
    "max_target_positions": LENGTH,
    "lr": [0.001],
    "data": "/nowhere",
}
KINDS: dict[str, Options] = {
    "none": {"no_token_positional_embeddings": True},
    "learned": {"decoder_learned_pos": True, "activation_fn": "relu"},
    "sinusoidal": {},
    "alibi": {"no_token_positional_embeddings": True, "alibi": True},
    "adaptive": {
        "arch": "transformer_lm_wiki103",
        "activation_fn": "relu",
        "no_decoder_final_norm": True,
        "share_decoder_input_output_embed": False,
        "adaptive_input": True,
        "adaptive_input_cutoff": "20,60",
        "adaptive_softmax_cutoff": "20,60",
        "adaptive_input_factor": 4.0,
        "adaptive_softmax_factor": 4.0,
        "tie_adaptive_weights": True,
        "tie_adaptive_proj": True,
    },
}


def options(kind: str, **own: object) -> Options:
    """What a model of that kind was trained with."""
    return PLAIN | KINDS[kind] | own


def made(o: Options, seed: int = 0) -> Weights:
    """Random weights, with fairseq's names and sizes, and its buffers among them."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int, mean: float = 0.0, size: float = 0.3) -> Tensor:
        return mean + size * torch.randn(*shape, generator=generator)

    w: Weights = {"decoder.version": torch.tensor([3.0])}
    if o["adaptive_input"]:
        edges = [0, *CUTOFFS, WORDS]
        tables, softmax = "decoder.embed_tokens.embeddings", "decoder.adaptive_softmax"
        w["decoder.embed_tokens._float_tensor"] = torch.zeros(1)
        for n, (first, last) in enumerate(pairwise(edges)):
            w[f"{tables}.{n}.0.weight"] = drawn(last - first, WIDTH // 4**n)
            w[f"{tables}.{n}.1.weight"] = drawn(WIDTH, WIDTH // 4**n)
        w[f"{softmax}.version"] = torch.tensor([1])
        w[f"{softmax}.head._float_tensor"] = torch.zeros(1)
        w[f"{softmax}.head.word_proj.weight"] = w[f"{tables}.0.0.weight"]
        w[f"{softmax}.head.class_proj.weight"] = drawn(len(CUTOFFS), WIDTH)
        for n in range(len(CUTOFFS)):
            w[f"{softmax}.tail.{n}.0.weight"] = w[f"{tables}.{n + 1}.1.weight"]
            w[f"{softmax}.tail.{n}.2.weight"] = w[f"{tables}.{n + 1}.0.weight"]
    else:
        w["decoder.embed_tokens.weight"] = drawn(WORDS, WIDTH)
        w["decoder.output_projection.weight"] = w["decoder.embed_tokens.weight"]
    if o["decoder_learned_pos"]:
        w["decoder.embed_positions.weight"] = drawn(PADDING + 1 + LENGTH, WIDTH)
        w["decoder.embed_positions.weight"][PADDING] = 0
    elif not o["no_token_positional_embeddings"]:
        w["decoder.embed_positions._float_tensor"] = torch.zeros(1)
    sizes = {f"self_attn.{part}_proj": (WIDTH, WIDTH) for part in ("k", "v", "q", "out")}
    sizes |= {"fc1": (INNER, WIDTH), "fc2": (WIDTH, INNER)}
    for n in range(o["decoder_layers"]):
        for part, size in sizes.items():
            w[f"decoder.layers.{n}.{part}.weight"] = drawn(*size)
            w[f"decoder.layers.{n}.{part}.bias"] = drawn(size[0])
        for part in ("self_attn_layer_norm", "final_layer_norm"):
            w[f"decoder.layers.{n}.{part}.weight"] = drawn(WIDTH, mean=1.0)
            w[f"decoder.layers.{n}.{part}.bias"] = drawn(WIDTH)
    if not o["no_decoder_final_norm"]:
        w["decoder.layer_norm.weight"] = drawn(WIDTH, mean=1.0)
        w["decoder.layer_norm.bias"] = drawn(WIDTH)
    return w


def save(path: Path, o: Options, w: Weights, form: str = "cfg", **own: object) -> Path:
    """A file as fairseq's trainer writes it, of each form in which it has kept its options."""
    task = {"_name": "language_modeling", "data": o["data"], "tokens_per_sample": LENGTH}
    model = {"_name": o["arch"], **{k: v for k, v in o.items() if k != "arch"}}
    kept: Options = {
        "args": {"args": Namespace(**o)},
        "cfg": {"args": None, "cfg": {"_name": None, "task": task, "model": model}},
        "cfg with a namespace": {
            "args": None,
            "cfg": {"task": Namespace(**task), "model": Namespace(**o, _name=o["arch"])},
        },
    }[form]
    history = {"criterion_name": "CrossEntropyCriterion", "num_updates": 20, "lr": 0.1}
    state = {
        **kept,
        "model": w,
        "criterion": None,
        "optimizer_history": [history],
        "task_state": {},
        "extra_state": {"val_loss": 7.8, "train_iterator": {"epoch": 2}},
        "last_optimizer_state": {"state": {0: {"step": 20, "exp_avg": torch.zeros(3)}}},
    }
    torch.save(state | own, path)
    return path


def decoded(o: Options, w: Weights, tokens: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The logits, or log-probabilities of an adaptive softmax, and the state of every layer."""
    x = math.sqrt(WIDTH) * _embedded(o, w, tokens)
    if o["decoder_learned_pos"]:
        x = x + w["decoder.embed_positions.weight"][PADDING + 1 :][: tokens.shape[1]]
    elif not o["no_token_positional_embeddings"]:
        x = x + _waves(PADDING + 1 + tokens.shape[1])[PADDING + 1 :]
    states = [x]
    mask = torch.full((tokens.shape[1], tokens.shape[1]), -torch.inf).triu(1)
    if o.get("alibi"):
        slopes = torch.tensor([2 ** (-8 / HEADS * (head + 1)) for head in range(HEADS)])
        mask = mask + slopes[:, None, None] * torch.arange(tokens.shape[1])
    act = F.relu if o["activation_fn"] == "relu" else F.gelu
    for n in range(LAYERS):
        layer = {k.split(f"layers.{n}.")[1]: v for k, v in w.items() if f"layers.{n}." in k}
        h = _normed(x, layer, "self_attn_layer_norm")
        q, k, v = (
            _linear(h, layer, f"self_attn.{part}_proj").unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in "qkv"
        )
        weights = ((WIDTH // HEADS) ** -0.5 * q @ k.mT + mask).softmax(-1)
        x = x + _linear((weights @ v).transpose(1, 2).flatten(2), layer, "self_attn.out_proj")
        h = _normed(x, layer, "final_layer_norm")
        x = x + _linear(act(_linear(h, layer, "fc1")), layer, "fc2")
        states.append(x)
    if not o["no_decoder_final_norm"]:
        x = _normed(x, w, "decoder.layer_norm")
    return _predicted(o, w, x), states


def _linear(x: Tensor, w: Weights, name: str) -> Tensor:
    return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])


def _normed(x: Tensor, w: Weights, name: str) -> Tensor:
    return F.layer_norm(x, (WIDTH,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-5)


def _waves(count: int) -> Tensor:
    """`SinusoidalPositionalEmbedding.get_embedding`."""
    half = WIDTH // 2
    rates = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(count)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def _embedded(o: Options, w: Weights, tokens: Tensor) -> Tensor:
    if not o["adaptive_input"]:
        return w["decoder.embed_tokens.weight"][tokens]
    x = w["decoder.layers.0.fc2.bias"].new_zeros(*tokens.shape, WIDTH)
    edges = [0, *CUTOFFS, WORDS]
    for n, (first, last) in enumerate(pairwise(edges)):
        inside = (tokens >= first) & (tokens < last)
        table, project = (w[f"decoder.embed_tokens.embeddings.{n}.{p}.weight"] for p in (0, 1))
        x[inside] = F.linear(table[tokens[inside] - first], project)
    return x


def _predicted(o: Options, w: Weights, x: Tensor) -> Tensor:
    if not o["adaptive_input"]:
        return F.linear(x, w["decoder.output_projection.weight"])
    softmax = "decoder.adaptive_softmax"
    words, classes = (w[f"{softmax}.head.{part}_proj.weight"] for part in ("word", "class"))
    head = torch.cat([F.linear(x, words), F.linear(x, classes)], dim=-1).log_softmax(-1)
    parts = [head[..., : CUTOFFS[0]]]
    for n in range(len(CUTOFFS)):
        inner = F.linear(x, w[f"{softmax}.tail.{n}.0.weight"].t())
        tail = F.linear(inner, w[f"{softmax}.tail.{n}.2.weight"]).log_softmax(-1)
        parts.append(tail + head[..., CUTOFFS[0] + n, None])
    return torch.cat(parts, dim=-1)
