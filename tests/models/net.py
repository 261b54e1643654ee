"""A feed-forward network of convolutions as a plain list of layers, and its float32 ONNX form.

Batch normalisation never appears: it is taken as folded into each convolution's weights and bias.
An activation function belongs to the layer it follows, so a layer has exactly one output tensor,
which is the tensor that quantisation later gives a scale.
"""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper

OPSET = 19
IR_VERSION = 9


@dataclass
class Layer:
    """One operation; `inputs` name earlier layers or the network's input."""

    op: str
    name: str
    inputs: list
    weight: np.ndarray = None
    bias: np.ndarray = None
    act: str = ""  # "", "relu" or "relu6"
    attrs: dict = field(default_factory=dict)


@dataclass
class Net:
    name: str
    input: str
    shape: tuple
    output: str
    layers: list = field(default_factory=list)

    @property
    def last(self):
        return self.layers[-1].name if self.layers else self.input

    def add(self, op, name, inputs=None, **rest):
        """Appends a layer (after the latest one unless `inputs` is given); returns its name."""
        self.layers.append(Layer(op, name, inputs or [self.last], **rest))
        return name

    def conv(self, name, weight, bias, stride=1, pad=0, group=1, act="", src=None):
        attrs = {
            "kernel_shape": list(weight.shape[2:]),
            "strides": [stride, stride],
            "pads": [pad] * 4,
            "group": group,
        }
        return self.add("Conv", name, src and [src], weight=weight, bias=bias, act=act, attrs=attrs)

    def maxpool(self, name, kernel, stride, pad=0):
        attrs = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        return self.add("MaxPool", name, attrs=attrs)

    def residual(self, name, a, b, act=""):
        return self.add("Add", name, [a, b], act=act)

    def head(self, name, weight, bias):
        """Global average pooling, then one fully connected layer."""
        self.add("GlobalAveragePool", "pool")
        self.add("Flatten", "features", attrs={"axis": 1})
        return self.dense(name, weight, bias)

    def dense(self, name, weight, bias, act=""):
        return self.add("Gemm", name, weight=weight, bias=bias, act=act, attrs={"transB": 1})


class GraphWriter:
    """Collects nodes and initialisers, and makes the ONNX model."""

    def __init__(self):
        self.nodes = []
        self.initializers = []

    def constant(self, name, array):
        array = np.asarray(array, order="C")
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.initializers.append(helper.make_tensor(name, kind, array.shape, array.tobytes(), raw=True))
        return name

    def node(self, op, inputs, output, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attrs))
        return output

    def activation(self, act, src, output):
        if act == "relu":
            return self.node("Relu", [src], output)
        if "clip_lo" not in (t.name for t in self.initializers):
            self.constant("clip_lo", np.float32(0).reshape(()))
            self.constant("clip_hi", np.float32(6).reshape(()))
        return self.node("Clip", [src, "clip_lo", "clip_hi"], output)

    def model(self, net, output_shape, extra_outputs=()):
        outputs = [helper.make_tensor_value_info(net.output, TensorProto.FLOAT, output_shape)]
        outputs += [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in extra_outputs]
        source = helper.make_tensor_value_info(net.input, TensorProto.FLOAT, list(net.shape))
        graph = helper.make_graph(self.nodes, net.name, [source], outputs, self.initializers)
        return helper.make_model(
            graph,
            producer_name="pb-tests",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )


def classes_of(net):
    return int(net.layers[-1].bias.size)


def float_model(net, expose=False):
    """The float32 model; `expose` makes every layer's tensor an output too, for calibration."""
    out = GraphWriter()
    for layer in net.layers:
        inputs = list(layer.inputs)
        if layer.weight is not None:
            inputs.append(out.constant(layer.name + "_w", layer.weight.astype(np.float32)))
            inputs.append(out.constant(layer.name + "_b", layer.bias.astype(np.float32)))
        final = layer is net.layers[-1]
        target = net.output if final else layer.name
        if layer.act:
            out.node(layer.op, inputs, layer.name + "_pre", **layer.attrs)
            out.activation(layer.act, layer.name + "_pre", target)
        else:
            out.node(layer.op, inputs, target, **layer.attrs)
    extra = [layer.name for layer in net.layers[:-1]] if expose else []
    return out.model(net, [net.shape[0], classes_of(net)], extra)


def save(model, path, full_check=True):
    if full_check:
        onnx.checker.check_model(model, full_check=True)
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
