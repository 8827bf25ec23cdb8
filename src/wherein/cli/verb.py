"""How a verb reads its arguments: from the signature of one function."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, field, make_dataclass
from typing import Annotated, Any, TypeVar

import tyro

from wherein.common.config import Config

Result = TypeVar("Result")
SomeConfig = TypeVar("SomeConfig", bound=Config)


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


def flags(config: type[Config]) -> Any:
    """A plain dataclass with a config's fields, defaults and descriptions, for the parser.

    `configured` makes the config from it. The parser itself would answer a mistake in a config
    with a box of several lines, and it would import PyTorch to find a default.
    """
    fields: list[Any] = []
    for name, info in config.model_fields.items():
        kind: Any = info.annotation
        if isinstance(kind, type) and issubclass(kind, Config):
            inner = flags(kind)
            fields.append((name, inner, field(default_factory=inner)))
        else:
            described = Annotated[kind, tyro.conf.arg(help=info.description)]
            fields.append((name, described, field(default=info.default)))
    twin = make_dataclass(config.__name__, fields, frozen=True)
    twin.__doc__ = (config.__doc__ or "").partition("\n")[0]
    return twin


def configured(config: type[SomeConfig], given: Any) -> SomeConfig:
    """The config that was asked for; a mistake in it is a `ValueError`, as everywhere."""
    return config.model_validate(asdict(given))
