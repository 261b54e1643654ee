"""The PyTorch front end against eager: the decorator, torch.compile, networks, mistakes."""

import copy
import dataclasses
import inspect
import math
import threading
import warnings

import numpy as np
import polyblocks
import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree
from torch_mistakes import MISTAKES
from torch_models import MODELS, seeded

if not torch.cuda.is_available():
    torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver


def same(got, want, most=1e-4):
    got, want = pytree.tree_leaves(got), pytree.tree_leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape
        a, b = a.detach(), b.detach()
        if not b.dtype.is_floating_point:
            assert torch.equal(a, b)
        elif b.numel():
            most = 1e-2 if b.dtype.itemsize == 2 else most
            assert (a - b.detach()).abs().max() <= most * max(1.0, b.abs().max().item())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", ["decorator", "compile"])
def test_model(name, way, monkeypatch):
    engines, plain = [], polyblocks.compiler.engine
    monkeypatch.setattr(polyblocks.compiler, "engine", lambda *given: engines.append(given[0]) or plain(*given))
    torch.compiler.reset()
    make, arguments = MODELS[name]
    model, given = seeded(make()), arguments()
    with torch.no_grad():
        want = model(*given)
        compiled = polyblocks_jit_torch(model) if way == "decorator" else torch.compile(model, backend="polyblocks")
        same(compiled(*given), want)
    assert len(engines) == 1  # all of it, by one program
    assert all(w.abs().max() > 1e-3 for w in pytree.tree_leaves(want))


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "bert", "gpt2", "unet"])
def test_training(name):
    """Gradients of all parameters, and the statistics that a step leaves."""
    torch.compiler.reset()
    make, arguments = MODELS[name]
    model, given = seeded(make()), arguments()
    if given[0].dim() == 4:  # statistics of a batch of one are those of a few pixels, of which little is left of rounding
        given = (torch.cat([given[0], given[0].flip(2), given[0].flip(3), 2 * given[0]]),)
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, (nn.ReLU, nn.ReLU6)):  # at whose kinks gradients jump
                setattr(part, name, nn.SiLU())
        if isinstance(part, nn.Dropout):
            part.p = 0.0
        if isinstance(part, nn.MultiheadAttention):
            part.dropout = 0.0
    model.train()
    eager, exact = copy.deepcopy(model), copy.deepcopy(model).double()
    compiled = torch.compile(model, backend="polyblocks")
    wide = [x.double() if x.dtype.is_floating_point else x for x in given]
    results = [f(*x) for f, x in ((compiled, given), (eager, given), (exact, wide))]
    same(results[0], results[1], 1e-3)
    for result in results:
        result.pow(2).mean().backward()
    ours, theirs, want = ([p.grad.double() for p in m.parameters() if p.grad is not None] for m in (model, eager, exact))
    assert len(ours) == len(want) > 10

    def apart(gradients):  # of the largest gradient of the parameter, against f64
        return max((g - w).abs().max() / w.abs().max().clamp(min=1e-3) for g, w in zip(gradients, want))

    assert apart(ours) <= 1e-3, f"{apart(ours)}, eager {apart(theirs)}"
    same(list(model.buffers()), list(eager.buffers()), 1e-3)


def test_backend_by_its_name():
    """Where only torch.compile is used."""
    del vars(polyblocks)["dynamo"]
    polyblocks.dynamo.register()
    assert "polyblocks" in torch._dynamo.list_backends(None)


@pytest.mark.parametrize("function, arguments, says, hint", MISTAKES, ids=lambda v: getattr(v, "__name__", None))
def test_mistake(function, arguments, says, hint):
    with pytest.raises(polyblocks.PolyBlocksError) as error:
        polyblocks_jit_torch(function)(*arguments)
    lines, first = inspect.getsourcelines(function)
    here = [first + k for k, line in enumerate(lines) if line.rstrip().endswith("# here")]
    assert says in str(error.value) and hint in str(error.value)
    if here:
        assert f"torch_mistakes.py:{here[0]}:" in str(error.value)


