"""What forward leaves behind: attributes that it assigns, parameters and arguments that it writes, numbers that it reads, call after call
beside eager."""

import argparse
import copy
import functools
import warnings

import polyblocks
import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch.utils import _pytree as pytree

if not torch.cuda.is_available():
    torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver


class Written(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x):
        with torch.no_grad():
            self.w.mul_(0.9)
            self.b.add_(1)
        return x * self.w + self.b


class State(nn.Module):
    """None at first."""

    def __init__(self):
        super().__init__()
        self.state, self.linear = None, nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x) if self.state is None else self.linear(x) + self.state
        self.state = y.detach()
        return y


class Cache(nn.Module):
    """That grows."""

    def __init__(self):
        super().__init__()
        self.cache, self.linear = None, nn.Linear(3, 6)

    def forward(self, x):
        keys, values = self.linear(x[:, None]).chunk(2, -1)
        if self.cache is not None:
            keys, values = torch.cat([self.cache[0], keys], 1), torch.cat([self.cache[1], values], 1)
        self.cache = keys, values
        return (x[:, None] @ keys.mT).softmax(-1) @ values


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.state, self.seen = nn.LSTM(3, 4), (torch.zeros(1, 4), torch.zeros(1, 4)), 0

    def forward(self, x):
        y, state = self.layer(x, self.state)
        self.state = tuple(t.detach() for t in state)
        self.seen += len(x)
        return y


class Table(nn.Module):
    """Made when it is first asked for, and looked at by others."""

    def __init__(self):
        super().__init__()
        self.inner, self.table = nn.Sequential(State(), State()), None

    def forward(self, x):
        if self.table is None or len(self.table) < len(x):
            self.table = torch.cos(torch.arange(len(x))[:, None] * torch.ones(3))
        self.last = x * 2
        return {"y": self.inner(x * self.table[: len(x)])}


MADE = {made.__name__: made for made in (Written, State, Cache, Stream, Table)}
MADE["Embedding"] = lambda: nn.Embedding(7, 3, max_norm=1.0)


def state_of(module):
    held = [value for m in module.modules() for name, value in sorted(vars(m).items()) if name in ("state", "cache", "table", "last")]
    return [t for t in pytree.tree_leaves([held, list(module.state_dict().values())]) if isinstance(t, torch.Tensor)]


