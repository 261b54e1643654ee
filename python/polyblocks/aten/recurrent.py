"""LSTM, GRU and plain recurrent layers, kept whole: PyTorch writes out their steps, each of them some operators.

While a graph is exported a layer is one operator, polyblocks::recurrent, of which a row makes loops: the inputs' products of
all steps at once, in front of a loop whose turn is a step. Only where nothing trains: it has no gradient."""

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .products import linear, mm
from .table import row

WRITTEN_OUT = 8  # steps, at most
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
PLAIN = {kind: getattr(torch, kind) for kind in GATES}


@torch.library.custom_op("polyblocks::recurrent", mutates_args=())
def recurrent(kind: str, x: torch.Tensor, state: list[torch.Tensor], weights: list[torch.Tensor], biased: bool, both_ways: bool) -> list[torch.Tensor]:
    """The results of all steps of a layer, whose dim comes first, and the state behind the last."""
    first = state if kind == "lstm" else state[0]
    return [made.clone() for made in PLAIN[kind](x, first, weights, biased, 1, 0.0, False, both_ways, False)]


@recurrent.register_fake
def _(kind, x, state, weights, biased, both_ways):
    return [x.new_empty((*x.shape[:2], state[0].shape[2] * (1 + both_ways))), *(x.new_empty(s.shape) for s in state)]


def whole(kind):
    """What is called in the place of PyTorch's function."""

    def function(*args, **named):
        return not named and kept(kind, *args) or PLAIN[kind](*args, **named)

    return function


def kept(kind, x, state, weights=None, biased=None, layers=None, dropout=None, train=None, both_ways=None, batch_first=None):
    """None where PyTorch shall do it: packed sequences, and what is empty or wrong or needs a gradient."""
    state = state if isinstance(state, (list, tuple)) else [state]
    if not isinstance(weights, (list, tuple)) or not fits(kind, x, state, weights, biased, layers, both_ways, batch_first):
        return None
    x = x.transpose(0, 1) if batch_first else x
    ways, each, ends = 1 + both_ways, len(weights) // layers, []
    for k in range(layers):
        if k and train and dropout:
            x = torch.dropout(x, dropout, True)
        first = [s[k * ways : (k + 1) * ways] for s in state]
        x, *last = recurrent(kind, x, first, list(weights[k * each : (k + 1) * each]), biased, both_ways)
        ends.append(last)
    return (x.transpose(0, 1) if batch_first else x, *(torch.cat(end) for end in zip(*ends)))


def fits(kind, x, state, weights, biased, layers, both_ways, batch_first):
    """Whether it is what eager takes, of one type, and needs no gradient."""
    tensors = [x, *state, *weights]
    if x.dim() != 3 or not x.is_floating_point() or any(t.dtype != x.dtype for t in tensors) or statically_known_true(x.numel() == 0):
        return False
    if torch.is_autocast_enabled("cpu") or torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return False
    if torch._C._functorch.peek_interpreter_stack() is not None:  # torch.func's transforms
        return False
    return len(state) == 1 + (kind == "lstm") and is_of_layers(kind, x, state, weights, biased, layers, 1 + both_ways, batch_first)


def is_of_layers(kind, x, state, weights, biased, layers, ways, batch_first):
    """Whether the weights and states are of the extents that they must have, which eager checks."""
    wide, left = state[-1].shape[-1], state[0].shape[-1]
    projects = left != wide
    rows, shapes = GATES[kind] * wide, []
    for k in range(layers):
        shapes += [(rows, left * ways if k else x.shape[2]), (rows, left), *[(rows,)] * (2 * biased), *[(left, wide)] * projects] * ways
    many = x.shape[0 if batch_first else 1]
    return [tuple(w.shape) for w in weights] == shapes and all(s.dim() == 3 and s.shape[:2] == (layers * ways, many) for s in state)


# ---- the row ----


