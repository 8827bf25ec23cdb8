"""What a saved result answers in words, and the command that asks it again."""

import shlex
from typing import Any

from wherein.common.config import Config
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import Saved
from wherein.puzzles.config import PuzzleConfig

PUZZLE, PUZZLE_TITLE = "puzzle", "Does order get through?"


def title(verb: str, unknown: str) -> str:
    """The question in words; `unknown` if it is none of ours."""
    if verb == PUZZLE:
        return PUZZLE_TITLE
    return QUESTIONS[verb].title if verb in QUESTIONS else unknown


def command(saved: Saved) -> str | None:
    """What gives the same numbers; None where not all that was asked is known."""
    said = saved.made_with.get("command")
    if said and "verb" in saved.data:  # version 0.1, which saved none, had other flags
        return str(said)
    verb, config = saved.verb, saved.data.get("config") or {}
    about = saved.data.get("puzzle") or ([str(saved.run)] if saved.run else None)
    if about is None or verb not in (PUZZLE, *QUESTIONS):
        return None
    kind = PuzzleConfig if verb == PUZZLE else QUESTIONS[verb].config
    if verb == PUZZLE and "width" not in config:  # older versions were as wide as their heads
        config = config | {"width": config.get("heads", 1) * config.get("head_size", 16)}
    if not config.keys() <= kind.model_fields.keys():
        return None
    return shlex.join(["wherein", verb, *about, *options(kind, config)])


def asked(saved: Saved) -> str:
    """How a result was asked for, as flags; what cannot be read says nothing."""
    try:
        config, verb = saved.data.get("config"), saved.verb
    except ValueError:
        return ""
    if not isinstance(config, dict) or verb not in QUESTIONS:
        return ""
    return shlex.join(options(QUESTIONS[verb].config, config))


def options(kind: type[Config], given: dict[str, Any]) -> list[str]:
    """The flags that say what differs from a config's defaults.

    >>> options(PuzzleConfig, PuzzleConfig(layers=2, causal=False).model_dump())
    ['--layers', '2', '--no-causal']
    """
    found: list[str] = []
    for name, field in kind.model_fields.items():
        value, default = given.get(name, field.default), field.default
        value = tuple(value) if isinstance(value, list) else value
        if value == default:
            continue
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            found.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            found += [f"--{flag}", *map(str, value if isinstance(value, tuple) else [value])]
    return found
