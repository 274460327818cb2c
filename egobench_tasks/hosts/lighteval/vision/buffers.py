"""Large tensors go from a worker to the run in shared memory that is filled again and again.

Fresh shared memory is pages that the kernel fills with zeros: for 1.2 GB of pixels that took a worker 1.0 to 4.4 s of
the kernel's time, more than the pixels themselves (`tests/bench/ahead.py`).
"""

import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from transformers import BatchFeature

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared, tensors_of
from egobench_tasks.texts import first_line

LARGE_BYTES = 2**20
"""Smaller tensors travel by themselves."""

_FREE, _TAKEN = 0, 1


@dataclass(frozen=True, slots=True)
class Lent:
    """A batch; ``states``: for each of its large tensors the shared byte by which its buffer is given back."""

    prepared: Prepared
    states: tuple[torch.Tensor, ...] = ()


@dataclass(frozen=True, slots=True)
class _Buffer:
    memory: torch.Tensor
    state: torch.Tensor

    @property
    def is_free(self) -> bool:
        return int(self.state[0]) == _FREE

    def fits(self, n_bytes: int) -> bool:
        return n_bytes <= self.memory.nbytes <= 2 * n_bytes

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage().data_ptr() == self.memory.untyped_storage().data_ptr()


class Buffers:
    """A worker's buffers, one a tensor. One is filled again only when the run holds nothing of it any longer."""

    def __init__(self) -> None:
        self._buffers: list[_Buffer] = []
        self._taken: list[_Buffer] = []

    def begin(self) -> None:
        """Begin a batch. What an earlier one took and did not send is free."""
        for buffer in self._taken:
            buffer.state.fill_(_FREE)
        self._taken = []

    def empty(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Return a tensor to be filled, as ``torch.empty`` does; a large one lies in a buffer."""
        n_bytes = math.prod(shape) * dtype.itemsize
        if n_bytes < LARGE_BYTES:
            return torch.empty(shape, dtype=dtype)
        buffer = self._free(n_bytes)
        buffer.state.fill_(_TAKEN)
        self._taken.append(buffer)
        return buffer.memory[:n_bytes].view(dtype).view(*shape)

    def lend(self, prepared: Prepared) -> Lent:
        """Return the batch with every large tensor in a buffer, lent until the run holds nothing of it."""
        if prepared.inputs is None:
            return Lent(prepared)
        inputs = BatchFeature({name: _each(value, self._placed) for name, value in prepared.inputs.items()})
        sent = [self._of(tensor) for tensor in tensors_of(list(inputs.values())) if tensor.nbytes >= LARGE_BYTES]
        self._taken = [buffer for buffer in self._taken if not any(buffer is one for one in sent)]
        self.begin()
        return Lent(replace(prepared, inputs=inputs), tuple(buffer.state for buffer in sent))

    def _placed(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the tensor in a buffer of its own: itself, where it was made there."""
        if tensor.nbytes < LARGE_BYTES or any(buffer.holds(tensor) for buffer in self._taken):
            return tensor
        return self.empty(tensor.shape, tensor.dtype).copy_(tensor)

    def _of(self, tensor: torch.Tensor) -> _Buffer:
        return next(buffer for buffer in self._taken if buffer.holds(tensor))

    def _free(self, n_bytes: int) -> _Buffer:
        """Return a free buffer that fits, or a new one; then those that are free and do not fit are dropped."""
        for buffer in self._buffers:
            if buffer.is_free and buffer.fits(n_bytes):
                return buffer
        new = _Buffer(_shared(n_bytes), _shared(1))
        self._buffers = [*(buffer for buffer in self._buffers if not buffer.is_free), new]
        return new


def _shared(n_bytes: int) -> torch.Tensor:
    # As PyTorch's own collate function does: `share_memory_` would fill memory of this process first, and copy it.
    try:
        storage = torch.UntypedStorage._new_shared(n_bytes)  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise EgobenchError(
            f"shared memory (/dev/shm) has no room for {n_bytes / 1e9:.1f} GB of a model's inputs "
            f"({first_line(error)}). What was answered is kept: run it again with a smaller batch_size, or with "
            "more of that memory (containers: --shm-size)"
        ) from error
    return torch.tensor([], dtype=torch.uint8).set_(storage)


def received(lent: Lent) -> Prepared:
    """Return a batch in the run's process, and see to it that each buffer goes back when nothing holds it there.

    What views a tensor, a slice or a NumPy array, holds its buffer as the tensor does: PyTorch keeps one Python object
    for a storage as long as anything needs the storage.
    """
    large = [tensor for tensor in _tensors(lent.prepared) if tensor.nbytes >= LARGE_BYTES] if lent.states else []
    for tensor, state in zip(large, lent.states, strict=True):
        weakref.finalize(tensor.untyped_storage(), state.fill_, _FREE).atexit = False
    return lent.prepared


def _tensors(prepared: Prepared) -> list[torch.Tensor]:
    return tensors_of(list(prepared.inputs.values())) if prepared.inputs is not None else []


def _each(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return [_each(one, change) for one in value] if isinstance(value, list | tuple) else value
