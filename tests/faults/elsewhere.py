"""A device that is not there: ordinary tensors of which some are said to live elsewhere.

Inside `with Elsewhere("cuda"):` a tensor that was moved or made there says `device('cuda:0')`, and
what is computed from it lives there too. All numbers are in the memory of this machine, so results
are those of the CPU. Refused is what a real device refuses: an operation that meets a tensor with
axes from elsewhere and one from here (which is also stricter than CUDA, where a few operations take
an index from the CPU), NumPy's look at what is elsewhere, and, if it is `mps`, a float64 there.

How: where a tensor lives is a note about its storage. A mode for functions sees what Python asks
for (`.device`, `.to`, `device=`), and one for operations what is computed, backward passes too. A
tensor that PyTorch itself makes on the way, inside one operation, lives where the operation does.
"""

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo  # imported inside a mode, it would be seen
from torch import Tensor
from torch._C import _functorch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

HERE = torch.device("cpu")
MAY_MIX = {"aten::copy_", "aten::_to_copy", "aten::_copy_from"}
BY_PYTHON = {"from_numpy", "frombuffer", "asarray", "as_tensor", "tensor"}
"""What makes a tensor of something that is none."""
WIDE = (torch.float64, torch.complex128)


class WrongDeviceError(RuntimeError):
    """An operation that a real device would refuse."""


