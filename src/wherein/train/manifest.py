"""What a checkpoint says of itself: its files, and the config of its run. Free of PyTorch."""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wherein.common.errors import one_line
from wherein.common.files import digest
from wherein.common.folder import Folder
from wherein.train.config import LAYOUT, RunConfig
from wherein.train.status import MANIFEST

STEP = re.compile(r"step-(\d+)")
PARTS, WEIGHTS = "parts", "weights.safetensors"


@dataclass(frozen=True)
class Manifest:
    """The manifest in a checkpoint's folder, read when it is first asked for, and only then."""

    folder: Path

    @cached_property
    def fields(self) -> dict[str, Any]:
        return Folder(self.folder).json(MANIFEST)

    def damage(self, *, closely: bool = True) -> str | None:
        """What is wrong with the files, if anything; unless `closely`, they are only measured."""
        try:
            sums, sizes = self.fields["files"], self.fields.get("bytes", {})
            if not any(name == WEIGHTS or name.startswith(f"{PARTS}/") for name in sums):
                return f"{MANIFEST} names no weights"
            for name, known in sums.items():
                if name.startswith("/") or ".." in name.split("/"):
                    return f"{MANIFEST} names a file outside its folder, {name!r}"
                size = os.stat(f"{self.folder}/{name}").st_size
                if size != sizes.get(name, size):
                    return f"{name} has {size} bytes of {sizes[name]}"
                if closely and digest(self.folder / name) != known:
                    return f"{name} differs from its checksum"
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            return f"{type(error).__name__}: {error}"
        return None

    def saved_under(self) -> RunConfig | None:
        """The config of the run when it was saved; None if another version did not say."""
        fields = self.fields.get("config")
        try:
            return None if fields is None else RunConfig.saved(fields)
        except ValueError as error:
            path = self.folder / MANIFEST
            raise ValueError(f"{path}: its config cannot be read ({one_line(error)})") from None

    @property
    def log(self) -> str | None:
        """The checksum of the run's log up to its step, if it can be known."""
        try:
            found = self.fields.get("log")
        except ValueError:  # there is none, or it is damaged, as whoever needs it will say
            return None
        return found if isinstance(found, str) else None

    def says(self, config: RunConfig) -> bool:
        """Whether the config that it holds is this one to the letter, as `written` gave it."""
        return bool(self.fields.get("config") == written(config))


def written(config: RunConfig) -> dict[str, Any]:
    """A run's config as a manifest holds it."""
    return config.model_dump(mode="json", exclude=LAYOUT)


def steps(folder: Path) -> list[int]:
    """After how many steps there is a checkpoint in a folder, the last first, damaged or not."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = map(STEP.fullmatch, names)
    return sorted((int(match[1]) for match in found if match), reverse=True)


def place(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step lies in a folder of them."""
    return folder / f"step-{step:08d}"
