"""What the tests of f32 graphs share: building a small graph, ONNX Runtime's result, the comparison."""

import zlib

import numpy as np
import onnx
import onnxruntime
from exact import session_of
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def expected_of(model, feeds):
    names = [output.name for output in model.graph.output]
    try:
        session = session_of(model)
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:  # of this type: then onnx's own evaluator
        return dict(zip(names, ReferenceEvaluator(model).run(None, feeds)))
    return dict(zip(names, session.run(None, feeds)))


def compare(expected, actual, tolerance):
    """What is wrong with an output, or None."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"is {actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
    if not np.issubdtype(expected.dtype, np.floating):
        tolerance = 0
    apart = np.abs(expected.astype(np.float64) - actual)
    bad = ~(apart <= tolerance * max(np.abs(expected).max(), 1e-30)) & (expected != actual)
    bad &= ~(np.isnan(apart) & np.isnan(actual) & (expected != expected))
    if not bad.any():
        return None
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{bad.sum()} of {bad.size} differ, the first at {list(first)}: {actual[first]!r}, not {expected[first]!r}"


class Case:
    def __init__(self, name, model, feeds, reference=None):
        self.name, self.model, self.feeds, self.reference = name, model, feeds, reference


class Graph:
    """Collects nodes and constants; numbers are drawn from a generator seeded with the case's name."""

    def __init__(self, name):
        self.name, self.nodes, self.consts, self.inputs, self.feeds = name, [], [], [], {}
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.opset, self.ir_version = 20, 9
        self.types = {}  # of outputs that are not f32
        self.shapes = {}  # of outputs whose shapes onnx does not find

    def draw(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def input(self, *shape, name="x"):
        return self.feed(name, self.draw(*shape))

    def feed(self, name, array):
        """An input of the array's type."""
        array = np.asarray(array)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        self.feeds[name] = array
        return name

    def const(self, array):
        name = f"c{len(self.consts)}"
        self.consts.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind, *inputs, to=None, **attrs):
        to = to or f"t{len(self.nodes)}"
        self.op_of_many(kind, inputs, [to], **attrs)
        return to

    def op_of_many(self, kind, inputs, outputs, **attrs):
        self.nodes.append(
            helper.make_node(kind, list(inputs), outputs, name=f"{kind.lower()}{len(self.nodes)}", **attrs)
        )

    def conv(self, x, cin, cout, kernel, bias=True, group=1, **attrs):
        kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        weight = self.draw(cout, cin // group, *kernel) / np.float32(np.sqrt(cin // group * int(np.prod(kernel))))
        consts = [self.const(weight)] + ([self.const(self.draw(cout))] if bias else [])
        return self.op("Conv", x, *consts, group=group, kernel_shape=list(kernel), **attrs)

    def norm(self, x, channels):
        scale, shift, mean = (self.const(self.draw(channels)) for _ in range(3))
        return self.op(
            "BatchNormalization", x, scale, shift, mean, self.const(np.abs(self.draw(channels)) + np.float32(0.5))
        )

    def finish(self, *outputs, inferred=True):
        """The case with these outputs. `inferred`: onnx's shape inference knows every operator."""
        infos = [helper.make_tensor_value_info(name, self.types.get(name, TensorProto.FLOAT), self.shapes.get(name)) for name in outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, infos, self.consts)
        model = helper.make_model(
            graph,
            producer_name="pb-tests",
            ir_version=self.ir_version,
            opset_imports=[helper.make_opsetid("", self.opset)],
        )
        if inferred:
            model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        return Case(self.name, model, self.feeds)
