"""Numbers, texts and functions that a function reads as Python has them: attributes, what it closes over, globals, of functions and classes that it
names too. A program has them as they were; it is made anew where one is another: a number of another type, or a zero of the other sign, is one."""

import argparse
import collections
import enum
import functools
import numbers
import operator
import sys
import sysconfig
import types

import numpy as np

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
FIXED = (*FUNCTIONS, numbers.Number, str, bytes, range, slice, type(None), np.generic, np.dtype, enum.Enum, staticmethod, classmethod, property)  # and types of elements of a framework, `FIXED_TOO`
FIXED_TOO = set()
MOST = 1024  # a table of more is data, which programs have as they were
LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")})
SEVERAL = (tuple, list, set, frozenset, collections.deque)
PLAIN = (types.SimpleNamespace, argparse.Namespace)
GONE = (KeyError, IndexError, ValueError, StopIteration)
OWN = __name__.partition(".")[0]


def is_single(value):
    return isinstance(value, FIXED) or type(value) in FIXED_TOO


def is_fixed(value):
    """Whether it is a number, a text or a function, or some of them."""
    if isinstance(value, SEVERAL):
        return len(value) <= MOST and all(map(is_fixed, value))
    if isinstance(value, np.ndarray):
        return value.size <= MOST and value.dtype != object
    if isinstance(value, dict):
        return len(value) <= MOST and all(map(is_fixed, value)) and all(map(is_fixed, value.values()))
    return is_single(value)


def is_whole(value):
    """Whether nothing but an assignment changes it."""
    return all(map(is_whole, value)) if isinstance(value, tuple) else is_single(value)


def number_key(value):
    """A number as a key: 1, 1.0 and True are three, 0.0 and -0.0 two."""
    return type(value), repr(value) if isinstance(value, (float, complex, np.generic)) else value


def picture(value):
    """What two have in common where each number of one is that of the other."""
    if isinstance(value, (tuple, list, collections.deque)):
        return type(value), tuple(map(picture, value))
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, value.tobytes()
    if isinstance(value, dict):
        return type(value), tuple((picture(key), picture(part)) for key, part in value.items())
    return (type(value), frozenset(map(number_key, value))) if isinstance(value, (set, frozenset)) else number_key(value)


class Contents:
    """What a list, a set or the like has: seen at a glance where nothing but numbers, texts and functions is in it and all are as before."""

    def __init__(self, value):
        is_quick = isinstance(value, (list, collections.deque, dict)) and all(map(is_whole, value.values() if isinstance(value, dict) else value))
        self.quick = (list(value), list(value.values()) if isinstance(value, dict) else ()) if is_quick else None
        self.picture = picture(value)

    def is_of(self, value):
        if self.quick is not None and type(value) is self.picture[0]:
            keys, values = self.quick
            if len(value) == len(keys) and all(map(operator.is_, value, keys)) and (not values or all(map(operator.is_, value.values(), values))):
                return True
        return picture(value) == self.picture


class Numbers:
    """Numbers, texts and functions that a mapping had under some names."""

    def __init__(self, owner, names, whose):
        self.owner, self.names, self.whose = owner, tuple(names), whose
        get = operator.itemgetter(*self.names)
        self.read = get if len(self.names) > 1 else lambda owner: (get(owner),)
        self.kept = self.read(owner)
        self.changing = [k for k, value in enumerate(self.kept) if not is_whole(value)]
        self.pictures, self.said = [Contents(value) for value in self.kept], [repr(value) for value in self.kept]

    def is_kept(self):
        try:
            now = self.read(self.owner)
        except GONE:
            return False
        if all(map(operator.is_, now, self.kept)):
            return not self.changing or all(self.pictures[k].is_of(now[k]) for k in self.changing)
        if not all(before.is_of(value) for before, value in zip(self.pictures, now)):
            return False
        self.kept = now  # equal ones, as torch.export leaves copies of tuples: the next look is one at a glance
        return True

    def now(self, name):
        try:
            return self.owner[name]
        except GONE:
            return GONE

    def others(self):
        """Names of those that are others, and what tells of it."""
        for name, before, said in zip(self.names, self.pictures, self.said):
            now = self.now(name)
            if now is GONE or not before.is_of(now):
                yield name, f"{self.whose}{name} was {said} and is {'gone' if now is GONE else repr(now)}"


