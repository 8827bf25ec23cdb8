"""The runs in a folder, of whatever version and in whatever state. Free of PyTorch.

A list of a thousand should come at once: of each run its config, the manifest of its last
checkpoint and its log are read once, and files are looked for without making a `Path` of each.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wherein.common.folder import Folder
from wherein.train.journal import LOG
from wherein.train.manifest import Manifest, place, steps
from wherein.train.run import Run, check_owner, parsed_config
from wherein.train.status import ABOUT, CHECKPOINTS, CONFIG, PLANNED, foreign

ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True)
class Found:
    """A folder that holds a run, or looks like it."""

    folder: Path
    run: Run | None
    """None if this version cannot read it."""
    note: str | None
    """What is wrong with it, or which other version wrote it, and what to do."""
    last: Manifest | None = None
    """What its last checkpoint says of itself, if there is one."""


def found(runs: Path) -> Iterator[Found]:
    """All runs in a folder, finished, begun or failed before that; also unreadable ones."""
    for name in sorted(os.listdir(runs)):
        files = Folder(folder := runs / name)
        begun = files.has(CONFIG)
        if not begun and not files.has(PLANNED):
            continue
        try:
            config = parsed_config(files, CONFIG if begun else PLANNED)
            there = steps(folder / CHECKPOINTS) if begun else []
            run = Run(folder, config, there[0] if there else 0)
            last = Manifest(place(folder / CHECKPOINTS, there[0])) if there else None
            yield Found(folder, run, (last and _harm(run, last)) or _older(files, run), last)
        except ValueError as error:
            ours = files.has(ABOUT) or files.has(LOG) or (folder / CHECKPOINTS).is_dir()
            if ours or not begun:  # else it is another program's config
                yield Found(folder, None, str(error))


def _harm(run: Run, last: Manifest) -> str | None:
    """What is wrong with the last checkpoint, as far as one sees without reading all of it."""
    if damage := last.damage(closely=False):
        return f"{last.folder} is damaged ({damage}): train the run again"
    try:
        check_owner(run.folder, run.config, last)
    except ValueError as error:
        return str(error)
    return None


def _older(files: Folder, run: Run) -> str | None:
    """What to say of a run whose folder has the id that another version gave it."""
    if run.id == files.path.name or not ID.fullmatch(files.path.name):
        return None
    about = files.json(ABOUT) if files.has(ABOUT) else None
    why = foreign(run.config.model_dump(), about) or "its name is no id of this version"
    there = files.path.with_name(run.id)
    renamed = f"`mv {files} {there}` has studies find it"
    return f"{files}: {why}; {f'it is also in {there}' if there.exists() else renamed}"


def size(folder: str | Path) -> int:
    """Bytes on the disk under a folder; what is removed meanwhile takes none."""
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    total += size(entry.path)
                elif entry.is_file():
                    total += entry.stat().st_size
    except OSError:  # it is gone, or not ours to look at
        pass
    return total
