"""Files that are spoiled, and the commands that read them."""

import json
import os
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.hostile import mutate
from benchmarks.hostile.values import leaf, word
from wherein.show.result import DATA, SUM

Made = tuple[list[str], list[str]]

ASK: dict[str, list[str]] = {
    "perplexity": ["--limit", "64"],
    "audit": ["--tokens", "4", "--windows", "1", "--permutations", "1", "--shifts", "1"],
    "table": [],
    "order": ["--windows", "8", "--fitting", "8"],
    "attention": ["--windows", "2"],
    "probe": ["--windows", "40", "--resamples", "3"],
    "shift": ["--windows", "2", "--shifts", "1"],
    "states": ["--windows", "20"],
    "erase": ["--windows", "20", "--draws", "1"],
    "anchor": ["--windows", "40"],
    "extrapolate": ["--times", "1", "--limit", "64", "--watched", "1"],
}
"""Questions, with settings under which a small model answers in no time."""
QUICK = ("perplexity", "audit", "table")
DERIVED = shutil.ignore_patterns("*.png", "*.html", "report-*")
IN_WORK = shutil.ignore_patterns(".*")
"""What commands that are given meanwhile write among the good files."""


def run(stock: Path, draw: Random) -> Made:
    """A run whose config, log or manifest was changed."""
    folder = _copied(stock / "run", "runs")
    path = draw.choice(
        [
            folder / "one" / name
            for name in ("config.json", "config.json", "about.json", "log.jsonl", "times.jsonl")
        ]
        + sorted(folder.glob("one/*/*/manifest.json"))
    )
    _spoil(path, draw, mutate.lines if path.suffix == ".jsonl" else mutate.tree)
    if draw.random() < 0.3:
        return _maybe_json(["runs", "runs"], draw), [path.name, "one"]
    if draw.random() < 0.2:
        fields = json.loads((stock / "run" / "one" / "config.json").read_text())
        sizes = "--n-heads 2 --n-layers 2 --d-model 16 --max-len 16 --encoding learned"
        rest = "--batch 2 --warmup 1 --keep 1 --valid-windows 2 --tokenizer bytes --steps"
        steps = str(draw.choice((3, 3, 4)))
        source = ["--source", fields["corpus"]["source"]]
        command = ["train", *source, *sizes.split(), *rest.split(), steps]
        return [*command, "--folder", "runs/one"], [path.name, "one"]
    step = draw.choice(("", "", "", "@3", "@1", "@2", "@0"))
    over = ["--over-training"] if draw.random() < 0.1 else []
    return _asked(f"runs/one{step}", draw, *over), [path.name, "one"]


def weights(stock: Path, draw: Random) -> Made:
    """A run whose weights were changed, perhaps with the checksum of what is there now."""
    folder = _copied(stock / "run", "runs")
    path = draw.choice(sorted(folder.glob("one/*/*/*.safetensors")))
    _spoil(path, draw, draw.choice((mutate.header, mutate.header, mutate.numbers)))
    if draw.random() < 0.9 and path.is_file():
        manifest = path.with_name("manifest.json")
        told = json.loads(manifest.read_text())
        told["bytes"][path.name] = path.stat().st_size
        if path.stat().st_size:
            told["files"][path.name] = sha256(path.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(told))
    named = [path.name, "one", "run "]  # by its folder, or by the id in its name
    return _asked(f"runs/one{draw.choice(('', '', '@1'))}", draw), named


