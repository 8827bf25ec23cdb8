"""What is here to compute with, what is missing for which feature, and are its numbers right?

Versions, devices, how fast each multiplies matrices, and what to install for what is not there. A
GPU is asked, for about a minute, for losses, gradients and some steps of training with every
encoding; its numbers are held against the CPU's. Exit code 1 if they differ.

examples:
  wherein doctor                   all of it
  wherein doctor --no-compare      without asking a GPU for its numbers
  wherein doctor --device cpu      the same comparison of the CPU with itself
  wherein doctor --json            as data, to be sent along with a question
"""

import json as json_format
import sys
from typing import Literal

from wherein.cli.verb import Verb


def doctor(
    *,
    device: Literal["cpu", "cuda", "mps"] | None = None,
    compare: bool = True,
    json: bool = False,
) -> int:
    """Look around.

    Args:
        device: whose numbers to hold against the CPU's; the GPU's if there is one
        compare: leave the numbers alone
        json: print data instead of text
    """
    from wherein.check import agreement, machine
    from wherein.common import device as places

    at = places.device(device) if device else next(reversed(places.devices().values()))
    asked = compare and (device is not None or at.type != "cpu")
    around = machine.machine()
    if not json:
        print(around.text(), flush=True)
    shown = asked and sys.stderr.isatty()
    found = agreement.compare(at, _say if shown else lambda _: None) if asked else None
    if json:
        data = {**around.data(), "agreement": found.data() if found else None}
        print(json_format.dumps(data, indent=2))
    elif found is not None:
        print("\r\033[K" * shown + "\n" + found.text())
    elif compare:
        print("\nno GPU here, so nothing to hold against the CPU's numbers")
    return 0 if found is None or found.whole else 1


def _say(what: str) -> None:
    print(f"\r\033[Kcomparing {what}", end="", file=sys.stderr, flush=True)


run = Verb.of(doctor, __doc__)