def test_arguments_of_every_kind():
    @polyblocks_jit_torch
    def f(d, x, n=2, *, scale=1.0, mode="add"):
        y = d["a"] + d["b"][0] * scale
        return {"y": y if mode == "add" else y * n, "n": n, "none": None, "x": (x, [x + 1])}

    a, b, x = torch.ones(2, 3), torch.full((3,), 2.0), torch.arange(3)
    got = f({"a": a, "b": [b]}, x, scale=3.0)
    same(got["y"], torch.full((2, 3), 7.0))
    assert got["n"] == 2 and got["none"] is None
    same(got["x"], (x, [x + 1]))
    same(f({"a": a, "b": [b]}, x, 5, mode="mul")["y"], torch.full((2, 3), 15.0))
    assert len(f.programs) == 2
    f({"a": a * 2, "b": [b]}, x, scale=3.0)
    assert len(f.programs) == 2
    same(polyblocks_jit_torch(lambda x, dtype: x.to(dtype))(a, torch.float16), a.half())


def test_masks_that_are_written():
    def f(x, mask, value):
        x = x.clone()
        x[mask] = value
        return x

    x, mask = torch.randn(3, 4), torch.tensor([True, False, True])
    for where, value in ((mask, torch.tensor(5.0)), (mask, torch.randn(4)), (mask, torch.randn(2, 4)), (x > 0, torch.randn(int((x > 0).sum())))):
        same(polyblocks_jit_torch(f)(x, where, value), f(x, where, value))
    same(polyblocks_jit_torch(lambda x, s: x[s])(x, slice(0, 2)), x[:2])


@pytest.mark.parametrize("how", [{"mode": "nearest"}, {"mode": "bilinear"}, {"mode": "bicubic", "align_corners": False}], ids=lambda how: how["mode"])
def test_images_grow_without_an_index(how):
    """Whole multiples, forwards by both ways; and the gradient."""

    def f(x):
        return nn.functional.interpolate(x, scale_factor=3, **how)

    x = torch.randn(1, 2, 5, 7)
    g = polyblocks_jit_torch(f)
    assert "gather" not in g.polyblocks_describe(x)[1]
    torch.compiler.reset()
    compiled, given, own = torch.compile(f, backend="polyblocks"), x.clone().requires_grad_(), x.clone().requires_grad_()
    same((g(x), compiled(x), compiled(given)), (f(x),) * 3, 2e-6)
    compiled(given).square().sum().backward()
    f(own).square().sum().backward()
    same(given.grad, own.grad, 1e-5)


def test_layouts():
    f = polyblocks_jit_torch(lambda x, y: x @ y)
    x = torch.randn(4, 3)
    same(f(x.T, x), x.T @ x)
    same(f(x[::2], x.T[:, :2]), x[::2] @ x.T[:, :2])
    z = torch.randn(3, dtype=torch.complex64)
    same(torch.view_as_real(polyblocks_jit_torch(lambda z: z * 2)(z.conj())), torch.view_as_real((z.conj() * 2).resolve_conj()))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_types(dtype):
    x = torch.arange(-3, 9).clamp(0 if dtype == torch.uint8 else -3).to(dtype).view(3, 4)
    same(polyblocks_jit_torch(lambda x: (x * x + 1, x.sum(1), x > 1, x.float().mean()))(x), (x * x + 1, x.sum(1), x > 1, x.float().mean()))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        self.total.add_(x)
        return self.total * self.scale

    @polyblocks_jit_torch
    def double(self, x):
        return 2 * self.scale * x


def test_numbers_at_edges():
    """Powers of a base have whole logarithms, infinity has no floor but NaN, NaN stands behind all."""

    def function(twos, tens, y, places):
        return torch.log2(twos), torch.log10(tens), torch.div(y, y.flip(0), rounding_mode="floor"), y // 2, torch.bucketize(y, places), torch.bucketize(y, places, right=True), torch.searchsorted(places, 0.25)

    for dtype in (torch.float32, torch.float64):
        ends = [0, -1, math.inf, math.nan]
        twos, tens = torch.tensor([2.0**k for k in range(-30, 40)] + ends, dtype=dtype), torch.tensor([float(f"1e{k}") for k in range(-20, 11)] + ends, dtype=dtype)
        y = torch.tensor([math.inf, -3, 3, -0.0, math.nan, 0.25, -math.inf, 2], dtype=dtype)
        given = twos, tens, y, torch.linspace(-1, 1, 9, dtype=dtype)
        for got, want in zip(polyblocks_jit_torch(function)(*given), function(*given)):
            torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


