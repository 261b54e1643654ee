"""Branches, loops and scans, whose bodies are a few operators of elements or a product. Functions of a drawing and a tensor."""

import numpy as np
from onnx import TensorProto, helper

PAIRS = ["Add", "Sub", "Mul", "Max", "Min"]
ALONE = ["Tanh", "Sigmoid", "Abs", "Neg", "Relu", "Identity", "Softsign"]


class Body:
    """Nodes of a graph inside a node; their names are no others'."""

    def __init__(self, d):
        self.d, self.nodes, self.stem = d, [], f"body{len(d.graph.nodes)}_{len(d.graph.consts)}_"

    def name(self, what):
        return self.stem + what

    def op(self, kind, *names, **attrs):
        made = self.name(f"t{len(self.nodes)}")
        self.nodes.append(helper.make_node(kind, list(names), [made], **attrs))
        return made

    def mixed(self, a, b):
        """Of two tensors of one shape, one of it that stays small."""
        y = self.op(self.d.rng.choice(PAIRS), *((a, b) if self.d.chance(0.5) else (b, a)))
        return self.op(self.d.rng.choice(ALONE if self.d.chance(0.5) else ["Tanh"]), y)

    def info(self, name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)

    def graph(self, inputs, outputs):
        return helper.make_graph(self.nodes, self.stem + "graph", inputs, outputs)


def scan(d, x):
    """Over any axis and either way; a state, and what each turn leaves along any axis."""
    if not x.rank or x.array.dtype != np.float32:
        return None
    axis, body = d.axis(x.rank), Body(d)
    rest = list(x.shape)
    turns = rest.pop(axis)
    if turns > 17:
        return None
    state, part = body.name("state"), body.name("part")
    after = body.mixed(state, part)
    left = body.mixed(after, part) if d.chance(0.6) else body.op("Identity", after)
    graph = body.graph([body.info(state, rest), body.info(part, rest)], [body.info(after, rest), body.info(left, rest)])
    attrs = {"scan_input_axes": [axis], "scan_output_axes": [d.axis(x.rank)]}
    if d.chance(0.5):
        attrs.update(scan_input_directions=[d.rng.randrange(2)], scan_output_directions=[d.rng.randrange(2)])
    return d.rng.choice(d.op("Scan", d.operand(tuple(rest), 0.5), x, results=2, body=graph, num_scan_inputs=1, **attrs))


def loop(d, x):
    """A known number of turns, one that comes in, or until a value says so; what each turn leaves is stacked."""
    body, turns = Body(d), d.rng.randrange(1, 6)
    number, going, state = body.name("number"), body.name("going"), body.name("state")
    after = body.mixed(state, x.name) if d.chance(0.5) else body.op(d.rng.choice(ALONE), state)
    if d.chance(0.3):
        counted = body.op("Cast", number, to=TensorProto.FLOAT)
        after = body.op("Tanh", body.op("Add", after, counted))
    on = body.op("Identity", going)
    left = body.op("Identity", after)
    stacked = d.chance(0.5)
    outputs = [body.info(on, [], TensorProto.BOOL), body.info(after, x.shape)] + ([body.info(left, x.shape)] if stacked else [])
    graph = body.graph([body.info(number, [], TensorProto.INT64), body.info(going, [], TensorProto.BOOL), body.info(state, x.shape)], outputs)
    count = d.const(np.array(turns, np.int64))
    made = d.op("Loop", count, d.const(np.array(True)) if d.chance(0.5) else None, x, results=1 + stacked, body=graph, captured=[x])
    return d.rng.choice(made) if stacked else made


def branches(d, x):
    """Of a constant, or of what a value is."""
    if x.array.dtype != np.float32:
        return None
    if d.chance(0.3) or not x.exact:
        condition = d.operand(np.array(d.chance(0.5)), 0.5)
    else:
        condition = d.op("Greater", d.op("ReduceMax", x, keepdims=0, exact=True), d.operand(()), exact=True)
    graphs = []
    for side in ("then", "else"):
        body = Body(d)
        body.stem += side
        made = body.mixed(x.name, x.name) if d.chance(0.5) else body.op(d.rng.choice(ALONE), x.name)
        graphs.append(body.graph([], [body.info(made, x.shape)]))
    return d.op("If", condition, then_branch=graphs[0], else_branch=graphs[1], captured=[x])


CONTROL = [scan, loop, branches]
