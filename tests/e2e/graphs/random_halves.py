"""Random graphs of f16: those of f32, with every tensor of f32 and every constant as f16. The reference is the same graph in
f32, of the same numbers: `twin` and its feeds.

An operator that jumps (JUMPS) is drawn where its operands are numbers of f16 already, so that both see the same; a graph
whose values f16 does not hold is not drawn, nor is one that is no ONNX in f16."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from random_any import draw_any
from random_floats import FloatsDrawing
from roundings import values

MOST = 3e4  # f16 ends at 65,504
HELD = {"Resize": (1, 2), "Upsample": (1,)}  # operands that are f32 whatever the data are
JUMPS = {"Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "TopK",
         "ArgMax", "ArgMin", "NonZero", "Unique", "OneHot", "Hardmax", "Mod", "IsInf", "IsNaN", "QuantizeLinear", "DynamicQuantizeLinear",
         "GridSample", "RoiAlign", "MaxRoiPool", "NonMaxSuppression", "MaxUnpool", "Bernoulli", "Range"}


def rounded(array):
    return array.astype(np.float16) if array.dtype == np.float32 else array


def graphs(graph):
    """The graph and those inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs(attribute.g)


def tensors(graph):
    """Each constant of the graph that is to be f16."""
    held = {node.input[k] for node in graph.node for k in HELD.get(node.op_type, ()) if k < len(node.input)}
    for tensor in graph.initializer:
        if tensor.name not in held:
            yield tensor
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR and not held & set(node.output):
                yield attribute.t


def with_constants(model, change):
    """A copy of the model, its constants of f32 changed."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for graph in graphs(model.graph):
        for tensor in tensors(graph):
            if tensor.data_type == TensorProto.FLOAT:
                tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), tensor.name))
    return model


def as_halves(model):
    """The model, its types of f32 made f16."""
    model = with_constants(model, rounded)
    for graph in graphs(model.graph):
        del graph.value_info[:]
        for value in [*graph.input, *graph.output]:
            kind = value.type.tensor_type
            kind.elem_type = TensorProto.FLOAT16 if kind.elem_type == TensorProto.FLOAT else kind.elem_type
        for node in graph.node:
            for attribute in node.attribute:
                if node.op_type in ("Cast", "EyeLike", "RandomNormalLike") and attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
                    attribute.i = TensorProto.FLOAT16
    return model


def is_onnx(model):
    """Whether ONNX Runtime takes its types; it has few of the operators themselves in f16."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnx.shape_inference.infer_shapes(model, strict_mode=True, check_type=True)
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return True
    except Exception:  # onnxruntime's and onnx's have no base of their own
        return False
    return True


def holds(model, feeds):
    """Whether f16 holds all values, and exactly those that an operator that jumps takes."""
    found = values(model, feeds)
    floats = {name: array for name, array in found.items() if array.dtype == np.float32}
    if any(array.size and not np.abs(array[np.isfinite(array)]).max(initial=0) <= MOST for array in floats.values()):
        return False
    for node in model.graph.node:
        inside = [n for a in node.attribute if a.type == onnx.AttributeProto.GRAPH for g in graphs(a.g) for n in g.node]
        if any(is_jump(n) for n in inside):
            return False
        if is_jump(node) and any(np.any(floats[name] != rounded(floats[name])) for name in node.input if name in floats):
            return False
    return True


def is_jump(node):
    cast = node.op_type == "Cast" and helper.get_attribute_value(node.attribute[0]) not in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
    return cast or node.op_type in JUMPS


def draw_halves(rng, name):
    """The case, what is in it, and its twin in f32 with its feeds."""
    while True:
        case, what = draw_any(rng, name) if rng.random() < 0.6 else FloatsDrawing(rng, name).finish()
        feeds = {k: rounded(v) for k, v in case.feeds.items()}
        same = {k: v.astype(np.float32) if v.dtype == np.float16 and case.feeds[k].dtype == np.float32 else v for k, v in feeds.items()}
        twin = with_constants(case.model, lambda array: array.astype(np.float16).astype(np.float32))
        model = as_halves(case.model)
        name += "_"
        try:
            if is_onnx(model) and holds(twin, same):
                case.model, case.feeds = model, feeds
                return case, what, twin, same
        except Exception:  # onnxruntime takes the graph, and not with all its tensors as outputs
            continue
