"""Post-training quantisation of a Net to int8, written as ONNX in QDQ form.

Weights: symmetric, one scale per output channel, zero point 0, codes in [-127, 127].
Activations: one scale and zero point per tensor, from the range seen on calibration inputs.
Biases: int32 with scale sx*sw and zero point 0, so that they add to the accumulator directly.
"""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from net import GraphWriter, classes_of, float_model

# These only move or select codes, so their output keeps the scale of their input.
SAME_SCALE = {"MaxPool", "Flatten"}


def float_session(model):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def calibrate(net, images):
    """The range [lo, hi] of each layer's output over `images` (one image a row)."""
    session = float_session(float_model(net, expose=True))
    names = [out.name for out in session.get_outputs()]
    ranges = {net.input: [float(images.min()), float(images.max())]}
    for image in images:
        for name, value in zip(names, session.run(None, {net.input: image[None]})):
            lo, hi = float(value.min()), float(value.max())
            old = ranges.setdefault(name, [lo, hi])
            old[0], old[1] = min(old[0], lo), max(old[1], hi)
    ranges[net.layers[-1].name] = ranges.pop(net.output)
    return ranges


def activation_scale(lo, hi):
    """Scale and zero point such that 0.0 has an exact code."""
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = np.float32(max(hi - lo, 1e-6) / 255.0)
    zero = int(np.clip(np.rint(-128.0 - lo / float(scale)), -128, 127))
    return scale, np.int8(zero)


def scales_of(net, ranges):
    scales = {net.input: activation_scale(*ranges[net.input])}
    for layer in net.layers:
        if layer.op in SAME_SCALE:
            scales[layer.name] = scales[layer.inputs[0]]
        else:
            scales[layer.name] = activation_scale(*ranges[layer.name])
    return scales


def quantize_weight(weight):
    flat = np.abs(weight.reshape(weight.shape[0], -1)).max(axis=1)
    scale = (np.maximum(flat, 1e-8) / 127.0).astype(np.float32)
    codes = np.rint(weight / scale.reshape((-1,) + (1,) * (weight.ndim - 1)))
    return np.clip(codes, -127, 127).astype(np.int8), scale


def quantize_bias(bias, scale):
    codes = np.rint(bias.astype(np.float64) / scale.astype(np.float64))
    return np.clip(codes, -(2**30), 2**30).astype(np.int32)


class QdqWriter(GraphWriter):
    def __init__(self, scales):
        super().__init__()
        self.scales = scales

    def quantize(self, src, tensor):
        """src -> QuantizeLinear -> <tensor>_q"""
        return self.node("QuantizeLinear", [src, tensor + "_scale", tensor + "_zero"], tensor + "_q")

    def dequantize(self, tensor, output):
        return self.node("DequantizeLinear", [tensor + "_q", tensor + "_scale", tensor + "_zero"], output)

    def declare(self, tensor):
        scale, zero = self.scales[tensor]
        self.constant(tensor + "_scale", np.float32(scale).reshape(()))
        self.constant(tensor + "_zero", np.int8(zero).reshape(()))

    def parameters(self, layer):
        """Constants behind per-channel DequantizeLinear nodes; returns the two float tensors."""
        codes, weight_scale = quantize_weight(layer.weight)
        input_scale = np.float32(self.scales[layer.inputs[0]][0])
        bias_scale = (input_scale * weight_scale).astype(np.float32)
        values = {
            "w": (codes, weight_scale, np.int8),
            "b": (quantize_bias(layer.bias, bias_scale), bias_scale, np.int32),
        }
        names = []
        for suffix, (array, scale, kind) in values.items():
            base = f"{layer.name}_{suffix}"
            self.constant(base + "_q", array)
            self.constant(base + "_scale", scale)
            self.constant(base + "_zero", np.zeros(scale.size, kind))
            names.append(self.node("DequantizeLinear", [base + "_q", base + "_scale", base + "_zero"], base, axis=0))
        return names


def quantized_model(net, images):
    """The int8 QDQ model of `net`, calibrated on `images`."""
    scales = scales_of(net, calibrate(net, images))
    out = QdqWriter(scales)
    out.declare(net.input)
    out.quantize(net.input, net.input)
    for layer in net.layers:
        out.declare(layer.name)
        # Each use has its own DequantizeLinear: a node group (DQ, op, Q) then has one reader only.
        inputs = [out.dequantize(src, f"{layer.name}_in{i}") for i, src in enumerate(layer.inputs)]
        if layer.weight is not None:
            inputs += out.parameters(layer)
        value = out.node(layer.op, inputs, layer.name + "_f", **layer.attrs)
        if layer.act:
            value = out.activation(layer.act, value, layer.name + "_act")
        out.quantize(value, layer.name)
    out.dequantize(net.last, net.output)
    return out.model(net, [net.shape[0], classes_of(net)])


def ancestors(graph, tensor, stop):
    """The nodes that `tensor` comes from, in order, without those behind the tensors in `stop`."""
    needed, nodes = {tensor}, []
    for node in reversed(graph.node):
        if not needed.isdisjoint(node.output) and stop.isdisjoint(node.output):
            nodes.insert(0, node)
            needed.update(node.input)
    return nodes, needed


def part(model, codes, inputs, stop):
    """The model that ends in the int8 tensor `codes`, as floats; `inputs`: nodes and values in front of it."""
    nodes, needed = ancestors(model.graph, codes, stop)
    quant = next(node for node in nodes if codes in node.output)
    front = [node for _, node in inputs]
    nodes = (
        front + nodes + [helper.make_node("DequantizeLinear", [codes, *quant.input[1:]], ["part_out"], name="part_out")]
    )
    needed.update(name for node in front for name in node.input)
    kept = [tensor for tensor in model.graph.initializer if tensor.name in needed]
    sources = [value for value, _ in inputs] or [value for value in model.graph.input if value.name in needed]
    result = helper.make_tensor_value_info("part_out", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, model.graph.name, sources, [result], kept)
    made = helper.make_model(
        graph, producer_name="pb-tests", ir_version=model.ir_version, opset_imports=model.opset_import
    )
    return onnx.shape_inference.infer_shapes(made)


def until(model, layer):
    """A QDQ model cut behind a layer of its Net: that layer's tensor, whatever its shape, is the output."""
    return part(model, layer + "_q", [], set())


def one_layer(model, codes, shapes):
    """The layer that makes the int8 tensor `codes`, alone: each int8 tensor that it reads becomes a float input
    in_<tensor>, quantised as the tensor is. `shapes`: of the int8 tensors, by name."""
    made_by = {name: node for node in model.graph.node for name in node.output}
    inputs, stop, at = [], set(), [codes]
    while at:
        node = made_by.get(at.pop())
        for name in node.input if node is not None else ():
            reader = made_by.get(name)
            if reader is None or reader.op_type != "DequantizeLinear" or reader.input[0] not in made_by:
                at += [name] if reader is not None else []
                continue
            source = reader.input[0]
            if source not in stop:
                value = helper.make_tensor_value_info("in_" + source, TensorProto.FLOAT, shapes[source])
                inputs.append(
                    (
                        value,
                        helper.make_node(
                            "QuantizeLinear", ["in_" + source, *reader.input[1:]], [source], name="in_" + source
                        ),
                    )
                )
                stop.add(source)
    return part(model, codes, inputs, stop)
