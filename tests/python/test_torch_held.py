"""What a module or a function holds, put in others' places between calls: each call gives what eager gives."""

import collections
import functools
import types
import warnings

import numpy as np
import polyblocks
import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import nn

SCALE = torch.ones(3)
TABLE = {"t": torch.ones(3)}


@pytest.fixture(autouse=True)
def quiet():
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        yield


def follows(function, changes, x):
    """The same as eager before and behind each change."""
    compiled = polyblocks_jit_torch(function)
    torch.testing.assert_close(compiled(x), function(x))
    for change in changes:
        change()
        torch.testing.assert_close(compiled(x), function(x))
    return compiled


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x):
        return torch.tanh(self.b(torch.tanh(self.a(x))))


def test_parameters_that_are_one_until_they_are_two():
    m = Tied()

    def other():
        m.b.weight = nn.Parameter(torch.randn(3, 3))

    def one_again():
        m.b.weight = m.a.weight

    follows(m, [other, lambda: m.b.weight.add_(1), lambda: m.a.weight.mul_(2), one_again, lambda: m.a.weight.mul_(0.5)], torch.randn(2, 3))


class Alike(nn.Module):
    """Attributes that lie in one memory."""

    def __init__(self):
        super().__init__()
        self.a = torch.ones(3)
        self.b, self.c = self.a.view(3), self.a

    def forward(self, x):
        return x * self.a + self.b * 2 + self.c


def test_attributes_of_one_memory():
    m = Alike()
    follows(m, [functools.partial(setattr, m, name, torch.randn(3)) for name in "bca"], torch.randn(3))


class Buffered(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.ones(3), persistent=False)
        self.plain = torch.ones(3)

    def forward(self, x):
        return x * self.b + self.plain


def test_buffers_that_no_state_has_and_other_shapes():
    m = Buffered()
    shapes = [torch.randn(3), torch.randn(1), torch.randn(2, 3)]
    changes = [functools.partial(setattr, m, name, value) for name in ("b", "plain") for value in shapes]
    follows(m, changes, torch.randn(2, 3))


def test_parameters_of_another_shape():
    m = nn.Linear(3, 3)

    def wider():
        m.weight, m.bias = nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.randn(5))

    follows(m, [wider], torch.randn(2, 3))
    m = nn.Linear(3, 3)
    loaded = polyblocks_jit_torch(m, compile_options={"device_one_time_load": True})
    x = torch.randn(2, 3)
    torch.testing.assert_close(loaded(x), m(x))
    m.weight, m.bias = nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.randn(5))
    torch.testing.assert_close(loaded(x), m(x))


def test_numbers_that_export_copies_are_seen_at_a_glance():
    compiled = polyblocks_jit_torch(nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3)).eval())
    x = torch.randn(1, 2, 4, 4)
    compiled(x), compiled(x)
    assert all(a is b for numbers in compiled.held_numbers for a, b in zip(numbers.read(numbers.owner), numbers.kept))
    compiled.module[0].padding = (1, 1)  # the same pair, as another tuple
    programs = dict(compiled.programs)
    compiled(x)
    assert programs == compiled.programs
    compiled.module[0].padding = (1, 0)
    torch.testing.assert_close(compiled(x), compiled.module(x))


def scaled(x):
    return x * SCALE * TABLE["t"]


class Names(nn.Module):
    def forward(self, x):
        return scaled(x) + SCALE


def test_globals_that_parts_of_a_module_read():
    m = nn.Sequential(Names(), nn.ReLU())
    put = globals().__setitem__
    changes = [lambda: put("SCALE", torch.zeros(3) - 4), lambda: put("SCALE", torch.randn(1)), lambda: TABLE.update(t=torch.randn(3))]
    compiled = follows(m, changes, torch.randn(3))
    x = torch.randn(2, 3)  # another program, of what is held now
    torch.testing.assert_close(compiled(x), m(x))


def test_what_hooks_close_over():
    held = {"k": 2.0, "t": torch.ones(3), "m": nn.Linear(3, 3)}
    m = nn.Linear(3, 3)
    m.register_forward_hook(lambda module, args, y: held["m"](y * held["k"] + held["t"]))
    changes = [lambda: held.update(k=3.0), lambda: held.update(t=torch.randn(3)), lambda: held["m"].weight.mul_(2), lambda: held.update(m=nn.Linear(3, 3))]
    follows(m, changes, torch.randn(2, 3))


class Scaling:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


class Called(nn.Module):
    """Functions and objects in attributes."""

    def __init__(self, box):
        super().__init__()
        self.act, self.function, self.part = Scaling(2.0), lambda x: x * box["k"], functools.partial(lambda x, k: x * k * box["k"], k=2.0)

    def forward(self, x):
        return self.act(x) + self.function(x) + self.part(x)


