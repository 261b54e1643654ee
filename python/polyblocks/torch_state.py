"""What a call reads and leaves in attributes of PyTorch's modules, beside buffers, and of an object whose method it is. Tensors that it assigns
(the state of a layer, a cache, what is kept for a look at it) are results of the program and are put there after each run. Numbers and texts
are part of a program, which is made anew where they are others."""

import types
import warnings

import torch
from torch.utils import _pytree as pytree

from .errors import NotSupported, PolyBlocksWarning
from .held_numbers import FIXED_TOO, Numbers, attributes_of, contents, has_attributes, has_other, is_fixed, put_into

OWN = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_polyblocks_jit")
REMADE = ("_flat_weights", "_flat_weight_refs")  # by recurrent layers of PyTorch's, of their parameters
NUMBERS = (bool, int, float, str)
FIXED_TOO |= {torch.dtype, torch.device, torch.memory_format}


def holds_tensors(value):
    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value))


def kind(value):
    """What a program depends on of an attribute."""
    leaves, tree = pytree.tree_flatten(value)
    return tree, *[(leaf.shape, leaf.dtype) if isinstance(leaf, torch.Tensor) else repr(leaf) for leaf in leaves]


class Leaf:
    """An attribute's tensors, as a mapping from their numbers has them."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __getitem__(self, k):
        return pytree.tree_leaves(self.owner[self.name])[k]


def plain_tensors(owner):
    """Tensors that a module or another object holds in attributes: where each is kept, its name there, and what it is."""
    for name, value in vars(owner).items():
        if isinstance(value, torch.Tensor):
            yield vars(owner), name, value
        elif isinstance(value, (tuple, list, dict)) and name not in OWN and name not in REMADE:
            for k, leaf in enumerate(pytree.tree_leaves(value)):
                if isinstance(leaf, torch.Tensor):
                    yield Leaf(vars(owner), name), k, leaf


def objects_of(owner):
    """Objects of Python's in attributes of a module: where each is kept, its name there, and what it is."""
    return [(vars(owner), name, value) for name, value in vars(owner).items() if name not in OWN and is_object(value)]


def is_object(value):
    """Whether a value is of attributes that programs are of: settings, or what is called."""
    return has_attributes(value) and not isinstance(value, NO_OBJECTS) and not is_fixed(value)


NO_OBJECTS = (torch.nn.Module, torch.Tensor, types.ModuleType, type)


def settings_of(owner):
    """Objects that hold settings, in attributes of a module."""
    return [value for _, _, value in objects_of(owner) if not callable(value)]


def numbers_of(owner, counted):
    """Of a module, which has some of its own that no forward reads, or of another object; `counted`: those that calls change themselves."""
    own, mine = PLAIN_MODULE if isinstance(owner, torch.nn.Module) else (), attributes_of(owner)
    names = [name for name in mine if name not in own and is_fixed(mine[name])]
    names = [name for name in names if (id(owner), name) not in counted]
    return [Numbers(mine, names, f"{type(owner).__name__}.")] if names else []


PLAIN_MODULE = frozenset(vars(torch.nn.Module()))


class Assigned:
    """Attributes that a function assigns while it is traced: `names`, and what it made of them."""

    def __init__(self, objects, outside=()):
        self.objects, self.outside, self.before, self.names, self.contents = objects, outside, [], [], []
        self.counted = []  # numbers that are others after a call
        lists = [value for m in objects if hasattr(m, "__dict__") for name, value in vars(m).items() if name not in OWN and type(value) in (list, dict)]
        self.lists = [(value, contents(value)) for value in lists]

    def begin(self):
        self.before = [(m, {name: value for name, value in vars(m).items() if name not in OWN}) for m in self.objects]
        self.contents = [(m, name, value, contents(value)) for m, before in self.before for name, value in before.items() if type(value) in (list, dict)]
        self.others = [(owner, name, value, contents(value) if type(value) in (list, dict) else None) for owner, name, value in self.outside]

    def refuse_outside(self):
        """Tensors that are put where no program reads them again: what is traced must not stay there."""
        for owner, name, value, before in self.others:
            put = before is not None and has_other(value, before) and holds_tensors(value)
            if put:
                put_into(value, before)
            try:
                assigned = owner[name] is not value and holds_tensors(owner[name])
            except (KeyError, IndexError):
                continue
            if assigned and hasattr(owner, "__setitem__"):
                owner[name] = value
            if put or assigned:
                hint = "return it, or keep it in an attribute of a module or of the object whose method is called"
                raise NotSupported(f"{name}: a tensor is kept outside of the function, in a list, a dict or a variable of others", None, hint)

    def as_before(self):
        """torch.export leaves copies of lists and dicts in attributes, of which others have the first ones, and its own tensors in the place of
        parameters in them (those that LSTM has its weights in)."""
        for module, name, value, _ in self.contents:
            if type(vars(module).get(name)) is type(value):
                vars(module)[name] = value
        for value, before in self.lists:
            if has_other(value, before):
                put_into(value, before)

    def taken(self):
        """What was assigned, after which all is as before: what is traced has no numbers."""
        self.names, self.counted, values = [], [], []
        for module, name, value, before in self.contents:
            if name not in REMADE and has_other(value, before) and holds_tensors((value, before)):
                if vars(module).get(name) is value:
                    self.names.append((module, name))
                    values.append(contents(value))
                put_into(value, before)
        self.refuse_outside()
        for module, before in self.before:
            now = vars(module)
            for name in [name for name in now if name not in OWN and now[name] is not before.get(name, OWN)]:
                if name in REMADE and name in before:
                    pass
                elif holds_tensors(now[name]):
                    self.names.append((module, name))
                    values.append(now[name])
                elif name in before and holds_tensors(before[name]):
                    continue  # put down again
                elif isinstance(now[name], NUMBERS) and isinstance(before.get(name), NUMBERS) and now[name] != before[name]:
                    text = f"{type(module).__name__}.{name} is {before[name]!r} before a call and {now[name]!r} after it; the program keeps the first"
                    warnings.warn(text, PolyBlocksWarning, stacklevel=2)
                    self.counted.append((id(module), name))
                    continue
                if name in before:
                    now[name] = before[name]
                else:
                    del now[name]
        return values

    def put(self, values):
        for (module, name), value in zip(self.names, values):
            kept = vars(module).get(name)
            if type(kept) in (list, dict) and type(value) is type(kept):
                put_into(kept, value)
            else:
                vars(module)[name] = value
