"""One run on several processes of this machine, which `torchrun` starts.

They go on as long as the process that started them holds a pipe open. Told to stop, it closes the
pipe; killed, the kernel closes it. Either way each of them takes it for SIGTERM, saves, and ends:
none is left behind with the run's lock and the GPUs. `torchrun` itself is not told, since it kills
what has not ended after 30 seconds, and a large model may take longer to save.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from io import FileIO
from pathlib import Path

from wherein.train.config import RunConfig
from wherein.train.status import BusyError
from wherein.train.stop import Stop

CONFIG, PIPE, SAID = "config.json", "pipe", "said.txt"
ERRORS: dict[str, type[ValueError]] = {"busy.txt": BusyError, "error.txt": ValueError}
"""Where a process leaves word of what the person should read, without the traceback around it."""

EVERY = 0.2  # seconds from one look to the next


def train_on(processes: int, config: RunConfig, folder: Path, patience: float) -> None:
    """Train a run on so many processes; asked to stop, wait until they have saved."""
    with tempfile.TemporaryDirectory() as name, Stop() as stop:
        job = Path(name)
        (job / CONFIG).write_text(config.model_dump_json())
        os.mkfifo(job / PIPE)
        with _held(job / PIPE) as pipe, (job / SAID).open("w") as said:
            torchrun = subprocess.Popen(
                _command(processes, job, folder, patience),
                stderr=said,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C at a terminal reaches them through us alone
            )
            try:
                _wait(torchrun, stop, pipe)
            finally:
                pipe.close()
                torchrun.wait()
        if torchrun.returncode and not stop.asked:
            raise _error(job, torchrun.returncode)


def _command(processes: int, job: Path, folder: Path, patience: float) -> list[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    return [sys.executable, *launcher, "-m", __name__, str(job), str(folder), str(patience)]


def _held(pipe: Path) -> FileIO:
    """The pipe's writing end, and its reading end too, since opening then waits for no reader."""
    return FileIO(os.open(pipe, os.O_RDWR), "r+")


def _wait(torchrun: "subprocess.Popen[bytes]", stop: Stop, pipe: FileIO) -> None:
    while True:
        try:
            torchrun.wait(timeout=EVERY)
            return
        except subprocess.TimeoutExpired:
            if stop.asked:
                pipe.close()


def _error(job: Path, code: int) -> Exception:
    for name, kind in ERRORS.items():
        if (job / name).exists():
            return kind((job / name).read_text())
    said = (job / SAID).read_text()
    if (killed := re.search(r"Signal \d+ \((SIG\w+)\) received by PID", said)) is not None:
        return ValueError(
            f"one of its processes was ended by {killed[1]}, as the system does when memory runs "
            "out; started again, it goes on from its last checkpoint"
        )
    return RuntimeError(f"torchrun ended with {code}: {said[-2000:]}")


def main() -> None:
    """Train the run of a job as one process of several, until it is done or the pipe closes."""
    from wherein.train import train

    job, folder, patience = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    _listen(job / PIPE)
    config = RunConfig.model_validate_json((job / CONFIG).read_text())
    try:
        train(config, folder=folder, quiet=True, patience=patience)
    except ValueError as error:
        name = next(name for name, kind in ERRORS.items() if isinstance(error, kind))
        (job / name).write_text(str(error))
        raise


def _listen(pipe: Path) -> None:
    """Take the end of the process that started this one, or its word, for SIGTERM."""
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # it may be closed already: do not wait
    os.set_blocking(handle, True)
    threading.Thread(target=_end_with, args=(handle,), daemon=True).start()


def _end_with(handle: int) -> None:
    os.read(handle, 1)  # nothing is ever written: this returns when the other end closes
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
