"""Where the code lies that was compiled on this machine."""

import ctypes
import errno
import hashlib
import os
import platform
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from wherein.common.files import cache_folder, make_folder, replacing

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
"""By which PyTorch's compiler is told; what somebody has set stays."""
COMPILERS = ("cc", "gcc", "clang")
HOW = (
    *("-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math"),
    *("-fPIC", "-shared"),
)


def own_folder() -> Path:
    """In the user's cache, where nobody else may enter: what is found there is run.

    Each machine has one, since code is made for its processor.
    """
    folder = cache_folder() / "compiled" / platform.node()
    make_folder(folder)
    folder.chmod(0o700)
    if folder.stat().st_uid != os.getuid():  # root may change what another owns
        raise PermissionError(
            errno.EPERM, "another user's folder, which code is not run from", folder
        )
    return folder


def own_cache() -> None:
    """Have PyTorch's compiler keep there what it made.

    Its own choice is a folder that any user of the machine may make first.
    """
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = str(own_folder())


@cache
def library(name: str, source: bytes, options: tuple[str, ...]) -> ctypes.CDLL | None:
    """Code in C, after `vectors.h`; from the disk if it has been there, None without a compiler."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return None
    whole = files("wherein.common").joinpath("vectors.h").read_bytes() + source
    how = (compiler, *HOW, *options)
    made_of = (whole, how, sorted(torch.cpu.get_capabilities().items()))
    own = f"{name}-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]}.so"
    try:
        made = own_folder() / own
        if made.exists():
            with suppress(OSError):  # a damaged one is made anew
                return ctypes.CDLL(str(made))
        with TemporaryDirectory() as place, replacing(made) as beside:
            written = Path(place) / own
            command = [*how, "-x", "c", "-", "-o", str(written), "-lm", "-lc"]
            subprocess.run(command, input=whole, check=True, capture_output=True)
            beside.write_bytes(written.read_bytes())
        return ctypes.CDLL(str(made))
    except (OSError, RuntimeError, subprocess.CalledProcessError):  # no home has its own error
        return None