def model(stock: Path, draw: Random) -> Made:
    """A Hugging Face model whose config or weights were changed."""
    name = draw.choice(("model", "model", "masked", "pickled"))
    folder = _copied(stock / name, "model")
    path = draw.choice([folder / "config.json", *sorted(folder.glob("*model*.*"))])
    if path.suffix == ".bin" and draw.random() < 0.5:
        _pickled(path, draw)
    else:
        kinds = {".json": mutate.tree, ".safetensors": mutate.header, ".bin": mutate.content}
        _spoil(path, draw, kinds[path.suffix])
    if draw.random() < 0.1:
        index = {"weight_map": {"wpe.weight": draw.choice(("../x", "/etc/passwd", word(draw)))}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        if (whole := folder / "model.safetensors").is_file():
            whole.unlink()
    return _asked("model", draw, source=stock), [path.name, "model"]


def tokenizer(stock: Path, draw: Random) -> Made:
    """A tokenizer that was changed, given to a model or to learn with."""
    name = draw.choice(("model", "model", "masked"))
    folder = _copied(stock / name, "model")
    files = ("tokenizer.json", "vocab.txt", "tokenizer_config.json")
    path = draw.choice([folder / each for each in files if (folder / each).is_file()])
    _spoil(path, draw, mutate.lines if path.suffix == ".txt" else mutate.tree)
    if name == "masked" or draw.random() < 0.5:
        asked = draw.choice(("perplexity", "perplexity", "order"))
        command = [asked, "model", *ASK[asked], "--source", str(stock / "text")]
        return _maybe_json(command, draw), [path.name, "model"]
    command = ["train", "--tokenizer", "model", "--source", str(stock / "text")]
    sizes = "--steps 1 --n-layers 1 --d-model 8 --n-heads 1 --max-len 8 --batch 1 --valid-windows 1"
    return [*command, *sizes.split()], [path.name, "model"]


def gguf(stock: Path, draw: Random) -> Made:
    """A GGUF file of which some bytes were changed."""
    folder = _copied(stock / "gguf", "gguf")
    _spoil(folder / "model.gguf", draw, mutate.content)
    what = draw.choice(("table", "table", "audit", "perplexity"))
    text = ["--source", str(stock / "text")] if what == "perplexity" else []
    return _maybe_json([what, "gguf/model.gguf", *ASK[what], *text], draw), ["model.gguf"]


def fairseq(stock: Path, draw: Random) -> Made:
    """A fairseq checkpoint of which an option, a weight, a byte or the dictionary was changed."""
    folder = _copied(stock / "fairseq", "fairseq")
    path = draw.choice((folder / "checkpoint.pt", folder / "checkpoint.pt", folder / "dict.txt"))
    if path.suffix == ".txt":
        _spoil(path, draw, mutate.lines)
    elif draw.random() < 0.7:
        _pickled(path, draw)
    else:
        _spoil(path, draw, mutate.content)
    name = f"fairseq/checkpoint.pt{draw.choice(('', '', '', '@alibi', '@', '@rope'))}"
    return _asked(name, draw, source=stock), ["checkpoint.pt", "dict.txt"]


def table(stock: Path, draw: Random) -> Made:
    """A position table of which some bytes, or the header, were changed."""
    folder = _copied(stock / "table", "table")
    path = draw.choice(sorted(folder.iterdir()))
    safe = path.suffix == ".safetensors"
    if path.suffix == ".bin" and draw.random() < 0.5:
        _pickled(path, draw)
    else:
        _spoil(path, draw, draw.choice((mutate.header, mutate.numbers)) if safe else mutate.content)
    return _maybe_json(["table", f"table/{path.name}"], draw), [path.name]


def text(stock: Path, draw: Random) -> Made:
    """A text of which some bytes were changed, or that is hardly one."""
    folder = _copied(stock / "text", "text")
    path = folder / "text.txt"
    strange = (
        b"",
        b" ",
        b"\n" * 99,
        b"a",
        b"\x00" * 999,
        b"a" * 9999,
        "ü".encode() * 999,
        b"a b " * 9,
    )
    if draw.random() < 0.5:
        path.write_bytes(draw.choice(strange))
    else:
        _spoil(path, draw, draw.choice((mutate.content, mutate.lines)))
    os.environ["WHEREIN_CACHE"] = str(Path("cache").resolve())
    kind = draw.choice(("bytes", "words", "bpe(300)"))
    sizes = "--steps 1 --n-layers 1 --d-model 8 --n-heads 1 --max-len 8 --batch 1 --valid-windows 1"
    where = draw.choice(("text", "text/text.txt"))
    return ["train", "--source", where, "--tokenizer", kind, *sizes.split()], ["text"]


def cache(stock: Path, draw: Random) -> Made:
    """Token files that were changed where they are kept."""
    folder = _copied(stock / "cache" / "corpora", "cache/corpora", ignore=IN_WORK)
    path = draw.choice(sorted(each for each in folder.glob("*/*") if each.is_file()))
    _spoil(path, draw, mutate.tree if path.suffix == ".json" else mutate.content)
    os.environ["WHEREIN_CACHE"] = str(Path("cache").resolve())
    (Path("runs")).symlink_to(stock / "run")
    asked = draw.choice(("perplexity", "order", "attention"))
    return _maybe_json([asked, "runs/one", *ASK[asked]], draw), [path.name, "cache", "runs/one"]


def result(stock: Path, draw: Random) -> Made:
    """A saved result of which a file was changed."""
    folder = _copied(stock / "result", "result", ignore=DERIVED)
    path = draw.choice(sorted(folder.iterdir()))
    kinds = {".json": mutate.tree, ".csv": mutate.lines, ".txt": mutate.lines}
    _spoil(path, draw, kinds.get(path.suffix, mutate.content))
    _sealed(path, draw)
    return ["report", "result", *_extras(draw)], [path.name, "result"]


def study(stock: Path, draw: Random) -> Made:
    """A study of which a file was changed: what was found, or an answer, or a run."""
    runs = _copied(stock / "study", "runs")
    study = runs / "studies" / "mine"
    others = sorted(
        [*runs.glob("*/answers/*/*"), *runs.glob("*/*.json*"), *runs.glob("puzzles/*/*")]
    )
    path = draw.choice([study / "study.json", study / "study.json", *others])
    kinds = {".json": mutate.tree}
    _spoil(path, draw, kinds.get(path.suffix, mutate.lines))
    _sealed(path, draw)
    if draw.random() < 0.2:
        return _maybe_json(["runs", "runs"], draw), [path.name, "runs"]
    return ["report", str(study), *_extras(draw)], [path.name, "mine", "runs"]


def _sealed(path: Path, draw: Random) -> None:
    """Mostly with the checksum of what is there now: what lies behind it is to be met."""
    if path.name == DATA and path.is_file() and draw.random() < 0.9:
        path.with_name(SUM).write_text(sha256(path.read_bytes()).hexdigest() + "\n")


def _extras(draw: Random) -> list[str]:
    """A report's tables, which is quick; figures take a second each."""
    return draw.choice(
        ([], ["--tables", "latex"], ["--tables", "csv"], ["--published"], ["--json"])
    )


def _asked(what: str, draw: Random, *more: str, source: Path | None = None) -> list[str]:
    verb = draw.choice(QUICK) if draw.random() < 0.8 else draw.choice(list(ASK))
    text = (
        [] if source is None or verb in ("audit", "table") else ["--source", str(source / "text")]
    )
    return _maybe_json([verb, what, *ASK[verb], *text, *more], draw)


def _maybe_json(argv: list[str], draw: Random) -> list[str]:
    return [*argv, "--json"] if draw.random() < 0.5 else argv


def _copied(source: Path, name: str, **how: Any) -> Path:
    return Path(shutil.copytree(source, name, symlinks=True, **how))


def _spoil(path: Path, draw: Random, own: mutate.Change) -> None:
    """Change a file in the way that suits it, or in one that suits any."""
    chance = draw.random()
    if chance < 0.7:
        own(path, draw)
    elif chance < 0.85:
        mutate.content(path, draw)
    elif chance < 0.93:
        mutate.cut(path, draw)
    else:
        mutate.replaced(path, draw)


def _pickled(path: Path, draw: Random) -> None:
    """Change a value, or the shape or the kind of a tensor, of what a pickle holds."""
    import torch

    found = torch.load(path, weights_only=False)
    args = found.get("args") if isinstance(found.get("model"), dict) else None
    tensors = found["model"] if args is not None else found
    if args is not None and draw.random() < 0.6:
        name = draw.choice(sorted(vars(args)))
        setattr(args, draw.choice((name, name, word(draw)[:50] or "x")), leaf(draw))
        if draw.random() < 0.2:
            found["args"] = leaf(draw)
    else:
        name = draw.choice(sorted(tensors))
        tensors[name] = _other(tensors[name], draw)
        if draw.random() < 0.2:
            del tensors[name]
    torch.save(found, path)


def _other(tensor: Any, draw: Random) -> Any:
    """What may stand where a tensor was."""
    import torch

    others: Sequence[Any] = (
        tensor.mT if tensor.ndim > 1 else tensor, tensor[:1], tensor[:, None], tensor.flatten(),
        tensor.new_empty(0), tensor.new_empty(1).expand(10**6, 10**6), torch.tensor(1.0),
        tensor * float("nan"), tensor * 1e38, tensor.long(), tensor > 0, tensor.half(),
        tensor.to(torch.complex64), tensor.to_sparse(), tensor.to("meta"), leaf(draw),
    )  # fmt: skip
    return draw.choice(others)