def test_codes():
    """Rows of quantized_decomposed, at ties and outside of what codes have."""
    import torch.ao.quantization.fx._decomposed  # noqa: F401

    q = torch.ops.quantized_decomposed
    x = torch.cat([torch.arange(-40, 40) * 0.05, torch.randn(400, generator=torch.Generator().manual_seed(5)) * 9]).reshape(4, 6, 20)
    scale, zero = torch.tensor([0.1, 0.03, 0.5, 0.11, 0.7, 0.02]), torch.tensor([0, 3, -7, 100, 0, -128])

    def f(x, scale, zero):
        one = q.quantize_per_tensor(x, 0.1, 3, -128, 127, torch.int8)
        two = q.quantize_per_tensor.tensor(x, scale[1], zero[1], 0, 255, torch.uint8)
        each = q.quantize_per_channel(x, scale, zero, 1, -127, 127, torch.int8)
        words = q.quantize_per_tensor(x, 0.001, 0, -(2**31), 2**31 - 1, torch.int32)
        return (one, two, each, words, q.dequantize_per_tensor(one, 0.1, 3, -128, 127, torch.int8), q.dequantize_per_tensor.tensor(two, scale[1], zero[1], 0, 255, torch.uint8),
                q.dequantize_per_channel(each, scale, zero, 1, -127, 127, torch.int8), q.dequantize_per_channel(each, scale, None, 1, -127, 127, torch.int8))

    same(polyblocks_jit_torch(f)(x, scale, zero), f(x, scale, zero), 1e-6)


def test_state():
    """Buffers that a module writes, parameters that are changed between calls, methods."""
    module = Counter()
    f = polyblocks_jit_torch(module)
    with torch.no_grad():
        for k in range(1, 4):
            same(f(torch.ones(3)), torch.full((3,), float(k)))
        assert torch.equal(module.total, torch.full((3,), 3.0))
        module.scale.mul_(2)
        same(f(torch.ones(3)), torch.full((3,), 8.0))
        module.scale = nn.Parameter(torch.full((3,), 3.0))
        same(f(torch.ones(3)), torch.full((3,), 15.0))
        same(module.double(torch.ones(3)), torch.full((3,), 6.0))
    assert isinstance(f.state_dict(), dict) and f.total is module.total and list(f.modules()) == [module]


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.parts, self.last, self.by = nn.Linear(3, 3), nn.ModuleList([nn.Linear(3, 3)]), nn.Identity(), torch.ones(3)

    def forward(self, x):
        x = self.first(x) * self.by
        for part in self.parts:
            x = part(x)
        return self.last(x)

    @polyblocks_jit_torch
    def called(self, x):
        return self(x)


def test_what_modules_hold_is_replaced():
    """Parts, plain tensors, hooks; another module under a name that a function reads."""
    module, x = Parts(), torch.randn(2, 3)
    scale = torch.ones(3)
    ways = polyblocks_jit_torch(module), polyblocks_jit_torch(lambda x: module(x) * scale), module.called
    changes = [
        lambda: None, lambda: setattr(module, "by", torch.full((3,), 5.0)), lambda: setattr(module, "first", nn.Linear(3, 3)),
        lambda: module.parts.append(nn.Linear(3, 3)), lambda: setattr(module, "last", nn.Tanh()), lambda: setattr(module.first, "bias", None),
        lambda: setattr(module.first, "bias", nn.Parameter(torch.ones(3))), lambda: module.first.register_forward_hook(lambda part, x, y: 2 * y),
        lambda: module.parts.__delitem__(0), lambda: setattr(module.first, "weight", nn.Parameter(torch.zeros(3, 3))),
    ]  # fmt: skip
    with torch.no_grad():
        for change in changes:
            change()
            for way in ways:
                same(way(x), module(x), 1e-6)
        scale = torch.full((3,), 3.0)
        same(ways[1](x), 3 * module(x), 1e-6)
        module = Parts()
        same(ways[1](x), 3 * module(x), 1e-6)
    assert len(ways[1].programs) == 1