def test_what_attributes_call():
    box = {"k": 2.0}
    m = Called(box)
    changes = [lambda: setattr(m.act, "k", 3.0), lambda: box.update(k=4.0), lambda: setattr(m, "act", Scaling(5.0))]
    changes += [lambda: setattr(m, "function", torch.neg), lambda: setattr(m, "part", functools.partial(torch.add, other=7.0))]
    follows(m, changes, torch.randn(3))


class Slotted:
    __slots__ = ("k", "t")

    def __init__(self):
        self.k, self.t = 2.0, torch.ones(3)


class Configured(nn.Module):
    def __init__(self):
        super().__init__()
        self.settings, self.slots = types.SimpleNamespace(k=2.0, inner=types.SimpleNamespace(k=3.0)), Slotted()

    def forward(self, x):
        return x * self.settings.k + self.settings.inner.k + self.slots.k


def test_settings_and_slots():
    m = Configured()
    changes = [lambda: setattr(m.slots, "k", 5.0), lambda: setattr(m, "settings", types.SimpleNamespace(k=1.0, inner=types.SimpleNamespace(k=1.0)))]
    changes += [lambda: setattr(m.settings, "inner", types.SimpleNamespace(k=9.0)), lambda: setattr(m, "slots", Slotted())]
    follows(m, changes, torch.randn(3))
    s = Slotted()
    changes = [lambda: setattr(s, "k", 5.0), lambda: setattr(s, "t", torch.randn(3)), lambda: setattr(s, "t", torch.randn(1))]
    follows(lambda x: x * s.k + s.t, changes, torch.randn(3))


def test_other_collections():
    queue, array, many, some = collections.deque([1.0, 2.0]), np.ones(3, "f4"), [float(k) for k in range(100)], [range(3)]

    def function(x):
        return x * sum(queue) + float(array[0]) + sum(many) + len(some[0])

    def element():
        array[0] = 4

    changes = [lambda: queue.append(4.0), element, lambda: many.__setitem__(50, 1e3), lambda: some.__setitem__(0, range(5))]
    follows(function, changes, torch.randn(3))


class Static:
    k = 2.0

    @staticmethod
    def scaled(x):
        return x * Static.k


def test_methods_and_forwards_that_are_replaced():
    follows(lambda x: Static.scaled(x), [lambda: setattr(Static, "k", 3.0), lambda: setattr(Static, "scaled", staticmethod(torch.neg))], torch.randn(3))
    m = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    plain = nn.ReLU.forward
    changes = [lambda: setattr(m[0], "forward", lambda x: x * 2), lambda: delattr(m[0], "forward")]
    changes += [lambda: setattr(nn.ReLU, "forward", lambda self, x: x * 7), lambda: setattr(nn.ReLU, "forward", plain)]
    try:
        follows(m, changes, torch.randn(2, 3))
    finally:
        nn.ReLU.forward = plain


def test_recurrent_layers_keep_their_weights():
    m = nn.LSTM(3, 4)
    compiled = follows(lambda x: m(x)[0], [lambda: m.weight_ih_l0.mul_(2)], torch.randn(2, 3))
    assert all(a is b for a, b in zip(m._flat_weights, m.parameters())) and compiled.watched == []


class Adding(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, kinds, args=(), named=None):
        return super().__torch_function__(torch.Tensor.add if function is torch.Tensor.mul else function, kinds, args, named or {})


class Plain(torch.Tensor):
    pass


def test_tensors_of_other_classes():
    x = torch.randn(3)
    double = polyblocks_jit_torch(lambda x: x * 2)
    with pytest.raises(polyblocks.ArgumentError, match="Adding"):
        double(x.as_subclass(Adding))
    torch.testing.assert_close(double(x.as_subclass(Plain)), x * 2)
    from torch.testing._internal.two_tensor import TwoTensor

    with pytest.raises(polyblocks.ArgumentError, match="TwoTensor"):
        double(TwoTensor(x, x))
    m = nn.Linear(3, 3)
    compiled = polyblocks_jit_torch(m)
    compiled(x)
    m.weight = nn.Parameter(TwoTensor(m.weight.data, m.weight.data))
    with pytest.raises(polyblocks.ArgumentError, match="TwoTensor"):
        compiled(x)


def test_hooks_of_all_modules():
    m = nn.Linear(3, 3)
    compiled, x = polyblocks_jit_torch(m), torch.randn(3)
    compiled(x)
    hook = nn.modules.module.register_module_forward_hook(lambda module, args, y: y * 3)
    try:
        with pytest.raises(polyblocks.CompileError, match="a hook of all modules"):
            compiled(x)
    finally:
        hook.remove()
    torch.testing.assert_close(compiled(x), m(x))
