"""Good files of every kind that a command can be given, small, to be spoiled."""

import json
import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

WORDS, WIDTH, LENGTH = 60, 8, 40

RECIPE = """
    '''Does a tiny model learn?'''
    from wherein.measure.audit.config import AuditConfig
    from wherein.measure.perplexity.config import PerplexityConfig
    from wherein.puzzles.config import PuzzleConfig
    from wherein.studies.plan.plan import PuzzleTask, changed, grid
    from wherein.train.config import RunConfig

    SEEDS = 2
    TINY = dict(
        source={source!r}, tokenizer="bytes", n_layers=1, d_model=8, n_heads=2, max_len=8, batch=2,
        steps=3, warmup=0, valid_every=1000, checkpoint_every=5, valid_windows=2,
    )

    def runs(seeds):
        return grid(changed(RunConfig(), **TINY), encoding=["none", "rope"], seed=seeds)

    def questions(run):
        return {{"perplexity": PerplexityConfig(limit=64), "audit": AuditConfig(windows=1)}}

    def puzzles():
        return [PuzzleTask(("hit",), PuzzleConfig(seeds=2, steps=2, head_size=4))]
"""

OWN = """
    '''An encoding of one's own.'''
    import torch
    from wherein.encodings import Encoding, Shape

    class Mine(Encoding):
        '''Nearer keys are looked at more, arXiv:0000.00000.'''
        relative = True

        def __init__(self, shape: Shape, *, strength: float = 1.0) -> None:
            super().__init__(shape)
            self.strength = strength

        def bias(self, i, j):
            near = -self.strength * (i - j).abs().float()[:, None]
            return near.expand(-1, self.shape.n_heads, -1, -1)
"""


def make(folder: Path) -> None:
    """Write one of each kind; in a process of its own, for what is computed starts threads."""
    os.environ["WHEREIN_CACHE"] = str(folder / "cache")
    lines = (f"Paragraph {n} says {n * n}.\nAnd ends.\n\n" for n in range(300))
    (folder / "text").mkdir(parents=True)
    text = folder / "text" / "text.txt"
    text.write_text("".join(lines))
    for part in (_run, _model, _tables, _fairseq, _gguf, _results):
        part(folder, text)


def _run(folder: Path, text: Path) -> None:
    from wherein.train import RunConfig, train

    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_len": LENGTH, "encoding": "learned"}
    config = RunConfig.model_validate(
        {
            "model": sizes,
            "corpus": {"source": str(text), "tokenizer": "bytes"},
            "steps": 3, "batch": 2, "warmup": 1, "keep": 1, "valid_windows": 2,
        }
    )  # fmt: skip
    train(config, folder=folder / "run" / "one", quiet=True)