@pytest.mark.parametrize("name", MADE)
def test_calls(name):
    torch.manual_seed(0)
    plain = MADE[name]().eval()
    eager, compiled = copy.deepcopy(plain), polyblocks_jit_torch(plain)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        for k in range(3):
            x = torch.randint(7, (2, 3)) if name == "Embedding" else torch.randn(2, 3)
            got, want = [compiled(x), state_of(plain)], [eager(x), state_of(eager)]
            for a, b in zip(pytree.tree_leaves(got), pytree.tree_leaves(want), strict=True):
                torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_objects():
    class Mean:
        def __init__(self):
            self.mean = torch.zeros(3)

        def step(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x
            return x - self.mean

    ours, theirs = Mean(), Mean()
    step = polyblocks_jit_torch(ours.step)
    for k in range(3):
        x = torch.randn(3)
        torch.testing.assert_close(step(x), theirs.step(x))
        torch.testing.assert_close(ours.mean, theirs.mean)
    ours.mean = theirs.mean = torch.ones(3)
    torch.testing.assert_close(step(x), theirs.step(x))


def test_numbers_are_told():
    with torch.no_grad(), pytest.warns(polyblocks.PolyBlocksWarning, match="Stream.seen is 0 before a call and 2 after it"):
        polyblocks_jit_torch(Stream())(torch.randn(2, 3))


SCALE = 2.0


def test_numbers_that_change():
    """Of a module, of one inside it, of another object, closed over and global."""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.by, self.kind = nn.Dropout(0.0), 1.0, "sum"

        def forward(self, x):
            return self.inner(x * self.by).sum() if self.kind == "sum" else (x * self.by).mean()

    x, module = torch.arange(6.0), Scaled()
    compiled = polyblocks_jit_torch(module)
    torch.testing.assert_close(compiled(x), module(x))
    for name, value in (("by", 3.0), ("kind", "mean"), ("by", 3.0)):
        changed = getattr(module, name) != value
        setattr(module, name, value)
        with pytest.warns(polyblocks.PolyBlocksWarning, match=f"Scaled.{name} was") if changed else warnings.catch_warnings():
            torch.testing.assert_close(compiled(x), module(x))
    module.kind, module.inner.p = "sum", 1.0
    with pytest.warns(polyblocks.PolyBlocksWarning, match="kind was|p was"):
        torch.testing.assert_close(compiled(x), module(x))

    by = 2
    jitted = polyblocks_jit_torch(lambda x: x * by * SCALE)
    torch.testing.assert_close(jitted(x), x * 4)
    by = 5
    with pytest.warns(polyblocks.PolyBlocksWarning, match="by was 2 and is 5"):
        torch.testing.assert_close(jitted(x), x * 10)
    globals()["SCALE"] = 3.0
    with pytest.warns(polyblocks.PolyBlocksWarning, match="SCALE was 2.0 and is 3.0"):
        torch.testing.assert_close(jitted(x), x * 15)


def test_settings_that_change():
    """In lists, dicts and objects of a module; a type of autocast."""

    class Settings(nn.Module):
        def __init__(self):
            super().__init__()
            self.by, self.names, self.config = [1.0, 2.0], {"k": 2.0}, argparse.Namespace(shift=0.0)

        def forward(self, x):
            return x * self.by[0] * self.names["k"] + self.config.shift

    module, x = Settings(), torch.arange(3.0)
    compiled = polyblocks_jit_torch(module)

    def change_list():
        module.by[0] = 3.0

    def change_object():
        module.config.shift = 1.0

    torch.testing.assert_close(compiled(x), module(x))
    for change in (change_list, lambda: module.names.update(k=5.0), change_object):
        change()
        with pytest.warns(polyblocks.PolyBlocksWarning, match="was"):
            torch.testing.assert_close(compiled(x), module(x))

    product = polyblocks_jit_torch(lambda x: x @ x)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):
            assert product(x).dtype == (x @ x).dtype


BY, CALLS = 2, 0


def helper(x):
    return x * BY


class Own:
    by = 2

    def __init__(self):
        self.config = argparse.Namespace(inner=argparse.Namespace(shift=1))

    def __call__(self, x):
        return x * self.by + self.config.inner.shift


class Kept(nn.Module):
    by = 2

    def __init__(self):
        super().__init__()
        self.function, self.alpha = torch.neg, 2

    def forward(self, x):
        return self.function(x * self.by) * self.alpha


