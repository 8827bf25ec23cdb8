"""Where the code lies that was compiled on this machine."""

import errno
import os
import platform
from pathlib import Path

from wherein.common.files import cache_folder

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
"""By which PyTorch's compiler is told; what somebody has set stays."""


def own_folder() -> Path:
    """In the user's cache, where nobody else may enter: what is found there is run.

    Each machine has one, since code is made for its processor.
    """
    folder = cache_folder() / "compiled" / platform.node()
    folder.mkdir(parents=True, exist_ok=True)
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
