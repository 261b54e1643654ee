"""Arguments as memory: NumPy arrays, whatever has the buffer protocol or DLPack, and numbers; without a copy where one is
dense, row-major and of the type that is asked for."""

import ctypes
import sys

import numpy as np

from . import dtypes
from .errors import ArgumentError

# PyTorch's types by the names that libpb has; those that NumPy lacks go over as integers of their size.
TORCH_BITS = {"bfloat16": ("int16", "bf16"), "float8_e5m2": ("uint8", "f8E5M2"), "float8_e4m3fn": ("uint8", "f8E4M3FN")}


_addressof, _from_buffer = ctypes.addressof, ctypes.c_char.from_buffer


def address(array):
    """Where a NumPy array lies: a quarter of the time that its __array_interface__ takes, where it may be written to."""
    try:
        return _addressof(_from_buffer(array))
    except (TypeError, ValueError, BufferError):
        return array.__array_interface__["data"][0]


def from_torch(tensor):
    """A NumPy view of a PyTorch tensor's memory."""
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        raise ArgumentError(f"a tensor on {tensor.device}: tensors lie in the system's memory (tensor.cpu())")
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    kind = str(tensor.dtype).removeprefix("torch.")
    if kind not in TORCH_BITS:
        return tensor.numpy()
    import torch

    bits, name = TORCH_BITS[kind]
    return tensor.contiguous().view(getattr(torch, bits)).numpy().view(dtypes.numpy_type(name))


def as_numpy(value):
    """The value as a NumPy array, of the same memory wherever that can be."""
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return from_torch(value)
    if isinstance(value, (bool, int, float, complex, np.generic)) or hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    try:
        return np.asarray(memoryview(value))
    except TypeError:
        pass
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    raise ArgumentError(f"{type(value).__name__} is no array: it has neither the buffer protocol nor DLPack")


def is_number(value):
    return isinstance(value, (bool, int, float, complex))


def fitted(value, info):
    """The value as a dense array for the tensor `info`; ArgumentError: it is of another type or shape."""
    array = as_numpy(value)
    if is_number(value):
        array = _number(value, info)
    if array.dtype != info.dtype:
        if array.dtype.itemsize != info.dtype.itemsize or info.dtype.kind in "biufc" and array.dtype.kind in "biufc":
            raise ArgumentError(f"{info.name!r} takes {info.dtype}, not {array.dtype}")
        array = array.view(info.dtype)  # the same bits: bfloat16 as integers, say
    if len(array.shape) != len(info.shape) or any(want not in (-1, got) for want, got in zip(info.shape, array.shape)):
        raise ArgumentError(f"{info.name!r} takes {shape_text(info.shape)}, not {shape_text(array.shape)}")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)


def _number(value, info):
    array = np.asarray(value)
    if not isinstance(value, complex) or info.dtype.kind == "c":
        with np.errstate(all="ignore"):
            array = array.astype(info.dtype)
    exact = array == value and array.dtype == info.dtype
    if not exact and not (isinstance(value, (float, complex)) and info.dtype.kind in "fcV" and array.dtype == info.dtype):
        raise ArgumentError(f"{info.name!r} takes {info.dtype}, which has no {value!r}")
    return array


def shape_text(shape):
    return "a number" if len(shape) == 0 else "x".join("?" if extent < 0 else str(extent) for extent in shape)


def flatten(value, path=""):
    """The arrays in nested tuples, lists and dicts, in their order, each with where it is; None is none."""
    if value is None:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flatten(item, f"{path}[{key!r}]")
    elif isinstance(value, tuple) or (isinstance(value, list) and not all(is_number(item) for item in value)):
        for k, item in enumerate(value):
            yield from flatten(item, f"{path}[{k}]")
    else:
        yield path, value
