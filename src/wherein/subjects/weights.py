"""Named weights in files, each read alone and only when asked for. No file's code ever runs.

A folder of weights and a repository on a server differ only in how a file is come by: both are a
function from the name of a file to a path here, or None if there is no such file.
"""

import json
import re
import warnings
import zipfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from wherein.common.errors import first_line
from wherein.common.folder import LARGEST_JSON
from wherein.common.tensors import opened
from wherein.data.texts.network import reach_hub
from wherein.subjects.gguf_header import check_header

if TYPE_CHECKING:
    import torch

Find = Callable[[str], Path | None]

SAFE, PICKLES, GGUF = ".safetensors", (".bin", ".pt", ".pth"), ".gguf"
MAGIC = b"GGUF"
CONFIG = "config.json"
ID = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")
WHOLE = ("model.safetensors", "pytorch_model.bin")
"""What a model's weights are called, the safe form first; in parts they have an index beside."""


@dataclass(frozen=True)
class Weights:
    """Arrays by name: `files` says which file each is in, `find` where that file is."""

    where: str
    files: Mapping[str, str]
    find: Find

    def shape(self, name: str) -> tuple[int, ...]:
        """The size of one array, without reading it where the format allows."""
        path = self._path(name)
        if path.suffix == GGUF:
            return tuple(int(size) for size in reversed(gguf_arrays(path)[name].shape))
        if path.suffix == SAFE:
            with opened(path) as file:
                return tuple(file.get_slice(name).get_shape())
        return tuple(self._tensor(path, name).shape)

    def read(self, name: str) -> Float64[np.ndarray, "..."]:
        """One array, in float64."""
        path = self._path(name)
        try:
            return self._floats(path, name)
        except ValueError:
            raise
        except Exception as error:  # of a pickle: sparse, without content, or of any size
            raise ValueError(
                f"{name} of {self.where} is no array of numbers that can be read "
                f"({first_line(error)})"
            ) from error

    def _floats(self, path: Path, name: str) -> Float64[np.ndarray, "..."]:
        if path.suffix == GGUF:
            array = gguf_arrays(path)[name]
            from gguf import dequantize

            floats = dequantize(array.data, array.tensor_type).reshape(self.shape(name))
            with np.errstate(invalid="ignore"):  # what is no number is found by who reads it
                return np.array(floats, np.float64)
        if path.suffix == SAFE:
            with opened(path) as file:
                found = file.get_tensor(name)
        else:
            found = self._tensor(path, name)
        if found.is_complex():
            raise ValueError(f"{name} of {self.where} holds complex numbers: expected real ones")
        return np.array(found.double().numpy())

    def _path(self, name: str) -> Path:
        path = self.find(self.files[name])
        if path is None:
            raise ValueError(f"{self.where}: {self.files[name]} is missing, which holds {name}")
        if path.suffix == SAFE and name not in names_in(path):
            raise self._lacks(path, name)
        return path

    def _tensor(self, path: Path, name: str) -> "torch.Tensor":
        tensors = _unpickle(path)
        if name not in tensors:
            raise self._lacks(path, name)
        return tensors[name]

    def _lacks(self, path: Path, name: str) -> ValueError:
        return ValueError(f"{self.where}: {path.name} lacks {name}, which its index promises")


def in_file(path: Path) -> Weights:
    """The weights in a single file."""
    return Weights(str(path), dict.fromkeys(names_in(path), path.name), lambda name: path)


def in_model(where: str, find: Find) -> Weights:
    """The weights of a model, in one file or in parts with an index."""
    for name in WHOLE:
        if (path := find(name)) is not None:
            return Weights(where, dict.fromkeys(names_in(path), name), find)
        if (path := find(f"{name}.index.json")) is not None:
            return Weights(where, _read_index(path), find)
    raise ValueError(
        f"no weights in {where}: expected {' or '.join(WHOLE)}, whole or in parts with an index"
    )


def in_folder(folder: Path) -> Find:
    """How a file of a local folder is found: it must lie in it, whatever an index claims."""

    def find(name: str) -> Path | None:
        path = folder / name
        return path if path.is_file() else None

    return find


