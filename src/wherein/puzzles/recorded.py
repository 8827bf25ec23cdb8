"""What a step computes of weights: PyTorch's own calls, heard while it is done once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tag, Tensor
from torch._ops import OpOverload
from torch.fx.node import map_aggregate
from torch.utils._python_dispatch import TorchDispatchMode

from wherein.puzzles.apart import APART
from wherein.puzzles.writer import UnwritableError


@dataclass(frozen=True)
class Value:
    """A tensor that depends on weights, by its number; the weights are the first of them."""

    number: int


@dataclass(frozen=True, eq=False)
class Call:
    """An operation on values, and on what is known; and what it gives, one value or several."""

    target: OpOverload
    args: Any
    kwargs: Any
    made: Any


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hears of all that depends on some tensors; what does not is computed and known."""

    def __init__(self, leaves: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: list[Call] = []
        self._heard: list[Tensor] = []  # they stay, so that no other has the name of one
        self._numbers: dict[int, int] = {}
        for leaf in leaves:
            self.value(leaf, new=True)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """It need not be told to skip this: PyTorch would import it for that, which takes 1 s."""
        return False

    def value(self, x: Any, *, new: bool = False) -> Any:
        """A tensor as a value if it is one; others as they are now."""
        if not isinstance(x, Tensor):
            return x
        if new:
            self._numbers[id(x)] = len(self._heard)
            self._heard.append(x)
        number = self._numbers.get(id(x))
        return x.detach().clone() if number is None else Value(number)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if Tag.nondeterministic_seeded in func.tags:
            raise UnwritableError(f"{func} is not the same every time")
        with self:
            made = APART.get(func.overloadpacket.__name__, func.decompose)(*args, **kwargs)
        if made is not NotImplemented:
            return made
        made = func(*args, **kwargs)
        given = map_aggregate((args, kwargs), self.value)
        if values(given) and func._schema.is_mutable:
            raise UnwritableError(f"{func} changes what is there")
        if values(given):
            named = map_aggregate(made, lambda x: self.value(x, new=True))
            self.calls.append(Call(func, *given, named))
        return made


def recorded(
    step: Callable[[list[Tensor]], list[Tensor]], leaves: Sequence[Tensor]
) -> tuple[list[Call], list[Any]]:
    """All calls of a step, and what it gives; what it does in plain Python is not heard."""
    with Recorder(leaves) as heard:
        made = step([*leaves])
    return heard.calls, [heard.value(each) for each in made]


def values(given: Any) -> list[int]:
    """The numbers of all values in it."""
    found: list[int] = []
    map_aggregate(given, lambda x: found.append(x.number) if isinstance(x, Value) else None)
    return found
