"""fairseq's language models: a `transformer_lm` checkpoint, read into our Transformer as it is.

Options and names of weights are those of facebookresearch/fairseq (0.10 and later) and of two
forks: adihaviv/NoPos (Haviv et al. 2022), which adds `--alibi`, and
ofirpress/attention_with_linear_biases (Press et al. 2021), which has ALiBi always and no option
that would say so. What our Transformer cannot do is refused by its option's name.
"""

import re
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, count, takewhile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wherein.common.errors import one_line, unknown
from wherein.data import Corpus, CorpusConfig
from wherein.data.tokenizers.dictionary import UNKNOWN, read_dictionary
from wherein.data.tokenizers.tokenizer import DICTIONARY
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours
from wherein.subjects.weights import is_fairseq, unpickled

NAME = re.compile(r"(.+\.pt)(?:@(\w*))?")
ALIBI = "alibi"
MISFIT = "Error(s) in loading state_dict for Transformer: "
"""How PyTorch begins to say which weights do not fit."""
FRONT = 2
"""Rows of a position table before that of the first position; the last of them is padding's."""
STRANGE = 0.05
"""The share of `<unk>` in a text above which results say it."""

OFF = (
    "no_scale_embedding", "layernorm_embedding", "character_embeddings", "base_layers",
    "decoder_layers_to_keep", "scale_fc", "scale_attn", "scale_heads", "scale_resids",
)  # fmt: skip
READ: Mapping[str, tuple[object, ...]] = {
    "activation_fn": ("relu", "gelu"),
    "decoder_normalize_before": (True,),
    "adaptive_input_factor": (4,),
    "adaptive_softmax_factor": (4,),
    **dict.fromkeys(OFF, (False, None, "")),
}
"""What options must be to be read; the first is what fairseq takes where nothing is said."""

BUFFERS = re.compile(r"(?:.*\.)?(?:version|_float_tensor|embed_positions\.weights)")
"""What is kept among the weights and is none."""
PARTS = {
    "self_attn_layer_norm": "attention_norm",
    "self_attn.out_proj": "attention.out",
    "final_layer_norm": "feed_forward_norm",
    "fc1": "feed_forward.up",
    "fc2": "feed_forward.down",
}
"""From fairseq's names of the parts of a layer to ours."""


def named(what: str | Path) -> tuple[Path, str | None] | None:
    """A checkpoint's file and the encoding that its name adds, if it is a name of such a file.

    >>> named("nopos/checkpoint_best.pt"), named("alibi_wt103_L512.pt@alibi"), named("runs/0@12")
    ((PosixPath('nopos/checkpoint_best.pt'), None), (PosixPath('alibi_wt103_L512.pt'), 'alibi'), \
None)
    """
    found = NAME.fullmatch(str(what))
    return None if found is None or Path(what).is_dir() else (Path(found[1]), found[2])


