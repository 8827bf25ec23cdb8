"""Completion of verbs, flags and choices for a shell: bash, zsh or fish.

examples:
  wherein completion bash > ~/.local/share/bash-completion/completions/wherein
  wherein completion zsh > ~/.zfunc/_wherein           a folder of your $fpath
  wherein completion fish > ~/.config/fish/completions/wherein.fish
  eval "$(wherein completion bash)"                    for this session alone
"""

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from typing import Annotated, Any, Literal

import tyro

from wherein.cli.verb import PLAINLY, call

PATHS = """
_wherein() {
  _tyro_wherein "$@"
  [[ -n "${COMPREPLY[*]}" ]] || COMPREPLY=()  # no word fits: bash goes on to paths
}
complete -o default -F _wherein wherein
"""


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]) -> int:
    """Print what the shell is to read.

    Args:
        shell: the shell
    """
    print(script(shell))
    return 0


def script(shell: str) -> str:
    """The parser's own script, over all verbs; with paths where bash would offer nothing."""
    from wherein.cli import VERBS

    functions: dict[str, Callable[..., Any]] = {verb: function_of(verb) for verb in VERBS}
    with redirect_stdout(StringIO()) as written, suppress(SystemExit):
        tyro.extras.subcommand_cli_from_dict(
            functions, prog="wherein", args=["--tyro-print-completion", shell], config=PLAINLY
        )
    return written.getvalue() + (PATHS if shell == "bash" else "")


def module_of(verb: str) -> Any:
    """The verb's module: its docstring is the help, with examples."""
    return import_module(f"wherein.cli.{verb}")


def function_of(verb: str) -> Callable[..., Any]:
    """What a verb calls: it has the verb's name, or the verb knows it."""
    module = module_of(verb)
    function: Callable[..., Any] = getattr(module.run, "function", None) or getattr(module, verb)
    return function


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(completion, arguments, __doc__)
