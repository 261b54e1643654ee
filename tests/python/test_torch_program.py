"""Programs of torch.export given to polyblocks.compile: open dims, multiples of them, inputs that nest, files."""

import warnings

import numpy as np
import polyblocks
import pytest
import torch
from torch import nn
from torch.export import Dim, export
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8, 5)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, 8).view(8, 1, 1))

    def forward(self, x):
        return self.last((F.relu(self.first(x)) * self.scale).mean((2, 3)))


class Windows(nn.Module):
    """Of pictures whose sides are multiples of 4."""

    def forward(self, x):
        n, c, h, w = x.shape
        return x.view(n, c, h // 4, 4, w // 4, 4).permute(0, 2, 4, 1, 3, 5).flatten(3).amax(-1), h * 2


class Nested(nn.Module):
    def forward(self, pair, *, named, scale=2.0):
        return {"sum": pair[0] + pair[1] * scale, "named": [named["a"] @ pair[0], None]}


def same(got, want):
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_numbers(tmp_path):
    torch.manual_seed(0)
    net, x = Net().eval(), torch.randn(2, 3, 16, 16)
    run = polyblocks.compile(export(net, (x,)), target="cpu")
    same(run(x), net(x))
    same(run(x.numpy()), net(x))
    run.save(tmp_path / "net.pbe")
    same(torch.from_numpy(polyblocks.load(tmp_path / "net.pbe")(x)), net(x))
    with pytest.raises(polyblocks.ArgumentError, match="'x'.*equal to 16, but got 8"):
        run(torch.randn(2, 3, 8, 16))
    with pytest.raises(polyblocks.ArgumentError, match="'x' takes torch.float32, not torch.float64"):
        run(x.double())
    with pytest.raises(polyblocks.ArgumentError, match="the program takes x: float32"):
        run(x, x)


def test_open_dims(tmp_path):
    torch.manual_seed(0)
    net = Net().eval()
    program = export(net, (torch.randn(2, 3, 16, 16),), dynamic_shapes={"x": {0: Dim("batch", max=64), 2: Dim("h"), 3: Dim("w")}})
    run = polyblocks.compile(program)
    for shape in (2, 3, 16, 16), (5, 3, 9, 12), (1, 3, 7, 7), (5, 3, 9, 12):
        x = torch.randn(shape)
        if shape in [key[0][0] for key in run.made]:
            same(run(x), net(x))
        else:
            with pytest.warns(polyblocks.PolyBlocksWarning, match="is compiled for inputs of"):
                same(run(x), net(x))
    assert len(run.made) == 3
    with pytest.raises(polyblocks.ArgumentError, match="'x'.*<= 64, but got 65"):
        run(torch.randn(65, 3, 8, 8))
    with pytest.raises(polyblocks.ArgumentError, match="input_shapes says for which"):
        run.save(tmp_path / "net.pbe")
    run = polyblocks.compile(program, input_shapes={"x": ([1, 4], 3, 8, [8, 12])})
    for shape in (1, 3, 8, 8), (4, 3, 8, 12):
        x = torch.randn(shape)
        same(run(x), net(x))
    with pytest.raises(polyblocks.ArgumentError, match="for what input_shapes says alone"):
        run(torch.randn(4, 3, 8, 8))
    with pytest.raises(polyblocks.ArgumentError, match="'x' open"):
        polyblocks.compile(program, input_shapes={"x": (1, 3, "?", 8)})


def test_multiples():
    side = Dim("side")
    program = export(Windows(), (torch.randn(1, 2, 16, 8),), dynamic_shapes={"x": {2: 4 * side, 3: 4 * Dim("other")}})
    run = polyblocks.compile(program)
    for shape in (1, 2, 16, 8), (1, 2, 8, 12):
        x = torch.randn(shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
            got, want = run(x), Windows()(x)
        same(got[0], want[0])
        assert got[1] == want[1]
    with pytest.raises(polyblocks.ArgumentError, match="'x'.* = 10 to be of the form 4"):
        run(torch.randn(1, 2, 10, 8))


def test_nests():
    a, b, c = torch.randn(4, 3), torch.randn(4, 3), torch.randn(2, 4)
    run = polyblocks.compile(export(Nested(), ((a, b),), {"named": {"a": c}}))
    got, want = run((a, b), named={"a": c}), Nested()((a, b), named={"a": c})
    same(got["sum"], want["sum"])
    same(got["named"][0], want["named"][0])
    assert got["named"][1] is None


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count.add_(1)
        return x * self.count


def test_state(tmp_path):
    run, x = polyblocks.compile(export(Counter(), (torch.ones(2),))), torch.ones(2)
    same(run(x), torch.ones(2))
    same(run(x), torch.full((2,), 2.0))
    with pytest.raises(polyblocks.ArgumentError, match="has a state"):
        run.save(tmp_path / "counter.pbe")


def test_mistakes():
    program = export(Net().eval(), (torch.randn(1, 3, 8, 8),))
    with pytest.raises(polyblocks.ArgumentError, match="donate is nothing of a torch.export program's"):
        polyblocks.compile(program, donate={"x": "out0"})
    with pytest.raises(polyblocks.ArgumentError, match="no input 'y'; there are x"):
        polyblocks.compile(program, input_shapes={"y": (1, 3, 8, 8)})
    with pytest.raises(polyblocks.OptionError):
        polyblocks.compile(program, targets="cpu")
    with pytest.raises(polyblocks.CompileError, match="only data say"):
        polyblocks.compile(export(Kept(), (torch.randn(4),)))


class Kept(nn.Module):
    def forward(self, x):
        return x[x > 0]


def test_arrays_and_plans():
    program = export(Net().eval(), (torch.randn(1, 3, 8, 8),))
    assert "convolution" in polyblocks.explain(polyblocks.compile(program), np.zeros((1, 3, 8, 8), np.float32))
