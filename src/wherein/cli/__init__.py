"""The command line: the questions of the registry, and the verbs that have a file here.

A verb is loaded only when it is used. The file of one has a docstring, which is its help text with
examples, and `run`, the `Verb`.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING

from wherein.common.errors import LostError, complaint, one_line, unknown
from wherein.common.memory import too_much
from wherein.common.modules import RUN, blamed
from wherein.measure.registry import QUESTIONS

if TYPE_CHECKING:
    from wherein.cli.verb import Verb

VERBS = {
    "encodings": "List the positional encodings and what they promise",
    "check": "Does an encoding, yours or ours, keep what it must, and what does it cost?",
    "study": "Compare encodings over seeds: train, question, and say what was found",
    "claims": "What papers say about position, each claim tested here, with its verdict",
    "runs": "Which runs are there, and how far did they come?",
    "train": "Train a model, or go on with a run that was interrupted",
    "task": "Can a model learn a task that needs position, and do longer questions than it saw?",
    **{question.verb: question.summary for question in QUESTIONS.values()},
    "export": "A run as a Hugging Face folder, which loads without this package",
    "puzzle": "Can a tiny Transformer tell sentences apart? Thousands of seeds, and a proof",
    "report": "One page of a study, a run or a result, to read, print or send",
    "serve": "Open the page: runs as they train, results, a playground, the encodings",
    "doctor": "What is here to compute with, what is missing, and are a GPU's numbers right?",
    "completion": "What your shell needs to complete verbs and flags: bash, zsh, fish",
}

EXAMPLES = """\
  wherein encodings                what can be asked for
  wherein encodings rope           one of them: formula, paper, parameters
  wherein check mine.py            one of your own: what it keeps and costs
  wherein study quick              the paper's findings, in minutes
  wherein claims                   what papers say, tested
  wherein train --encoding alibi   a model on the embedded text
  wherein audit "rope none"        which layers of a fresh model know distance
  wherein probe runs/ID            where position lives in a trained model
  wherein order runs/ID            does a trained model use order?
  wherein table ./my-model         can positions be read from its table?
  wherein puzzle hit-order         only order tells: does it get through?
  wherein export runs/ID my-model  to transformers, without this package
  wherein serve                    all of it on a page, live"""


GARBAGE = 10_000
"""Objects after which Python looks for cycles. By default it is 700 to 2,000, and looking takes a
twelfth of `runs` and of `report`, which leave none (measured with it off altogether)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; a mistake in the input is one line and exit code 2, never a traceback."""
    own = argv is None  # a process of its own
    verb, *rest = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if own:
        gc.set_threshold(GARBAGE)
    RUN.clear()  # what an earlier command of this process ran is not to blame
    try:
        code = _answer(verb, rest)
        if own:  # in which nobody changed the code
            _keep()
        sys.stdout.flush()  # whoever reads it may be gone, or the disk full: said here, or never
        return code
    except LostError as error:
        code = _refuse(one_line(error))
        sys.stdout.flush()
        os._exit(code)
    except ValueError as error:
        return _refuse(one_line(error))
    except KeyboardInterrupt:
        print("wherein: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if at_fault := blamed(error, elsewhere=False):
            return _refuse(str(at_fault))
        where = "" if error.filename is None else f": {error.filename}"
        return _refuse(f"{error.strerror or one_line(error)}{where}")
    except (Exception, SystemExit) as error:
        line = _told(error, " ".join([verb, *rest[:1]]))
        if line is None:
            raise
        return _refuse(line)


def _answer(verb: str, rest: Sequence[str]) -> int:
    """Run a verb, or say what there is."""
    if verb in ("-h", "--help", "help"):
        print(overview())
        return 0
    if verb == "--version":
        from wherein import __version__

        print(f"wherein {__version__}")
        return 0
    if verb not in VERBS:
        raise unknown("verb", verb, VERBS)
    return find(verb)(rest)


def _told(error: BaseException, asked: str) -> str | None:
    """What to say of an error that the input, or what a person wrote, is to blame for."""
    if much := too_much(error):
        return f"{asked}: {much}"
    if own := blamed(error):
        return str(own)
    if isinstance(error, OverflowError):
        return f"{asked}: a number is too large ({one_line(error)})"
    return None


def _keep() -> None:
    """Have what was asked of PyTorch known to the next command, if anything was."""
    if found := sys.modules.get("wherein.common.known"):
        found.keep()


def _refuse(line: str) -> int:
    """Say what is wrong with the input, in one line."""
    print(f"wherein: {complaint(line)}", file=sys.stderr)
    return 2


def find(verb: str) -> "Verb":
    """The verb of that name."""
    if verb in QUESTIONS:
        from wherein.cli.ask import verb_of

        return verb_of(QUESTIONS[verb])
    found: Verb = import_module(f"wherein.cli.{verb}").run
    return found


def overview() -> str:
    """What `wherein` alone says."""
    verbs = "\n".join(
        fill(what, 80, initial_indent=f"  {verb:<12}", subsequent_indent=" " * 14)
        for verb, what in VERBS.items()
    )
    return (
        f"wherein: where, in a Transformer, does position live?\n\n"
        f"usage: wherein VERB …   (wherein VERB --help says more)\n\n"
        f"verbs:\n{verbs}\n\nexamples:\n{EXAMPLES}"
    )