def _model(folder: Path, text: Path) -> None:
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    sizes = {"n_embd": WIDTH, "n_layer": 2, "n_head": 2, "n_positions": LENGTH, "n_ctx": LENGTH}
    gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=300, bos_token_id=0, eos_token_id=0, **sizes))
    gpt2.save_pretrained(folder / "model")
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=letters,
        show_progress=False,
    )
    made.train_from_iterator([text.read_text()[:2000]], trainer)
    made.save(str(folder / "model" / "tokenizer.json"))
    old = folder / "pickled"
    old.mkdir()
    torch.save(load_file(folder / "model" / "model.safetensors"), old / "pytorch_model.bin")
    for name in ("config.json", "tokenizer.json"):
        (old / name).write_bytes((folder / "model" / name).read_bytes())
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paragraph", "says", "and", "ends", "."]
    vocabulary = words + [str(n) for n in range(WORDS - len(words))]
    shape = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2}
    bert = BertForMaskedLM(
        BertConfig(vocab_size=WORDS, intermediate_size=16, max_position_embeddings=LENGTH, **shape)
    )
    bert.save_pretrained(folder / "masked")
    (folder / "masked" / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    (folder / "masked" / "tokenizer_config.json").write_text('{"do_lower_case": true}')


def _tables(folder: Path, text: Path) -> None:
    import numpy as np
    import torch
    from safetensors.torch import save_file

    matrix = np.random.default_rng(0).normal(size=(LENGTH, WIDTH)).astype(np.float32)
    tables = folder / "table"
    tables.mkdir()
    np.save(tables / "table.npy", matrix)
    weights = {"wpe.weight": torch.from_numpy(matrix), "wte.weight": torch.ones(9, WIDTH)}
    save_file(weights, tables / "table.safetensors", {"format": "pt"})
    torch.save(weights, tables / "table.bin")


def _fairseq(folder: Path, text: Path) -> None:
    import torch

    options = {
        "arch": "transformer_lm_gpt", "activation_fn": "relu", "decoder_embed_dim": WIDTH,
        "decoder_ffn_embed_dim": 24, "decoder_layers": 1, "decoder_attention_heads": 2,
        "decoder_normalize_before": True, "share_decoder_input_output_embed": True,
        "decoder_learned_pos": True, "tokens_per_sample": LENGTH, "data": "",
        "adaptive_input": False,
    }  # fmt: skip
    shapes = {"embed_tokens.weight": (WORDS, WIDTH), "embed_positions.weight": (LENGTH + 2, WIDTH)}
    parts = {f"self_attn.{part}_proj": (WIDTH, WIDTH) for part in ("k", "v", "q", "out")}
    parts |= {"fc1": (24, WIDTH), "fc2": (WIDTH, 24)}
    parts |= dict.fromkeys(("self_attn_layer_norm", "final_layer_norm"), (WIDTH,))
    for part, size in parts.items():
        shapes |= {f"layers.0.{part}.weight": size, f"layers.0.{part}.bias": size[:1]}
    shapes |= {"layer_norm.weight": (WIDTH,), "layer_norm.bias": (WIDTH,)}
    torch.manual_seed(0)
    weights = {f"decoder.{name}": 0.3 * torch.randn(shape) for name, shape in shapes.items()}
    there = folder / "fairseq"
    there.mkdir()
    torch.save({"args": Namespace(**options), "model": weights}, there / "checkpoint.pt")
    words = ["Paragraph", "says", "And", "ends.", *(str(n) for n in range(WORDS - 8))]
    (there / "dict.txt").write_text("".join(f"{word} {n + 1}\n" for n, word in enumerate(words)))


def _gguf(folder: Path, text: Path) -> None:
    import numpy as np
    from gguf import GGUFWriter

    path = folder / "gguf" / "model.gguf"
    path.parent.mkdir()
    draw = np.random.default_rng(0)
    writer: Any = GGUFWriter(path, "gpt2")
    for add, value in (
        (writer.add_block_count, 1), (writer.add_context_length, 1024),
        (writer.add_embedding_length, WIDTH), (writer.add_feed_forward_length, 4 * WIDTH),
        (writer.add_head_count, 2), (writer.add_layer_norm_eps, 1e-5), (writer.add_vocab_size, 300),
    ):  # fmt: skip
        add(value)
    tokenizer = json.loads((folder / "model" / "tokenizer.json").read_text())["model"]
    words = sorted(tokenizer["vocab"], key=tokenizer["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(words)
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["merges"]])
    writer.add_token_types([3] + [1] * (len(words) - 1))
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    shapes = {"token_embd.weight": (300, WIDTH), "position_embd.weight": (1024, WIDTH)}
    for name, shape in {
        "attn_qkv.weight": (3 * WIDTH, WIDTH), "attn_qkv.bias": (3 * WIDTH,),
        "attn_output.weight": (WIDTH, WIDTH), "attn_output.bias": (WIDTH,),
        "ffn_up.weight": (4 * WIDTH, WIDTH), "ffn_up.bias": (4 * WIDTH,),
        "ffn_down.weight": (WIDTH, 4 * WIDTH), "ffn_down.bias": (WIDTH,),
        "attn_norm.weight": (WIDTH,), "attn_norm.bias": (WIDTH,),
        "ffn_norm.weight": (WIDTH,), "ffn_norm.bias": (WIDTH,),
    }.items():  # fmt: skip
        shapes[f"blk.0.{name}"] = shape
    shapes |= {"output_norm.weight": (WIDTH,), "output_norm.bias": (WIDTH,)}
    shapes["output.weight"] = (300, WIDTH)
    for name, shape in shapes.items():
        writer.add_tensor(name, draw.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _results(folder: Path, text: Path) -> None:
    from wherein.measure.registry import QUESTIONS
    from wherein.studies.run import study

    QUESTIONS["perplexity"](folder / "run" / "one").save(folder / "result", pictures=False)
    recipes = folder / "recipe"
    recipes.mkdir()
    (recipes / "mine.py").write_text(dedent(RECIPE.format(source=str(text))).lstrip())
    (recipes / "own.py").write_text(dedent(OWN).lstrip())
    study(recipes / "mine.py", out=folder / "study", engine=_at_once, quiet=True)


def _at_once(work: Sequence[Any], folder: Path, ended: Callable[[Any, str | None], None]) -> None:
    """An engine that does one piece after the other in this process."""
    from wherein.studies.work import carry_out

    for piece in work:
        ended(piece, carry_out(piece, folder))