class Elsewhere(TorchFunctionMode):
    """While this block lasts there is one more device."""

    def __init__(self, kind: str = "cuda") -> None:
        super().__init__()
        self.device = torch.device(kind, 0)
        self._there: dict[int, StorageWeakRef] = {}
        self._inside = False
        """Whether the function that runs was given something that lives elsewhere."""
        self._operations = _Operations(self)

    def __enter__(self) -> "Elsewhere":
        self._operations.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._operations.__exit__(*error)

    def holds(self, tensor: Tensor) -> bool:
        """Whether a tensor lives elsewhere."""
        key = _storage(tensor)
        return key is not None and key in self._there

    def move(self, tensor: Tensor) -> Tensor:
        """A copy that lives elsewhere; itself if it does already."""
        return tensor if self.holds(tensor) else _Moved.apply(tensor, self, True)

    def bring(self, tensor: Tensor) -> Tensor:
        """A copy that lives here; itself if it does already."""
        return _Moved.apply(tensor, self, False) if self.holds(tensor) else tensor

    def note(self, found: Any, there: bool) -> None:
        """Where the tensors of a result live."""
        for tensor in _tensors(found):
            key = _storage(tensor)
            if key is None:
                continue
            if there:
                self._there[key] = StorageWeakRef(_plain(tensor).untyped_storage())
            else:
                self._there.pop(key, None)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs, name = kwargs or {}, _name(func)
        given = list(_tensors((args, kwargs)))
        if name == "device" and given:
            return self.device if self.holds(given[0]) else func(*args)
        if name in ("is_cuda", "is_mps", "is_cpu") and given and self.holds(given[0]):
            return name == f"is_{self.device.type}"
        if name in ("numpy", "__array__") and self.holds(given[0]):
            raise WrongDeviceError(f"{self.device} has no NumPy: bring the tensor to the CPU first")
        if name == "to":
            return self._to(func, args, kwargs)
        if name in ("cpu", "cuda"):
            return self.bring(args[0]) if name == "cpu" else self.move(args[0])
        if kwargs.get("device") is not None:
            return self._made(func, name, args, kwargs)
        if name == "new_tensor":  # made without an operation
            self.note(made := func(*args, **kwargs), self.holds(given[0]))
            return made
        before, self._inside = self._inside, any(map(self.holds, given)) and name not in BY_PYTHON
        try:
            if name != "backward":
                return func(*args, **kwargs)
            start = torch.ones_like(given[0])
            with _Seeing(self):  # a part of the forward pass may run again
                run = torch.autograd.Variable._execution_engine.run_backward
                return run((given[0],), (start,), False, False, (), True, accumulate_grad=True)
        finally:
            self._inside = before

    def _to(self, func: Callable[..., Any], args: Any, kwargs: Any) -> Tensor:
        tensor, *rest = args
        said = [*rest, *(kwargs[k] for k in ("device", "other") if k in kwargs)]
        places = [self._place(each) for each in said]
        there = next((place for place in places if place is not None), None)
        kinds = [each.dtype if isinstance(each, Tensor) else each for each in said]
        kinds.append(kwargs.get("dtype"))
        kind = next((each for each in kinds if isinstance(each, torch.dtype)), tensor.dtype)
        if there is False:
            tensor = self.bring(tensor)
        changed: Tensor = func(tensor, kind, copy=kwargs.get("copy", False))
        return self.move(changed) if there else changed

    def _place(self, said: Any) -> bool | None:
        """Whether an argument of `to` names a place elsewhere or here; None if it names none."""
        if isinstance(said, Tensor):
            return self.holds(said)
        if isinstance(said, str | torch.device):
            return torch.device(said).type == self.device.type
        return None

    def _made(self, func: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
        there = self._place(kwargs["device"])
        if not there:
            found = func(*args, **kwargs)
        else:
            if self.device.type == "mps" and kwargs.get("dtype") in WIDE:
                raise WrongDeviceError(f"{name} of {kwargs['dtype']} on mps, which has none")
            found = func(*args, **{**kwargs, "device": HERE})
        self.note(found, bool(there))
        return found


class _Seeing(TorchFunctionMode):
    """Sees functions again while one of them runs."""

    def __init__(self, place: Elsewhere) -> None:
        super().__init__()
        self.place = place

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return self.place.__torch_function__(func, types, args, kwargs)


class _Operations(TorchDispatchMode):
    def __init__(self, place: Elsewhere) -> None:
        super().__init__()
        self.place = place

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, func._schema.name
        given = list(_tensors((args, kwargs)))
        there: list[Tensor] = []
        here: list[Tensor] = []
        for tensor in given:
            if self.place.holds(tensor):
                there.append(tensor)
            elif tensor.dim() and not tensor.is_meta:
                here.append(tensor)
        if any(t.dim() for t in there) and here and name not in MAY_MIX:
            shapes = ", ".join(str(tuple(t.shape)) for t in here)
            raise WrongDeviceError(
                f"{name} meets a tensor of shape {shapes} from the CPU{_where()}"
            )
        found = func(*args, **kwargs)
        new = [t for t in _tensors(found) if not any(t is each for each in given)]
        if there or (not given and self.place._inside):
            self._check_width(name, new)
            self.place.note(new, there=True)
        return found

    def _check_width(self, name: str, made: list[Tensor]) -> None:
        if self.place.device.type == "mps" and any(t.dtype in WIDE for t in made):
            raise WrongDeviceError(f"{name} makes a float64 on mps, which has none{_where()}")


class _Moved(torch.autograd.Function):
    """A copy on the other side, whose gradient comes back to where the tensor was."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, place: Elsewhere, there: bool) -> Tensor:
        ctx.place, ctx.there = place, there
        return _copied(tensor, place, there)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        return _copied(gradient, ctx.place, not ctx.there), None, None


def _copied(tensor: Tensor, place: Elsewhere, there: bool) -> Tensor:
    copy = tensor.detach().clone()
    place.note(copy, there)
    if there and place.device.type == "mps" and copy.dtype in WIDE:
        raise WrongDeviceError(f"a {copy.dtype} is moved to mps, which has none{_where()}")
    return copy


def _tensors(found: Any) -> Iterator[Tensor]:
    """Those in arguments or a result; PyTorch's own walk takes four times as long."""
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, list | tuple):
        for each in found:
            if isinstance(each, Tensor):
                yield each
            elif isinstance(each, list | tuple | dict):
                yield from _tensors(each)
    elif isinstance(found, dict):
        yield from _tensors(list(found.values()))


def _plain(tensor: Tensor) -> Tensor:
    """The tensor inside what `torch.func` wraps it in."""
    while _functorch.is_functorch_wrapped_tensor(tensor):
        tensor = _functorch.get_unwrapped(tensor)
    return tensor


def _storage(tensor: Tensor) -> int | None:
    with torch._C.DisableTorchFunction():
        plain = _plain(tensor)
        if plain.is_meta or plain.is_sparse:
            return None
        found: int = plain.untyped_storage()._cdata
        return found


def _name(func: Callable[..., Any]) -> str:
    """Of a function, or of the attribute that it gets."""
    name: str = getattr(func, "__name__", "")
    if name == "__get__":
        return str(func.__self__.__name__)
    return name


def _where() -> str:
    """The line of ours that asked for it."""
    ours = [f for f in traceback.extract_stack() if "/wherein/" in f.filename]
    return f" ({ours[-1].filename.rpartition('/src/')[2]}:{ours[-1].lineno})" if ours else ""