own, kept = Own(), Kept()
part = functools.partial(lambda x, by: x * by, by=2)
CHANGES = {  # a function that names what changes, and how that is changed
    "helper": (lambda x: helper(x), lambda value: globals().update(BY=value)),
    "comprehension": (lambda x: [y * BY for y in x], lambda value: globals().update(BY=value)),
    "keyword of a partial": (part, lambda value: part.keywords.update(by=value)),
    "callable object": (own, lambda value: setattr(own, "by", value)),
    "class": (lambda x: x * Own.by, lambda value: setattr(Own, "by", value)),
    "settings of settings": (lambda x: x * own.config.inner.shift, lambda value: setattr(own.config.inner, "shift", value)),
    "attribute": (kept, lambda value: setattr(kept, "alpha", value)),
    "class of a module": (kept, lambda value: setattr(Kept, "by", value)),
    "own in a class's place": (kept, lambda value: setattr(kept, "by", value)),
    "function": (kept, lambda value: setattr(kept, "function", lambda x: x + value)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_between_calls(name):
    """A number of another type and a zero of the other sign are others, too."""
    function, change = CHANGES[name]
    compiled = polyblocks_jit_torch(function)
    for value in (3, 3.0, 0.0, -0.0):
        change(value)
        for x in (torch.arange(3), torch.ones(3)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
                for got, want in zip(pytree.tree_leaves(compiled(x)), pytree.tree_leaves(function(x)), strict=True):
                    torch.testing.assert_close(got, want, rtol=0, atol=0)
                    assert torch.equal(torch.signbit(got), torch.signbit(want))


WEIGHTS, LAYER = {"w": torch.ones(3)}, nn.Linear(3, 3)


def with_tensors(x):
    return x * WEIGHTS["w"]


def with_layer(x):
    return LAYER(x)


def test_what_helpers_read():
    """Tensors, modules and lists of them that functions name which a function names."""
    layers, x = [nn.Linear(3, 3), nn.Linear(3, 3)], torch.arange(6.0).view(2, 3)

    def with_layers(x):
        for layer in layers:
            x = layer(x)
        return x

    changes = [
        (lambda x: with_tensors(x), lambda: WEIGHTS.update(w=torch.zeros(3))),
        (lambda x: with_tensors(x), lambda: WEIGHTS["w"].add_(2)),
        (lambda x: with_layer(x), lambda: globals().update(LAYER=nn.Linear(3, 3))),
        (lambda x: with_layer(x), lambda: LAYER.weight.mul_(2)),
        (with_layers, lambda: layers.append(nn.ReLU())),
        (with_layers, lambda: layers.__setitem__(0, nn.Linear(3, 3))),
        (with_layers, lambda: layers[0].bias.add_(1)),
    ]
    for function, change in changes:
        compiled = polyblocks_jit_torch(function)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), function(x))
            change()
            torch.testing.assert_close(compiled(x), function(x))


def test_objects_as_arguments():
    class Given:
        def __init__(self):
            self.scale, self.w = 2.0, torch.ones(3)

    def function(x, given):
        given.last = x * given.scale + given.w
        return given.last + 1

    ours, theirs, x, compiled = Given(), Given(), torch.arange(3.0), polyblocks_jit_torch(function)
    for name, value in (("scale", 2.0), ("scale", 3.0), ("w", torch.zeros(3))):
        setattr(ours, name, value), setattr(theirs, name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
            torch.testing.assert_close(compiled(x, ours), function(x, theirs))
        torch.testing.assert_close(ours.last, theirs.last)
    layer, apply = nn.Linear(3, 3), polyblocks_jit_torch(lambda x, layer: layer(x))
    with torch.no_grad():
        for change in (lambda: None, lambda: layer.weight.mul_(2), lambda: setattr(layer, "weight", nn.Parameter(torch.ones(3, 3)))):
            change()
            torch.testing.assert_close(apply(x, layer), layer(x))


def test_lists_of_a_module_that_grow():
    class Log(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen, self.names = [], {}

        def forward(self, x):
            self.seen.append(x * 2)
            self.names["last"] = x + 1
            return sum(self.seen)

    ours, theirs, x = Log(), Log(), torch.arange(3.0)
    compiled, seen = polyblocks_jit_torch(ours), ours.seen
    for _ in range(3):
        torch.testing.assert_close(compiled(x), theirs(x))
        torch.testing.assert_close(ours.seen, theirs.seen)
        torch.testing.assert_close(ours.names, theirs.names)
    assert ours.seen is seen


KEPT, LAST = [], None


def test_tensors_kept_outside_are_refused():
    """And nothing of the trace stays there."""

    def appends(x):
        KEPT.append(x * 2)
        return x

    def assigns(x):
        global LAST
        LAST = x * 2
        return x

    def to_argument(x, kept):
        kept.append(x * 2)
        return x

    x, kept = torch.ones(2), []
    for function, given, text in ((appends, (), "KEPT: a tensor is kept outside"), (assigns, (), "LAST: a tensor"), (to_argument, (kept,), "other contents after the call")):
        with pytest.raises(polyblocks.CompileError, match=text):
            polyblocks_jit_torch(function)(x, *given)
    assert not KEPT and LAST is None and not kept


def test_memory_formats():
    """Strides are part of what a function is exported for."""

    def function(x):
        return torch.tensor(x.stride()), x * 2 if x.is_contiguous() else x * 3, x.as_strided((2, 2), (1, 2))

    def written(x):
        return x.reshape(-1).add_(1)

    x = torch.arange(6.0).view(2, 3)
    for make in (lambda: x.clone(), lambda: x.clone().t()):
        torch.testing.assert_close(polyblocks_jit_torch(function)(make()), function(make()))
        ours, theirs = make(), make()
        torch.testing.assert_close(polyblocks_jit_torch(written)(ours), written(theirs))
        torch.testing.assert_close(ours, theirs)
    with pytest.raises(polyblocks.CompileError, match="as_strided of a tensor with gaps"):
        polyblocks_jit_torch(lambda x: x.as_strided((2,), (1,)))(x[:, 1:])


def test_arguments_that_are_numbers():
    compiled, x = polyblocks_jit_torch(lambda x, by: x * by), torch.tensor([1, -1])
    for by in (0, 0.0, -0.0, 1, 1.0, True):
        got, want = compiled(x, by), x * by
        torch.testing.assert_close(got, want)
        assert torch.equal(torch.signbit(got), torch.signbit(want))


def test_a_global_counter():
    """What a call counts itself is told, and nothing is compiled anew for it."""

    def counts(x):
        global CALLS
        CALLS += 1
        return x + 1

    compiled = polyblocks_jit_torch(counts)
    with pytest.warns(polyblocks.PolyBlocksWarning, match="CALLS was 0 and is 1 after a call"):
        compiled(torch.ones(2))
    programs = list(compiled.programs.values())
    compiled(torch.ones(2))
    assert list(compiled.programs.values()) == programs


def test_counters_are_not_compiled_anew():
    module = Stream()
    compiled = polyblocks_jit_torch(module)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        compiled(torch.randn(2, 3))
        kept = list(compiled.programs.values())
        module.seen = 0
        compiled(torch.randn(2, 3))
    assert list(compiled.programs.values()) == kept


def first(x, y):
    x.add_(1)
    return y * 2


def both(x, y):
    x.mul_(2)
    y -= 3
    return x + y


def turned(x, y):
    y[0] = -1
    x.neg_()
    return x.clone(), y.sum(0)


def base():
    return torch.arange(12.0).view(3, 4)


MEMORIES = {
    "view": (first, lambda: (lambda x: (x, x[0]))(base())),
    "same": (both, lambda: (lambda x: (x, x))(base())),
    "columns": (both, lambda: (lambda x: (x[:, :2], x[:, 2:]))(base())),
    "overlap": (both, lambda: (lambda x: (x[:, :3], x[:, 1:]))(base())),
    "turned": (turned, lambda: (lambda x: (x.flatten()[2:], x.t()))(base())),
    "apart": (both, lambda: (base(), base().flip(0))),
}


@pytest.mark.parametrize("name", MEMORIES)
def test_arguments_in_one_memory(name):
    """The same function for arguments that lie in one memory, and for copies."""
    function, make = MEMORIES[name]
    compiled = polyblocks_jit_torch(function)
    for given in (lambda: [x.clone() for x in make()], make, make):
        ours, theirs = given(), given()
        torch.testing.assert_close(compiled(*ours), function(*theirs))
        torch.testing.assert_close(tuple(ours), tuple(theirs))


def test_memory_of_the_module_is_refused():
    module = Written()
    with torch.no_grad(), pytest.raises(polyblocks.ArgumentError, match="argument 0 lies in the memory of a tensor"):
        polyblocks_jit_torch(module)(module.b)


@pytest.mark.parametrize("kind", ["SGD", "AdamW", "RMSprop", "Adagrad", "NAdam", "Adafactor"])
def test_compiled_steps_of_optimisers(kind):
    def trained(by):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
        optimiser, x, y = getattr(torch.optim, kind)(module.parameters(), lr=0.01, weight_decay=0.1), torch.randn(5, 6), torch.randn(5, 3)
        step = by(optimiser.step)
        for _ in range(3):
            optimiser.zero_grad()
            (module(x) - y).square().mean().backward()
            step()
        return list(module.parameters())

    torch.compiler.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for got, want in zip(trained(lambda step: torch.compile(step, backend="polyblocks")), trained(lambda step: step)):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