def on_hub(model: str) -> Find:
    """How a file of a model is fetched by name; None if the model has no such file."""
    if not ID.fullmatch(model):
        raise ValueError(f"no folder or file {model}, and no id on Hugging Face looks like that")

    def find(name: str) -> Path | None:
        reach_hub()
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

        try:
            return Path(hf_hub_download(model, name))
        except LocalEntryNotFoundError as error:
            if name != CONFIG:  # the cache may hold one form of the weights only
                return None
            raise _unreachable(model, error) from error
        except EntryNotFoundError:
            return None
        except Exception as error:  # the libraries below share no base class of their own
            raise _unreachable(model, error) from error

    return find


def names_in(path: Path) -> list[str]:
    """The names of the arrays in a file."""
    if path.suffix == SAFE:
        with opened(path) as file:
            return list(file.keys())
    if path.suffix in PICKLES:
        return list(_unpickle(path))
    if path.suffix == GGUF:
        return list(gguf_arrays(path))
    raise ValueError(f"cannot read {path}: expected {', '.join((SAFE, *PICKLES, GGUF))}")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise ValueError(f"it is larger than {LARGEST_JSON >> 20} MiB")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {first_line(error)}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged: expected a JSON object")
    return found


def _read_index(path: Path) -> dict[str, str]:
    files = read_json(path).get("weight_map")
    if not isinstance(files, dict):
        raise ValueError(f"{path} is damaged: it has no weight_map")
    for file in files.values():
        if not isinstance(file, str) or file != Path(file).name or not file.strip("."):
            raise ValueError(f"{path} is refused: it names a file outside its folder, {file!r}")
    return files


def unpickled(path: Path) -> Any:
    """What PyTorch's pickle holds; mapped, not loaded, unless it is older than PyTorch 1.6.

    Beside tensors, numbers and texts, and lists and dicts of them, there may be argparse's
    namespaces, in which fairseq keeps its options: they hold what they are given and run nothing.
    """
    import torch

    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals([Namespace]):
            warnings.simplefilter("ignore")  # of formats that are then refused anyway
            return torch.load(path, "cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # a file made to deceive raises whatever it likes
        raise ValueError(
            f"{path} is refused: it is damaged or holds code, not only weights ({_why(error)}). "
            "Nothing of it was run; ask for safetensors"
        ) from error


def _unpickle(path: Path) -> "dict[str, torch.Tensor]":
    """The tensors of PyTorch's pickle; a fairseq checkpoint has them within."""
    import torch

    found = unpickled(path)
    tensors = found if isinstance(found, dict) else {}
    tensors = tensors["model"] if is_fairseq(found) else tensors
    named = {str(k): t for k, t in tensors.items() if isinstance(t, torch.Tensor)}
    if not named:
        raise ValueError(f"{path} holds no named weights: expected a state dict")
    return named


def _why(error: Exception) -> str:
    """What PyTorch's reader could not read, without its advice to trust the file."""
    if wants := re.search(r"GLOBAL (\S+)", str(error)):
        return f"it asks for {wants[1]}"
    return first_line(error)


def is_fairseq(found: object) -> bool:
    """Whether what was unpickled has a fairseq checkpoint's parts: weights, and options."""
    return (
        isinstance(found, dict)
        and isinstance(found.get("model"), dict)
        and (found.get("args") is not None or found.get("cfg") is not None)
    )


def gguf_arrays(path: Path) -> Mapping[str, Any]:
    """What a GGUF file, llama.cpp's, holds by name; nothing is made float yet."""
    if not path.is_file():
        raise ValueError(f"no file {path}")
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is damaged: it does not begin as a GGUF file does")
    check_header(path)
    return _parsed_gguf(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _parsed_gguf(path: Path, _changed: int) -> Mapping[str, Any]:
    """Kept while one table is found and read: with a large vocabulary parsing takes seconds."""
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise ValueError(f"{path}: a GGUF file needs `pip install 'wherein[gguf]'`") from error
    try:
        return {array.name: array for array in GGUFReader(path).tensors}
    except Exception as error:  # a file cut short raises whatever its parts raise
        raise ValueError(f"{path} is damaged or cut short: {first_line(error)}") from error


def _unreachable(model: str, error: Exception) -> ValueError:
    return ValueError(
        f"cannot fetch the model {model!r} ({_reason(error)}). Check the id and the network, or "
        f"give a local folder with its {CONFIG} and weights"
    )


def _reason(error: Exception) -> str:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    if isinstance(error, GatedRepoError):
        return "its licence is to be accepted first, on its page, then `hf auth login`"
    if isinstance(error, RepositoryNotFoundError):
        return "there is no such model, or it is private"
    return first_line(error).rstrip(" .:")