class Cell:
    """What a function closes over, as a mapping has it."""

    def __init__(self, cell):
        self.cell = cell

    def __getitem__(self, _):
        return self.cell.cell_contents


def contents(value):
    """What a list or a dict has."""
    return list(value) if isinstance(value, list) else dict(value)


def has_other(value, before):
    """Whether a list or a dict has something else than before."""
    if len(value) != len(before) or (isinstance(value, dict) and list(value) != list(before)):
        return True
    return any(value[k] is not before[k] for k in (before if isinstance(before, dict) else range(len(before))))


def put_into(value, now):
    """The same list or dict, with other contents."""
    if isinstance(value, list):
        value[:] = now
    else:
        value.clear()
        value.update(now)


class Slots:
    """Attributes of an object whose classes name them."""

    def __init__(self, value):
        self.value = value
        named = [vars(part).get("__slots__", ()) for part in type(value).__mro__]
        names = [name for some in named for name in ((some,) if isinstance(some, str) else some)]
        self.named = frozenset(names) - {"__dict__", "__weakref__"}

    def __getitem__(self, name):
        try:
            return getattr(self.value, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name, value):
        setattr(self.value, name, value)

    def __contains__(self, name):
        return (name in self.named and hasattr(self.value, name)) or name in getattr(self.value, "__dict__", ())

    def __iter__(self):
        return iter([name for name in (*sorted(self.named), *getattr(self.value, "__dict__", ())) if name in self])


def has_attributes(value):
    """Whether an object is of attributes, of its own dict or named by classes that are no library's."""
    return hasattr(value, "__dict__") or (hasattr(type(value), "__slots__") and not of_a_library(type(value).__module__))


def attributes_of(value):
    """The mapping of an object's attributes."""
    is_plain = hasattr(value, "__dict__") and not any(vars(part).get("__slots__") for part in type(value).__mro__ if not of_a_library(part.__module__))
    return vars(value) if is_plain else Slots(value)


class Attributes:
    """What an object has by its classes, until it has its own."""

    def __init__(self, value):
        self.value, self.mine = value, attributes_of(value)

    def __getitem__(self, name):
        if name in self.mine:
            return self.mine[name]
        return next(vars(part)[name] for part in type(self.value).__mro__ if name in vars(part))


class Methods:
    """What modules are called by: a method of their own put before that of their classes, and one put into a class."""

    def __init__(self, modules, name):
        self.name = name
        self.mine = [vars(module) for module in modules]
        self.own = [self.name in mine for mine in self.mine]
        kinds = {next((part for part in type(m).__mro__ if name in vars(part)), None) for m in modules} - {None}
        self.kinds = [(kind_, vars(kind_)[name]) for kind_ in kinds]
        self.types = [type(module) for module in modules]
        self.modules = modules

    def are_kept(self):
        if [self.name in mine for mine in self.mine] != self.own or list(map(type, self.modules)) != self.types:
            return False
        return all(vars(kind_).get(self.name) is method for kind_, method in self.kinds)