def spread(b, bias, shape):
    return b.broadcast(bias, shape, (len(shape) - 1,))


def sigmoid(b, x):
    return b.unary("logistic", x)


def parts(b, x, count):
    size = x.shape[-1] // count
    return [b.along(x, x.rank - 1, k * size, (k + 1) * size) for k in range(count)]


def lstm_step(b, given, state, w, bias, projection):
    h, c = state
    i, f, g, o = parts(b, b.add(given, mm(b, h, w)), 4)
    c = b.add(b.multiply(sigmoid(b, f), c), b.multiply(sigmoid(b, i), b.unary("tanh", g)))
    h = b.multiply(sigmoid(b, o), b.unary("tanh", c))
    return [h if projection is None else mm(b, h, projection), c]


def gru_step(b, given, state, w, bias, projection):
    (h,) = state
    (r, z, n), (r_h, z_h, n_h) = parts(b, given, 3), parts(b, b.add(mm(b, h, w), bias) if bias else mm(b, h, w), 3)
    n = b.unary("tanh", b.add(n, b.multiply(sigmoid(b, b.add(r, r_h)), n_h)))
    return [b.add(n, b.multiply(sigmoid(b, b.add(z, z_h)), b.subtract(h, n)))]


def plain_step(activation):
    def step(b, given, state, w, bias, projection):
        y = b.add(given, mm(b, state[0], w))
        return [b.unary("tanh", y) if activation == "tanh" else b.binary("maximum", y, 0)]

    return step


STEPS = {"lstm": lstm_step, "gru": gru_step, "rnn_tanh": plain_step("tanh"), "rnn_relu": plain_step("relu")}


def one_way(b, kind, x, state, weights, biased, backwards):
    """A layer from the first step to the last, or the other way: the results of all steps, and the state behind the last."""
    w_in, w, *rest = weights
    projection = b.transpose(rest.pop(), (1, 0)) if len(rest) % 2 else None
    w = b.transpose(w, (1, 0))
    given = linear(b, x, w_in, spread(b, rest[0], (*x.shape[:2], w_in.shape[0])) if biased else None)
    bias = rest[1] if biased else None
    if biased and kind != "gru":  # of which one part is multiplied
        given = b.add(given, spread(b, bias, given.shape))
    steps, many, wide = given.shape

    def step(b, at, state):
        return STEPS[kind](b, b.reshape(at, (many, wide)), state, w, None if bias is None else spread(b, bias, (many, wide)), projection)

    if steps <= WRITTEN_OUT or not b.may_loop():
        rows = [None] * steps
        for k in reversed(range(steps)) if backwards else range(steps):
            state = step(b, b.along(given, 0, k, k + 1), state)
            rows[k] = b.reshape(state[0], (1, *state[0].shape))
        return b.concatenate(rows, 0), state

    def turn(b, k, y, *state):
        k = b.subtract(b.constant(steps - 1, k.dtype), k) if backwards else k
        state = step(b, b.part(given, [k, None, None], (1, many, wide)), list(state))
        return [b.put(y, b.reshape(state[0], (1, *state[0].shape)), [k, None, None]), *state]

    y, *state = b.turns(steps, [b.constant(0, x.dtype, (steps, *state[0].shape)), *state], turn)
    return y, state


@row("polyblocks.recurrent")
def layer(b, kind, x, state, weights, biased, both_ways):
    each, sides = len(weights) // (1 + both_ways), []
    for way in range(1 + both_ways):
        first = [b.reshape(b.along(s, 0, way, way + 1), s.shape[1:]) for s in state]
        sides.append(one_way(b, kind, x, first, weights[way * each : (way + 1) * each], biased, way == 1))
    ends = [[b.reshape(end, (1, *end.shape)) for end in way] for way in zip(*(last for _, last in sides))]
    return [b.concatenate([y for y, _ in sides], 2), *(b.concatenate(end, 0) for end in ends)]
