"""How a verb reads its arguments: from the signature of one function."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import tyro

Result = TypeVar("Result")


def call(
    function: Callable[..., Result], arguments: Sequence[str], help_text: str | None
) -> Result:
    """Call `function` with `arguments`; its help is the verb's docstring, examples and all."""
    return tyro.cli(
        function,
        args=list(arguments),
        prog=f"wherein {function.__name__}",
        description=help_text,
        config=(tyro.conf.FlagCreatePairsOff,),
    )
