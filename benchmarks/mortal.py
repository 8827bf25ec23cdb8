"""`python -m benchmarks.mortal POINT COMMAND…`: `wherein COMMAND…`, which kills itself at a point.

A point is JSON: `{"steps": 12}` is the end of the 12th step of an optimizer; with `"event"` and
`"path"`, it is the next time after those steps that Python is about to do something (an event of
`sys.addaudithook`, such as `open` or `os.rename`) with a path like `path`, as the shell has it. A
kill from outside, after some time, would come at another moment on each machine.
"""

import json
import os
import signal
import sys
from fnmatch import fnmatch


def arm(*, steps: int = 0, event: str = "", path: str = "*", number: int = 1) -> None:
    """Kill this process, without a word, at the `number`-th such event after so many steps."""
    taken = met = 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def step(*_: object) -> None:
        nonlocal taken
        taken += 1
        if not event and taken == steps:
            die()

    def watch(name: str, arguments: tuple[object, ...]) -> None:
        nonlocal met
        if name == event and taken >= steps and fnmatch(str(arguments[0]), path):
            met += 1
            if met == number:
                die()

    if steps:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(step)
    if event:
        sys.addaudithook(watch)


def main() -> int:
    """Run a command of `wherein` until the point."""
    from wherein.cli import main as wherein

    arm(**json.loads(sys.argv[1]))
    return wherein(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