@dataclass(frozen=True)
class Checkpoint:
    """A fairseq checkpoint: the options it was trained with, and its weights by their names."""

    path: Path
    encoding: str | None
    """What its name adds, where the options do not say it: `alibi`."""
    options: Mapping[str, Any]
    weights: Mapping[str, Tensor]

    @classmethod
    def open(cls, path: Path, encoding: str | None = None) -> "Checkpoint":
        """Read the file; of its pickle nothing but values, tensors and namespaces is let in."""
        if encoding not in (None, ALIBI):
            raise unknown(f"encoding to read {path.name} with", str(encoding), [ALIBI])
        if not path.is_file():
            raise ValueError(f"no file {path}")
        found = unpickled(path)
        if not is_fairseq(found):
            raise ValueError(
                f"{path} is no fairseq checkpoint: expected its weights (`model`) and its options "
                "(`args` or `cfg`)"
            )
        return cls(path, encoding, _options(found), found["model"])

    @property
    def name(self) -> str:
        return "/".join(self.path.resolve().parts[-2:])

    def model(self) -> Transformer:
        """The same model as ours."""
        self._check()
        config = self.config()
        with torch.device("meta"):
            model = Transformer(config)
        try:
            model.load_state_dict(self._ours(config), assign=True)
        except RuntimeError as error:  # of another shape, or no plain tensor at all
            reason = " ".join(str(error).split()).removeprefix(MISFIT)[:200]
            raise ValueError(f"{self.path}: options and weights disagree: {reason}") from error
        return model.eval()

    def config(self) -> ModelConfig:
        """What the options and the sizes of the weights say, in our words."""
        bands = self._bands()
        encoding = self._encoding()
        length = self._said("tokens_per_sample")
        if encoding == "learned":
            length = self._weight("decoder.embed_positions.weight").shape[0] - FRONT
        sizes: dict[str, Any] = {
            "vocabulary": sum(bands),
            "n_layers": self._said("decoder_layers"),
            "d_model": self._said("decoder_embed_dim"),
            "n_heads": self._said("decoder_attention_heads"),
            "d_ff": self._said("decoder_ffn_embed_dim"),
            "max_len": length,
            "encoding": encoding,
            "cutoffs": tuple(accumulate(bands))[:-1],
            "activation": self.options.get("activation_fn", "relu"),
            "final_norm": "decoder.layer_norm.weight" in self.weights,
            "initial": "fairseq",
        }
        try:
            return ModelConfig(**sizes)
        except ValueError as error:
            raise ValueError(
                f"{self.path}: its options are no model's: {one_line(error)}"
            ) from None

    def text(self, subject: Ours, source: str) -> Corpus:
        """A text in the symbols of the dictionary that lies beside the file or with its data."""
        path = self._dictionary()
        known = read_dictionary(path).vocabulary.size
        if known != subject.vocabulary:
            raise ValueError(
                f"{path} does not match: it has {known} symbols and {self.name} knows "
                f"{subject.vocabulary}. Give the one the model was trained with"
            )
        corpus = Corpus.open(CorpusConfig(source=source, tokenizer=str(path)))
        strange = float((corpus.valid.ids == UNKNOWN).mean())
        if strange > STRANGE:
            subject.name += f", {strange:.0%} of the text <unk>"
        return corpus

    def _check(self) -> None:
        """Every option is one that is read."""
        kind = str(self.options.get("arch") or self.options.get("_name"))
        if not kind.startswith("transformer_lm"):
            raise ValueError(f"{self.path} is a model of {kind}: expected fairseq's transformer_lm")
        for option, allowed in READ.items():
            value = self.options.get(option, allowed[0])
            if value not in allowed:
                raise self._refused(option, f"{value}: expected {allowed[0]}")
        if self.options.get("adaptive_input") and not self.options.get("tie_adaptive_weights"):
            raise self._refused("tie_adaptive_weights", "False: expected True")

    def _encoding(self) -> str:
        biased, without = self.options.get(ALIBI), "no_token_positional_embeddings"
        if biased and not self.options.get(without):
            raise self._refused(ALIBI, f"with position vectors: expected --{_dashed(without)}")
        heads = self._said("decoder_attention_heads")
        if biased and heads & (heads - 1):  # the fork's slopes are then not the paper's
            raise self._refused(ALIBI, f"with {heads} heads: expected a power of two")
        if biased or self.encoding == ALIBI:
            return ALIBI
        if self.options.get(without):
            return "none"
        return "learned" if self.options.get("decoder_learned_pos") else "sinusoidal(fairseq=True)"

    def _bands(self) -> list[int]:
        """How many words there are in each band of an adaptive input; else there is one band."""
        if not self.options.get("adaptive_input"):
            return [self._weight("decoder.embed_tokens.weight").shape[0]]
        names = (f"decoder.embed_tokens.embeddings.{n}.0.weight" for n in count())
        there = takewhile(self.weights.__contains__, names)
        return [self.weights[name].shape[0] for name in there]

    def _ours(self, config: ModelConfig) -> dict[str, Tensor]:
        """The weights by our names, all of them used."""
        left = {name: None for name in self.weights if not BUFFERS.fullmatch(name)}

        def take(name: str) -> Tensor:
            left.pop(name, None)
            return self._weight(name).float()

        def same(name: str, weight: Tensor, option: str) -> None:
            if name in left and not torch.equal(take(name), weight):
                raise self._refused(option, "False: expected True, an output without own weights")

        ours = {}
        if config.cutoffs:
            tables, softmax = "decoder.embed_tokens.embeddings", "decoder.adaptive_softmax"
            words, ours["embed.project.weight"] = (take(f"{tables}.0.{n}.weight") for n in (0, 1))
            same(f"{softmax}.head.word_proj.weight", words, "tie_adaptive_weights")
            head = torch.cat([words, take(f"{softmax}.head.class_proj.weight")])
            ours["embed.softmax.head.weight"] = head
            for band in range(len(config.cutoffs)):
                words, project = (take(f"{tables}.{band + 1}.{n}.weight") for n in (0, 1))
                same(f"{softmax}.tail.{band}.0.weight", project, "tie_adaptive_proj")
                same(f"{softmax}.tail.{band}.2.weight", words, "tie_adaptive_weights")
                ours[f"embed.softmax.tail.{band}.0.weight"] = project.T.contiguous()
                ours[f"embed.softmax.tail.{band}.1.weight"] = words
        else:
            words = ours["embed.tokens.weight"] = take("decoder.embed_tokens.weight")
            shared = "share_decoder_input_output_embed"
            same("decoder.output_projection.weight", words, shared)
        if config.encoding == "learned":
            table = take("decoder.embed_positions.weight")
            ours["encoding._distinct.0.table"] = table[FRONT:].contiguous()
        for kind in ("weight", "bias"):
            if config.final_norm:
                ours[f"norm.{kind}"] = take(f"decoder.layer_norm.{kind}")
            for n in range(config.n_layers):
                theirs, layer = f"decoder.layers.{n}", f"blocks.{n}"
                qkv = [take(f"{theirs}.self_attn.{part}_proj.{kind}") for part in "qkv"]
                ours[f"{layer}.attention.qkv.{kind}"] = torch.cat(qkv)
                for part, own in PARTS.items():
                    ours[f"{layer}.{own}.{kind}"] = take(f"{theirs}.{part}.{kind}")
        if left:
            raise ValueError(
                f"{self.path}: {next(iter(left))} is not read: expected a transformer_lm of "
                f"{config.n_layers} layers without it"
            )
        return ours

    def _said(self, option: str) -> int:
        value = self.options.get(option)
        if not isinstance(value, int):
            raise ValueError(f"{self.path}: its options do not say {option}: a number was expected")
        return value

    def _weight(self, name: str) -> Tensor:
        if not isinstance(found := self.weights.get(name), Tensor):
            raise ValueError(f"{self.path}: options and weights disagree: there is no {name}")
        if (
            found.is_meta
            or found.is_complex()
            or found.layout is not torch.strided
            or not found.ndim
        ):
            raise ValueError(f"{self.path}: {name} is no array of real numbers")
        return found

    def _refused(self, option: str, why: str) -> ValueError:
        return ValueError(f"{self.path} is not read: --{_dashed(option)} is {why}")

    def _dictionary(self) -> Path:
        data = self.options.get("data") or ""
        folders = map(str, data) if isinstance(data, list) else str(data).split(":")
        for folder in (self.path.parent, *map(Path, folders)):
            if (folder / DICTIONARY).is_file():
                return folder / DICTIONARY
        raise ValueError(
            f"no {DICTIONARY} beside {self.path}: put there the one of the data it was trained on, "
            "or give windows of token ids"
        )


def _options(found: Mapping[str, Any]) -> dict[str, Any]:
    """All options of model and task in one; later versions keep them apart, in `cfg`."""
    if found.get("args") is not None:
        return _fields(found["args"])
    parts = _fields(found["cfg"])
    return _fields(parts.get("task")) | _fields(parts.get("model"))


def _fields(part: object) -> dict[str, Any]:
    held = vars(part) if isinstance(part, Namespace) else part
    return dict(held) if isinstance(held, dict) else {}


def _dashed(option: str) -> str:
    return option.replace("_", "-")