def is_full(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def names_of(code):
    """Names that a function reads, and those of comprehensions and functions inside."""
    names = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names.update(names_of(inner))
    return names


def of_a_library(module):
    """Whether a module by name is one of Python, of an installed package or this one."""
    root = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return root == OWN or root in sys.stdlib_module_names or (file.startswith(LIBRARIES) and root != "__main__")


class Reads:
    """What calls of a function read by names: `numbers`, and other `values`, each with where it is held and its name there, of lists and dicts too,
    whose `lengths` are kept. `elsewhere`: objects whose numbers are held by others, and kinds of them; `counted`: numbers that calls change
    themselves, by what they are called."""

    def __init__(self, function, elsewhere=(), counted=(), kinds=()):
        self.numbers, self.values, self.lengths, self.counted, self.kinds = [], [], [], counted, kinds
        self.seen, self.elsewhere = {}, {id(value) for value in elsewhere}
        self.visit(function, ())

    def hold(self, owner, names, whose):
        names = [name for name in names if is_fixed(owner[name]) and (whose, name) not in self.counted]
        if names:
            self.numbers.append(Numbers(owner, names, whose))

    def visit(self, value, names):
        """A value of which a function reads attributes of these names."""
        if isinstance(value, types.FunctionType):
            self.visit_function(value)
        elif is_fixed(value):
            return
        elif isinstance(value, types.MethodType):
            self.visit(value.__func__, ())
            self.visit_object(value.__self__, names_of(value.__func__.__code__) if isinstance(value.__func__, types.FunctionType) else ())
        elif isinstance(value, functools.partial):
            self.visit_partial(value, names)
        elif isinstance(value, type):
            self.visit_class(value)
        elif isinstance(value, types.ModuleType):
            if not of_a_library(value.__name__):
                self.visit_names(vars(value), [name for name in names if name in vars(value)], names, f"{value.__name__}.")
        elif has_attributes(value):
            self.visit_object(value, names)

    def visit_names(self, owner, found, names, whose):
        self.hold(owner, found, whose)
        for name in found:
            self.visit_at(owner, name, names)

    def visit_at(self, owner, name, names):
        value = owner[name]
        if is_single(value) and not isinstance(value, types.FunctionType):
            return
        self.values.append((owner, name, value))
        if not isinstance(value, (list, tuple, dict, collections.deque)):
            self.visit(value, names)
        elif len(value) <= MOST and self.first(value):
            self.lengths.append((value, len(value)))
            keys = list(value) if isinstance(value, dict) else list(range(len(value)))
            if not is_fixed(value):
                self.hold(value, keys, f"{name}'s ")
            for key in keys:
                self.visit_at(value, key, names)

    def visit_partial(self, value, names):
        if self.first(value):
            self.hold(value.keywords, value.keywords, "")
            for part in (value.func, *value.args, *value.keywords.values()):
                self.visit(part, names)

    def first(self, value):
        """Whether it is met for the first time. What was met is kept: else another one might be where it was."""
        is_first = id(value) not in self.seen
        self.seen[id(value)] = value
        return is_first

    def visit_function(self, function):
        if not self.first(function):
            return
        names, plain = names_of(function.__code__), not of_a_library(function.__globals__.get("__name__", ""))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if is_full(cell) and (plain or callable(cell.cell_contents)):  # of a library's function: what it is put around
                self.visit_names(Cell(cell), [name], names, "")
        if not plain:
            return
        self.visit_names(function.__globals__, [name for name in names if name in function.__globals__], names, "")
        for k, value in enumerate(function.__defaults__ or ()):
            if not is_whole(value):
                self.visit_names(function.__defaults__, [k], names, f"{function.__name__}'s default ")
        self.visit_names(function.__kwdefaults__ or {}, list(function.__kwdefaults__ or ()), names, f"{function.__name__}'s default ")

    def visit_class(self, kind):
        """Attributes of classes, and what their methods read."""
        for part in kind.__mro__:
            if of_a_library(part.__module__) or not self.first(part):
                continue
            self.hold(vars(part), [name for name in vars(part) if not name.startswith("__")], f"{part.__name__}.")
            for value in list(vars(part).values()):
                value = getattr(value, "__func__", getattr(value, "fget", value))
                if isinstance(value, (types.FunctionType, functools.partial)):
                    self.visit(value, ())

    def visit_settings(self, value):
        """An object of a module's that holds settings, where it is one of the user's."""
        if has_attributes(value) and not callable(value) and (isinstance(value, PLAIN) or not of_a_library(type(value).__module__)):
            self.visit_object(value, attributes_of(value))

    def visit_object(self, value, names):
        if not self.first(value):
            return
        self.visit_class(type(value))
        call = getattr(type(value), "__call__", None)
        if isinstance(call, types.FunctionType):
            names = {**dict.fromkeys(names), **names_of(call.__code__)}
        if callable(getattr(value, "__wrapped__", None)):
            self.visit(value.__wrapped__, ())
        if not has_attributes(value):
            return
        mine = attributes_of(value)
        parts = [vars(part) for part in type(value).__mro__ if not of_a_library(part.__module__)]
        inherited = {name: None for part in parts for name in part if not name.startswith("__") and name not in mine and is_fixed(part[name])}
        self.hold(Attributes(value), inherited, f"{type(value).__name__}.")
        if isinstance(value, self.kinds):
            return
        found = [name for name in names if name in mine]
        if id(value) not in self.elsewhere:
            self.hold(mine, found, f"{type(value).__name__}.")
        for name in found:
            self.visit_at(mine, name, names)