def test_tensors_closed_over_and_autocast():
    w, x = torch.ones(3), torch.randn(4, 4)
    f = polyblocks_jit_torch(lambda x: x * w)
    same(f(torch.ones(3)), torch.ones(3))
    w.mul_(2)
    same(f(torch.ones(3)), torch.full((3,), 2.0))
    g = polyblocks_jit_torch(lambda x: x @ x)
    same(g(x), x @ x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        same(g(x), x @ x)


def test_written_arguments():
    @polyblocks_jit_torch
    def f(x, y):
        x.add_(y)
        return x * 2

    x = torch.ones(3)
    same(f(x, torch.ones(3)), torch.full((3,), 4.0))
    assert torch.equal(x, torch.full((3,), 2.0))


def test_constants_follow_their_tensors():
    layer = nn.Linear(4, 3)
    f = polyblocks_jit_torch(layer, compile_options={"device_one_time_load": True})
    x = torch.randn(2, 4)
    with torch.no_grad():
        same(f(x), layer(x))
        (program,) = f.programs.values()
        assert len(program.engine().engine.inputs) == 1
        layer.weight.add_(1)
        same(f(x), layer(x))
        layer.bias = nn.Parameter(torch.zeros(3))
        same(f(x), layer(x))


def test_weights_at_run_time_are_said_to_cost():
    layer, x = nn.Linear(300, 300), torch.randn(2, 300)
    with torch.no_grad():
        with pytest.warns(polyblocks.PolyBlocksWarning, match="device_one_time_load"):
            same(polyblocks_jit_torch(layer)(x), layer(x))
        with warnings.catch_warnings():
            warnings.simplefilter("error", polyblocks.PolyBlocksWarning)
            same(polyblocks_jit_torch(layer, compile_options={"device_one_time_load": True})(x), layer(x))


def test_a_class_and_functions_inside():
    @polyblocks_jit_torch
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return part(self.layer(x))

    @polyblocks_jit_torch
    def part(x):
        return torch.relu(x) + 1

    net, x = Net(), torch.randn(2, 3)
    with torch.no_grad():
        same(net(x), torch.relu(net.layer(x)) + 1)
        net.layer.weight.zero_()
        same(net(x), torch.relu(net.layer(x)) + 1)


def test_drawn_numbers():
    """As eager draws them from the same seed."""

    def f(x):
        return x + torch.rand(3, 4) * torch.randn(4), torch.randint(0, 9, (5,))

    x = torch.zeros(3, 4)
    torch.manual_seed(5)
    want = f(x), f(x)
    torch.manual_seed(5)
    g = polyblocks_jit_torch(f)
    same((g(x), g(x)), want)


def test_gradients_are_refused_by_the_decorator():
    x = torch.ones(3, requires_grad=True) * 2
    with pytest.raises(polyblocks.ArgumentError, match='backend="polyblocks"'):
        polyblocks_jit_torch(lambda x: x * 2)(x)
    with torch.no_grad():
        same(polyblocks_jit_torch(lambda x: x * 2)(x), torch.full((3,), 4.0))


def test_shapes_that_change():
    """One program for each number of rows, and each is told once."""
    torch.compiler.reset()
    f = torch.compile(lambda x, w: torch.softmax(x @ w, -1).sum(0), backend="polyblocks", dynamic=True)
    w = torch.randn(6, 6)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for rows in (3, 5, 4, 5, 3, 4):
            x = torch.randn(rows, 6)
            same(f(x, w), torch.softmax(x @ w, -1).sum(0))
    told = [str(t.message) for t in told if t.category is polyblocks.PolyBlocksWarning and "is compiled for inputs" in str(t.message)]
    assert [("5x6" in told[0], "besides 1 before" in told[0]), ("4x6" in told[1], "besides 2 before" in told[1])] == [(True, True)] * 2
    assert len(told) == 2
    same(f(w[:1], w), torch.softmax(w[:1] @ w, -1).sum(0))


def test_graph_breaks():
    torch.compiler.reset()

    def f(x):
        y = torch.sin(x)
        print("between")
        return torch.cos(y) if y.sum() > 0 else y

    x = torch.ones(3)
    with pytest.warns(polyblocks.PolyBlocksWarning, match="a graph is broken: .*print"):
        same(torch.compile(f, backend="polyblocks")(x), torch.cos(torch.sin(x)))


def test_backend_options():
    torch.compiler.reset()
    with pytest.raises(Exception, match="no compile option 'targett'"):
        torch.compile(lambda x: x + 1, backend="polyblocks", options={"targett": "cpu"})(torch.ones(3))


def test_threads():
    f, wrong = polyblocks_jit_torch(lambda x: torch.cumsum(x, 0) * 2), []

    def work(k):
        for turn in range(30):
            x = torch.full((20 + turn % 3,), float(k))
            if not torch.equal(f(x), torch.cumsum(x, 0) * 2):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(f.programs) == 3


def test_engines_take_tensors():
    text = '"builtin.module"() ({ "func.func"() <{function_type = (tensor<3xbf16>) -> tensor<3xbf16>, sym_name = "main"}> ({ ^bb0(%x: tensor<3xbf16>): %y = "stablehlo.add"(%x, %x) : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xbf16> "func.return"(%y) : (tensor<3xbf16>) -> () }) : () -> () }) : () -> ()'
    x = torch.tensor([1.0, 2.5, -3.0], dtype=torch.bfloat16)
    made = polyblocks.compile(text)(x)
    bits = (x + x).view(torch.int16).numpy()
    assert np.array_equal(made.view(np.int16), bits)


def test_explain():
    f = polyblocks_jit_torch(lambda x, y: torch.tanh(x @ y))
    text = polyblocks.explain(f, torch.ones(8, 8), torch.ones(8, 8))
    assert "dot_general" in text or "tanh" in text
    assert not f.programs


@dataclasses.dataclass
class Pair:
    both: torch.Tensor
    rest: dict


def test_dataclasses():
    x = torch.arange(3.0)
    made = polyblocks_jit_torch(lambda pair, k: Pair(pair.both * k + pair.rest["y"], {"z": pair.both - 1}))(Pair(x, {"y": x}), 2)
    assert type(made) is Pair
    torch.testing.assert_close((made.both, made.rest["z"]), (3 * x, x - 1))


def test_tables_that_are_known():
    """Operators of no tensor that nobody takes apart."""
    torch.testing.assert_close(polyblocks_jit_torch(lambda x: x * torch.hamming_window(5, periodic=False))(torch.ones(5)), torch.hamming_window(5, periodic=False))


def test_numbers_in_front():
    k = torch.tensor([2, -3, 5])
    made = polyblocks_jit_torch(lambda k: (-7 // k, 7 % k, 2 - k, 3 / k))(k)
    torch.testing.assert_close(made, (-7 // k, 7 % k, 2 - k, 3 / k))


def test_results_in_given_tensors():
    """out= of another size, and of a part."""

    def function(x):
        p, q = torch.empty(0), torch.zeros(4, 4)
        torch.matmul(x, x.T, out=p)
        torch.exp(x, out=q[:3])
        return p, q

    x = torch.linspace(-1, 1, 12).view(3, 4)
    torch.testing.assert_close(polyblocks_jit_torch(function)(x), function(x))


def test_modes_and_medians():
    x, nan = torch.tensor([[3, 1, 3, 2, 1], [2, 2, 2, 2, 2], [5, 5, 1, 1, 0]]), math.nan
    y = torch.tensor([[nan, 1, nan], [2, nan, 1], [nan, nan, nan], [3, 2, 2]])

    def function(x, y):
        return x.mode(1), x.float().mode(0)[0], (x > 2).mode(1)[0], y.median(1), y.median(0, True), y.nanmedian(1), x[0].mode(), torch.tensor(3).mode()

    for got, want in zip(polyblocks_jit_torch(function)(x, y), function(x, y), strict=True):
        torch.testing.assert_close(tuple(got) if isinstance(got, tuple) else got, tuple(want) if isinstance(want, tuple) else want, equal_nan=True)


@pytest.mark.parametrize("way", ["decorator", "compile"])
def test_maxima_of_bags(way):
    table, at, begins = torch.linspace(-1, 1, 27).view(9, 3).sin(), torch.tensor([3, 0, 8, 2, 3, 5]), torch.tensor([0, 2, 2])
    torch.compiler.reset()

    def function(at, begins):
        return F.embedding_bag(at, table, begins, mode="max"), F.embedding_bag(at.view(2, 3), table, mode="max"), F.embedding_bag(at, table, begins, mode="max", padding_idx=3)

    compiled = polyblocks_jit_torch(function) if way == "decorator" else torch.compile(function, backend="polyblocks")
    torch.testing.assert_close(compiled(at, begins), function(at, begins))


def test_gaussian_loss():
    x, y, var = torch.randn(4, 3), torch.randn(4, 3), torch.rand(4, 3)
    for given in ({}, {"full": True, "reduction": "sum"}):
        torch.testing.assert_close(polyblocks_jit_torch(lambda x, y, v: F.gaussian_nll_loss(x, y, v, **given))(x, y, var), F.gaussian_nll_loss(x, y, var, **given))


class BagsAndPairs(nn.Module):
    """Whose gradients PyTorch has as kernels alone."""

    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(9, 3, mode=mode) for mode in ("max", "mean", "sum"))

    def forward(self, x):
        at = torch.tensor([3, 0, 8, 2, 3, 5])
        return torch.cat([bag(at, torch.tensor([0, 2, 2])).flatten() for bag in self.bags] + [torch.pdist(x, p) for p in (1.0, 2.0, 3.0)])


def test_gradients_of_bags_and_pairs():
    torch.compiler.reset()
    torch.manual_seed(0)
    plain, x = BagsAndPairs(), torch.randn(5, 4)
    results = []
    for module in (plain, torch.compile(copy.deepcopy(plain), backend="polyblocks")):
        given = x.clone().requires_grad_()
        y = module(given)
        (y * torch.linspace(0.5, 1.5, y.numel())).sum().backward()
        results.append([y, given.grad, *[p.grad for p in module.parameters()]])
    same(results[1], results[0])


def picked(x, n, k):
    """Numbers in tensors as indices."""
    y = x.clone()
    y[:, n] = x[0, 1:2]
    y[k] *= 2
    y[0, ..., n] = 1.0
    return x[n], x[:, n], x[..., n], x[n, 1:], x[None, n], x[1, n], x[n, k], x[:, k, None], x[k, 0, n], x[2:, n, ::2], y


def test_places_in_tensors():
    x, compiled = torch.arange(60.0).view(5, 3, 4).sin(), polyblocks_jit_torch(picked)
    for n, k in ((2, -1), (0, 1), (-3, 2)):
        n, k = torch.tensor(n), torch.tensor(k)
        torch.testing.assert_close(compiled(x, n, k), picked(x, n, k))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_and_numbers(dtype):
    """To the bit: eager does not round a factor that is a number."""
    x = torch.linspace(-3, 3, 101).to(dtype)

    def function(x, s, n):
        return x * 0.1, x / 0.3, 0.3 / x.abs().add(1), x * s, x / s, x * n, x + 0.1, 0.1 - x, x / 7, x * x

    given = x, torch.tensor(0.1), torch.tensor(3)
    for got, want in zip(polyblocks_jit_torch(function)(*given), function(*given), strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize("mode, last", [("sum", False), ("mean", False), ("mean", True)])
def test_a_bag_does_not_meet_what_is_no_number_in_another(mode, last):
    table = torch.randn(20, 5)
    table[7], table[9] = float("inf"), float("nan")
    index, begins = torch.tensor([1, 2, 7, 3, 4, 9, 0, 0, 5, 6, 19]), torch.tensor([0, 2, 2, 5, 6] + [11] * last)

    def bags(table, index, begins):
        return F.embedding_bag(index, table, begins, mode=mode, include_last_offset=last, padding_idx=0)

    for dtype in torch.float32, torch.float64:
        want = bags(table.to(dtype), index, begins)
        got = polyblocks_jit_torch(compile_options={"target": "cpu"})(bags)(table.to(dtype), index, begins)
        torch.testing.assert_close(got, want, equal_nan=True)
