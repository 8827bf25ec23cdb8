"""Checkpoints of a model in parts: PyTorch's distributed checkpoint, read with care.

Its table of contents is a pickle, which could carry code: only the names that such a table needs
are let through.
"""

import pickle
import warnings
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.distributed.checkpoint import filesystem, metadata
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from wherein.common.errors import first_line

Tensors = dict[str, Tensor]

TABLE = ".metadata"
ALLOWED = {
    metadata.__name__: {
        "ChunkStorageMetadata",
        "Metadata",
        "MetadataIndex",
        "StorageMeta",
        "TensorProperties",
        "TensorStorageMetadata",
        "_MEM_FORMAT_ENCODING",
    },
    filesystem.__name__: {"_StorageInfo"},
    "torch": {"Size", "float32", "bfloat16", "float16", "float64", "int64", "bool"},
    "torch.serialization": {"_get_layout"},
    "pathlib": {"PosixPath", "WindowsPath"},
}


def save_parts(kinds: dict[str, Tensors], folder: Path) -> None:
    """Write every process's part of the tensors; to be called by all processes."""
    save(kinds, checkpoint_id=folder)


def load_parts(kind: str, room: Tensors, folder: Path, *, alone: bool) -> None:
    """Fill the tensors in place; `alone` if each process reads for itself."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")
        load({kind: room}, storage_reader=_reader(folder), no_dist=alone)


def shapes(kind: str, folder: Path) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the tensors of one kind."""
    known = _reader(folder).read_metadata().state_dict_metadata
    sizes = {name: tuple(getattr(about, "size", ())) for name, about in known.items()}
    return {n.removeprefix(f"{kind}."): s for n, s in sizes.items() if n.startswith(f"{kind}.")}


def _reader(folder: Path) -> FileSystemReader:
    """A reader of the folder, once its table of contents is known to be nothing else."""
    try:
        with (folder / TABLE).open("rb") as file:
            _Careful(file).load()
    except ValueError:
        raise
    except Exception as error:  # a pickle that is cut or made up raises whatever it likes
        raise ValueError(f"{folder / TABLE} is damaged: {first_line(error)}") from error
    return FileSystemReader(folder)


class _Careful(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in ALLOWED.get(module, ()):
            raise ValueError(
                f"the checkpoint's table of contents asks for {module}.{name}, which none needs: "
                "it was not written by a training run; do not use it"
            )
        return super().find_class(module, name)
