"""The table: an overload of core ATen, and the function that says it in StableHLO.

A row's function has the builder and the overload's arguments, tensors among them as values; keywords that it does not
take mean nothing here (layout, device, memory). `made` is PyTorch's own word of the result: its type and shape; `used` says of several which are read."""

import importlib
import inspect

import torch

from .builder import Unsupported

ROWS = {}
IGNORED = ("layout", "device", "pin_memory", "non_blocking", "memory_format", "sparse_grad", "sparse", "implicit")
FILES = ("creation", "elements", "bessel", "distributions", "movement", "reductions", "products", "systems", "windows", "resizing", "norms", "indexing", "quantized", "recurrent")


def row(*names):
    """The decorated function is the row of these overloads, "add.Tensor", "relu" or "prims.where"."""

    def add(function):
        accepts = set(inspect.signature(function).parameters)
        for name in names:
            if name.startswith("quantized_decomposed."):
                key = name
            elif name.startswith(("prims.", "polyblocks.")):
                key = f"{name}.default"
            else:
                key = f"aten.{name}" if "." in name else f"aten.{name}.default"
            assert key not in ROWS, key
            ROWS[key] = (function, accepts)
        return function

    return add


def load():
    for file in FILES:
        importlib.import_module(f".{file}", __package__)
    return ROWS


def lower(b, target, args, kwargs, made, used=None):
    """The values that an overload makes of its arguments."""
    function, accepts = ROWS[str(target)]
    taken = {}
    for argument, value in zip(target._schema.arguments, args):
        taken[argument.name] = value
    for argument in target._schema.arguments[len(args) :]:
        if argument.name in kwargs or argument.has_default_value():
            taken[argument.name] = kwargs.get(argument.name, argument.default_value)
    tensors = [argument.name for argument in target._schema.arguments if argument.type.kind() == "TensorType"]
    if len(tensors) == 1 and isinstance(taken.get(tensors[0]), (bool, int, float)):  # a number in a tensor's place, as vmap leaves them
        number = taken[tensors[0]]
        taken[tensors[0]] = b.constant(number, torch.tensor(number).dtype)
    positional, named = [], {}
    for argument in target._schema.arguments:
        if argument.name in IGNORED or argument.name not in taken:
            continue
        if argument.kwarg_only:
            if argument.name in accepts:
                named[argument.name] = taken[argument.name]
            elif argument.name not in ("dtype", "generator") and taken[argument.name] is not None:
                raise Unsupported(f"its argument {argument.name}")
        else:
            positional.append(taken[argument.name])
    if "made" in accepts:
        named["made"] = made
    if "used" in accepts:
        named["used"] = used
    return function(b, *positional, **named)
