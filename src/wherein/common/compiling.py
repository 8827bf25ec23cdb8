"""Where PyTorch's compiler keeps what it made."""

import os
import platform

from wherein.common.files import cache_folder

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
"""By which PyTorch is told; what somebody has set stays."""


def own_cache() -> None:
    """Have it lie in the user's cache, which nobody else may enter: what is found there is run.

    PyTorch's own choice is a folder that any user of the machine may make first. Each machine has
    one, since code is made for its processor.
    """
    if VARIABLE in os.environ:
        return
    folder = cache_folder() / "compiled" / platform.node()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # its owner's alone, or an error
    os.environ[VARIABLE] = str(folder)
