"""LSTM, GRU and plain recurrent layers: kept whole, as loops over their steps, against eager."""

import warnings

import pytest
import torch
from torch import nn

import polyblocks
from polyblocks import polyblocks_jit_torch
from polyblocks.aten import recurrent

warnings.filterwarnings("ignore", category=polyblocks.errors.PolyBlocksWarning)
polyblocks.dynamo.register()
KINDS = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": lambda *a, **k: nn.RNN(*a, nonlinearity="tanh", **k), "relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k)}


def drawn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)), dtype=dtype)


class Several(nn.Module):
    """Layers, each of an input of its own, with a state or without."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, *given):
        return [layer(*(x if isinstance(x, tuple) else (x,))) for layer, x in zip(self.layers, given)]


def state(layer, many, dtype):
    """A state, of LSTM two; many: None for what has no batch."""
    count = layer.num_layers * (1 + layer.bidirectional)
    middle = () if many is None else (many,)
    h = drawn(count, *middle, layer.proj_size or layer.hidden_size, dtype=dtype)
    return (h, drawn(count, *middle, layer.hidden_size, dtype=dtype)) if layer.mode == "LSTM" else h


def cases(kind, dtype):
    """Sizes around vectors' lanes, and each of the layers' arguments."""
    torch.manual_seed(3)
    make = KINDS[kind]
    pairs = [
        (make(5, 7), drawn(11, 3, 5, dtype=dtype)),
        (make(5, 16, 2, batch_first=True), drawn(2, 9, 5, dtype=dtype)),
        (make(17, 15, bidirectional=True), drawn(12, 1, 17, dtype=dtype)),
        (make(16, 17, 2, bidirectional=True, batch_first=True, bias=False), drawn(4, 10, 16, dtype=dtype)),
        (make(1, 1), drawn(9, 1, 1, dtype=dtype)),
        (make(3, 33, 2, dropout=0.5), drawn(10, 9, 3, dtype=dtype)),
        (make(6, 8), drawn(13, 6, dtype=dtype)),
        (make(4, 5, bidirectional=True), drawn(1, 2, 4, dtype=dtype)),
    ]
    if kind == "lstm":
        pairs.append((make(6, 9, 2, proj_size=4, bidirectional=True, batch_first=True), drawn(2, 10, 6, dtype=dtype)))
        pairs.append((make(6, 9, proj_size=4, bias=False), drawn(5, 2, 6, dtype=dtype)))
    layers = [layer for layer, _ in pairs]
    given = [(x, state(layer, None if x.dim() == 2 else x.shape[0 if layer.batch_first else 1], dtype)) if k % 2 else x for k, (layer, x) in enumerate(pairs)]
    return Several(*layers).eval().to(dtype), given


def near(got, want, within):
    got, want = torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        torch.testing.assert_close(a, b, rtol=within, atol=within)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_eager(kind, dtype):
    model, given = cases(kind, dtype)
    if dtype == torch.float64:
        model, given = Several(*model.layers[:4]), given[:4]
    with torch.no_grad():
        near(polyblocks_jit_torch(model)(*given), model(*given), 1e-5 if dtype == torch.float32 else 1e-12)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_compile(kind):
    model, given = cases(kind, torch.float32)
    model, given = Several(*model.layers[2:6]), given[2:6]
    with torch.no_grad():
        near(torch.compile(model, backend="polyblocks")(*given), model(*given), 1e-5)
    torch._dynamo.reset()


def text_of(model, *x, **options):
    return polyblocks_jit_torch(model, compile_options=options).polyblocks_describe(*x)[1]


def test_many_steps_are_a_loop():
    model = nn.LSTM(4, 8, 2, bidirectional=True)
    with torch.no_grad():
        short, long, few = (text_of(model, torch.zeros(steps, 2, 4)) for steps in (100, 200, recurrent.WRITTEN_OUT))
        npu = text_of(model, torch.zeros(12, 2, 4), target="simnpu")
    assert short.count("stablehlo.while") == 4 and long.count("\n") == short.count("\n")
    assert "stablehlo.while" not in few and "stablehlo.while" not in npu  # which reads nothing at a number that comes at run time


def test_chip_without_loops():
    model, x = nn.GRU(16, 32, batch_first=True).eval(), drawn(2, 11, 16)
    with torch.no_grad():
        near(polyblocks_jit_torch(model, compile_options={"target": "simnpu"})(x), model(x), 1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_training(kind):
    """Gradients are those of PyTorch's steps."""
    model, x = KINDS[kind](4, 6, 2, bidirectional=True), drawn(10, 2, 4)

    def gradients(function):
        model.zero_grad()
        y, _ = function(x)
        y.square().sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    want = gradients(model)
    near(gradients(torch.compile(model, backend="polyblocks")), want, 1e-4)
    torch._dynamo.reset()


def test_gradient_of_an_input():
    model, x = nn.GRU(4, 6).eval().requires_grad_(False), drawn(9, 2, 4)
    compiled = torch.compile(lambda x: torch.func.grad(lambda x: model(x)[0].square().sum())(x), backend="polyblocks")
    y = x.clone().requires_grad_()
    model(y)[0].square().sum().backward()
    near(compiled(x), y.grad, 1e-4)
    torch._dynamo.reset()


def test_dropout_is_drawn():
    """Between layers that train, as eager draws it."""
    model, x = nn.GRU(4, 6, 3, dropout=0.5, bidirectional=True, batch_first=True), drawn(3, 9, 4)
    with torch.no_grad():
        compiled = polyblocks_jit_torch(model)
        torch.manual_seed(5)
        want = model(x)
        torch.manual_seed(5)
        near(compiled(x), want, 1e-5)


def test_halves():
    for dtype in (torch.bfloat16, torch.float16):
        model, x = nn.LSTM(8, 16).eval().to(dtype), drawn(10, 2, 8).to(dtype)
        with torch.no_grad():
            near(polyblocks_jit_torch(model)(x), model(x), 2e-2)


def test_packed_sequences():
    model, x = nn.LSTM(4, 6).eval(), drawn(10, 3, 4)

    def packed(x):
        y, _ = model(nn.utils.rnn.pack_padded_sequence(x, torch.tensor([10, 7, 2])))
        return nn.utils.rnn.pad_packed_sequence(y)[0]

    with torch.no_grad():
        try:
            made = polyblocks_jit_torch(packed)(x)
        except polyblocks.errors.NotSupported:
            return
        near(made, packed(x), 1e-5)


def test_open_extents():
    """Of an exported program, whose batch is open (of time PyTorch itself keeps it to one number), and of dynamo's symbols."""
    model = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True).eval()
    dims = {0: torch.export.Dim("n", min=2, max=64)}
    with torch.no_grad():
        program = torch.export.export(model, (drawn(3, 20, 4),), dynamic_shapes=(dims,))
        run, dynamic = polyblocks.compile(program), torch.compile(model, backend="polyblocks", dynamic=True)
        for many, steps in ((3, 20), (5, 33)):
            x, y = drawn(many, 20, 4), drawn(many, steps, 4)
            near(run(x), model(x), 1e-5)
            near(dynamic(y), model(y), 1e-5)
        assert run.jit.polyblocks_describe(x)[1].count("stablehlo.while") == 4
    torch._dynamo.reset()
