"""Integer products as ONNX defines them, from ONNX Runtime on any processor.

On x86 with AVX2 and no VNNI ONNX Runtime multiplies uint8 by int8 with instructions that add two products in 16 bits and
saturate (its option x64quantprecision speaks of it, and works where it optimises alone). Products of one type are exact there:
of a pair that is mixed the factor of int8 is moved by 128, and its zero point with it, for the same sums."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# The places of factors and of their zero points.
FACTORS = {"MatMulInteger": ((0, 2), (1, 3)), "ConvInteger": ((0, 2), (1, 3)), "QLinearMatMul": ((0, 2), (3, 5)),
           "QLinearConv": ((0, 2), (3, 5)), "QGemm": ((0, 2), (3, 5)), "MatMulIntegerToFloat": ((0, 4), (1, 5)),
           "DynamicQuantizeMatMul": ((1, 3),)}


def types_of(model):
    """The element type of each value that is known to have one."""
    try:
        graph = onnx.shape_inference.infer_shapes(model).graph
    except Exception:  # what has no types has none
        graph = model.graph
    types = {v.name: v.type.tensor_type.elem_type for v in [*graph.input, *graph.value_info, *graph.output]}
    types.update({t.name: t.data_type for t in graph.initializer})
    return types


def moved(name, nodes, known):
    """The name of `name` + 128 as uint8; the nodes that make it stand in front of who reads it."""
    if name not in known:
        known[name] = f"{name}/moved"
        nodes += [helper.make_node("Cast", [name], [f"{name}/wide"], to=TensorProto.INT32),
                  helper.make_node("Add", [f"{name}/wide", "exact/128"], [f"{name}/sum"]),
                  helper.make_node("Cast", [f"{name}/sum"], [known[name]], to=TensorProto.UINT8)]
    return known[name]


def mixed(node, types):
    """The places of the factors of int8 that are multiplied by uint8. Operators of other domains say no types: a zero point
    has its factor's."""
    places = FACTORS.get(node.op_type, ())
    kinds = [next((types[name] for name in (node.input[f], *node.input[z:z + 1]) if types.get(name)), 0) for f, z in places]
    is_mixed = len(places) == 1 or TensorProto.UINT8 in kinds  # a single factor meets numbers that become uint8
    return [place for place, kind in zip(places, kinds) if is_mixed and kind == TensorProto.INT8]


def exact_products(model):
    """`model`, or one of the same results whose integer products mix no types."""
    if not any(node.op_type in FACTORS for node in model.graph.node):
        return model
    types, changed, nodes, known = types_of(model), onnx.ModelProto(), [], {}
    changed.CopyFrom(model)
    for node in changed.graph.node:
        for factor, zero in mixed(node, types):
            node.input[factor] = moved(node.input[factor], nodes, known)
            node.input.extend([""] * (zero + 1 - len(node.input)))
            node.input[zero] = moved(node.input[zero], nodes, known) if node.input[zero] else "exact/zero"
        nodes.append(node)
    if not known:
        return model
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]  # they stand in the list that is emptied
    del changed.graph.node[:]
    changed.graph.node.extend(nodes)
    changed.graph.initializer.extend([numpy_helper.from_array(np.array(128, np.int32), "exact/128"),
                                      numpy_helper.from_array(np.array(128, np.uint8), "exact/zero")])
    return changed


def session_of(model):
    """ONNX Runtime on the model's own operators, one by one and on one thread: such a session may be used in a forked process."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(exact_products(model).SerializeToString(), options, providers=["CPUExecutionProvider"])
