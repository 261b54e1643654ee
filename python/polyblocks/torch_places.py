"""Where tensors and modules that a function uses are held: in modules, in attributes, under names that it reads. A program reads them there at
each call, and two names of one tensor are one input of it."""

import functools
import inspect
import types

import torch
from torch.nn.modules import module as module_hooks

from .errors import ArgumentError, PolyBlocksError
from .held_numbers import Cell, is_full, names_of
from .torch_state import OWN, objects_of, plain_tensors

PLAIN = (torch.Tensor, torch.nn.Parameter)  # of which no other type stands for one


@functools.lru_cache(maxsize=None)
def is_plain(kind_):
    """Whether a class of tensors leaves to PyTorch what operators make of them, and has memory of its own."""
    function = getattr(kind_.__torch_function__, "__func__", kind_.__torch_function__)
    usual = (torch.Tensor.__torch_function__.__func__, torch.Tensor.__torch_dispatch__, torch.nn.Parameter.__torch_function__)
    return function in usual and kind_.__torch_dispatch__ in usual


def refuse_own_kind(tensor):
    if not is_plain(type(tensor)):
        raise ArgumentError(f"{type(tensor).__name__} is a tensor whose class says itself what operators do: what is compiled takes plain ones")


class Places(list):
    """Where values are held. A list would be a nest for torch.export, which puts copies of nests into the attributes of what it exports."""


def read_by(function):
    """What a function closes over or names: where it is held, its name there, and what it is."""
    inner = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(inner, "__code__", None)
    if isinstance(function, torch.nn.Module) or code is None:
        return []
    cells = [(Cell(cell), name, cell.cell_contents) for name, cell in zip(code.co_freevars, inner.__closure__ or ()) if is_full(cell)]
    return cells + [(inner.__globals__, name, inner.__globals__[name]) for name in names_of(code) if name in inner.__globals__]


OF_ALL_MODULES = [module_hooks._global_forward_hooks, module_hooks._global_forward_pre_hooks]


def ties(ids):
    """For each of them the first that is the same, -1 where there is none of it."""
    first = {id(None): -1}
    return [first.setdefault(one, k) for k, one in enumerate(ids)]


def same_places(holder):
    """Places beside those of modules' parameters and buffers at which a tensor is held that others hold too, or that lies as one of theirs: pairs of
    one tensor, and places with what they hold. A program reads such a tensor at one place."""
    owners = [module for module in holder.modules() if module is not holder] + holder.plain_owner()
    places = [(part, name, t) for m in owners if isinstance(m, torch.nn.Module) for part in (m._parameters, m._buffers) for name, t in part.items()]
    known = len(places)
    places += [(owner, name, value) for owner, name, value in holder.read if isinstance(value, torch.Tensor)]
    places += [place for owner in owners for place in plain_tensors(owner)]
    first, lying, pairs = {}, {}, Places()
    for k, (owner, name, value) in enumerate(places):
        if value is None or not is_plain(type(value)) or value.layout != torch.strided:
            continue
        if id(value) in first and k >= known:
            pairs.append((first[id(value)], (owner, name)))
        first.setdefault(id(value), (owner, name))
        lying.setdefault((value.data_ptr(), value.shape, value.dtype), []).append((owner, name, value))
    alike = [place for one in lying.values() if any(place[2] is not one[0][2] for place in one) and one[0][2].data_ptr() for place in one]
    return pairs, Places(alike)


def visit_modules(reads, modules):
    """What modules and their hooks read by names."""
    for module in modules:
        reads.visit_object(module, ())
        for place in objects_of(module):
            reads.values.append(place)
            if callable(place[2]):
                reads.visit(place[2], ())
        for name, value in vars(module).items():
            if isinstance(value, types.FunctionType) and name not in OWN:
                reads.visit(value, ())
        for hook in (*module._forward_pre_hooks.values(), *module._forward_hooks.values()):
            reads.visit(hook, ())


def place_of(holder, tensor):
    """Where a plain tensor is read at each call: an attribute of a module, a variable of the function's; else the tensor itself."""
    places = [(owner, name, value) for owner, name, value in holder.read if isinstance(value, torch.Tensor)]
    places += [place for owner in holder.objects for place in plain_tensors(owner)]
    for owner, name, value in places:
        if value is tensor or (value.data_ptr() == tensor.data_ptr() != 0 and value.shape == tensor.shape and value.dtype == tensor.dtype):
            return owner, name
    return tensor


def is_held(module, target):
    """Whether a module has a parameter or buffer of this name: of those that no state_dict has a program has what they are, too."""
    try:
        owner_of(module, target)
    except (AttributeError, PolyBlocksError):
        return False
    return True


def owner_of(module, target):
    """The dict of a module that has a parameter or buffer, and its name there."""
    path, _, name = target.rpartition(".")
    owner = module.get_submodule(path) if path else module
    for tensors in (owner._parameters, owner._buffers):
        if name in tensors:
            return tensors, name
    raise PolyBlocksError(f"no parameter or buffer {target!r}")
