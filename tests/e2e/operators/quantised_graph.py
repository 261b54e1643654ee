"""Small int8 QDQ graphs with any number of inputs and outputs, operator by operator."""

import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

def product(numbers):
    return int(np.prod(numbers, dtype=np.int64))


KINDS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}


class Codes:
    """A quantised tensor as it grows: the name of its codes, its scale, its zero point (of int8), its shape, its type."""

    def __init__(self, name, scale, zero, shape, kind):
        self.name, self.scale, self.zero, self.shape, self.kind = name, np.float32(scale), zero, tuple(shape), kind


class QuantisedGraph:
    """Every operator reads codes through DequantizeLinear and ends in QuantizeLinear; numbers are drawn from a generator
    seeded with the graph's name. `kind`: of the codes made from now on, int8 or uint8. `shared`: readers of a tensor
    have one DequantizeLinear together."""

    def __init__(self, name, kind=np.int8, shared=False):
        self.opset = 19
        self.name, self.kind, self.shared = name, np.dtype(kind), shared
        self.nodes, self.consts, self.inputs, self.outputs, self.given, self.feeds = [], [], [], [], [], {}
        self.infos, self.read = {}, {}  # of every tensor: what is known of it; the floats of shared codes
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def const(self, array):
        name = f"c{len(self.consts)}"
        self.consts.append(numpy_helper.from_array(np.asarray(array), name))
        self.infos[name] = self.consts[-1]
        return name

    def node(self, op, inputs, **attrs):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attrs))
        self.infos[name] = self.infer(self.nodes[-1])
        return name

    def infer(self, node):
        """The tensor that a node makes, from what is known of its inputs."""
        known = [self.infos[name] for name in node.input if name]
        values = [info for info in known if isinstance(info, onnx.ValueInfoProto)]
        consts = [info for info in known if isinstance(info, onnx.TensorProto)]
        for big in [c for c in consts if product(c.dims) > 16]:  # its numbers do not matter
            consts.remove(big)
            values.append(helper.make_tensor_value_info(big.name, big.data_type, big.dims))
        unknown = [helper.make_tensor_value_info(node.output[0], TensorProto.UNDEFINED, None)]
        model = helper.make_model(helper.make_graph([node], "part", values, unknown, consts),
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph.output[0]

    def zero(self, code, kind=None):
        kind = kind or self.kind
        return kind.type(code + (128 if kind == np.uint8 else 0))

    def parameters(self, scale, zero, kind=None):
        return [self.const(np.float32(scale)), self.const(self.zero(zero, kind))]

    def input(self, *shape, codes=False, scale=0.02, zero=3):
        """An input of floats that are quantised, or of codes."""
        name = f"x{len(self.inputs)}"
        if codes:
            low = 0 if self.kind == np.uint8 else -128
            self.feeds[name] = self.rng.integers(low, low + 256, shape).astype(self.kind)
        else:
            self.feeds[name] = self.rng.standard_normal(shape).astype(np.float32)
        self.infos[name] = helper.make_tensor_value_info(name, KINDS[self.feeds[name].dtype], shape)
        self.inputs.append(self.infos[name])
        return Codes(name, scale, zero, shape, self.kind) if codes else self.quantise(name, scale, zero, shape)

    def quantise(self, tensor, scale, zero, shape):
        return Codes(self.node("QuantizeLinear", [tensor, *self.parameters(scale, zero)]), scale, zero, shape, self.kind)

    def floats(self, codes):
        name = self.read.get(codes.name) if self.shared else None
        if not name:
            name = self.node("DequantizeLinear", [codes.name, *self.parameters(codes.scale, codes.zero, codes.kind)])
            self.read[codes.name] = name
        return name

    def output(self, *tensors, codes=False):
        for t in tensors:
            kind = t.kind if codes else np.dtype(np.float32)
            self.given.append(t)
            name = t.name if codes else self.floats(t)
            self.outputs.append(helper.make_tensor_value_info(name, KINDS[kind], t.shape))

    def op(self, kind, *operands, scale=None, zero=-5, act=None, extra=(), **attrs):
        """Operands are Codes; `extra`: names of constant inputs behind them. The result's scale is the first operand's
        unless said."""
        x = self.node(kind, [self.floats(o) for o in operands] + list(extra), **attrs)
        if act == "relu":
            x = self.node("Relu", [x])
        elif act:
            x = self.node("Clip", [x, *(self.const(np.float32(bound)) for bound in act)])
        first = operands[0]
        same = kind in ("MaxPool", "Flatten", "Reshape", "Concat", "Identity", "Transpose", "Squeeze", "Unsqueeze") and scale is None
        scale, zero = (first.scale, first.zero) if same else (scale or first.scale, zero)
        return self.quantise(x, scale, zero, self.shape_of(x))

    def shape_of(self, tensor):
        return [d.dim_value for d in self.infos[tensor].type.tensor_type.shape.dim]

    def weights(self, *shape, axis=0, each=True, zero=0):
        """Constant weights behind DequantizeLinear: the float tensor, and its scales. They are int8 without zero points,
        or of the graph's kind with zero points up to `zero` on both sides of the middle."""
        codes = self.rng.integers(-127, 128, shape).astype(np.int8)
        count = shape[axis] if each else 1
        scales = self.rng.uniform(0.005, 0.02, count).astype(np.float32)
        zeros = np.zeros(count, np.int8)
        if zero:
            middle = 128 if self.kind == np.uint8 else 0
            codes = (codes.astype(np.int16) + middle).astype(self.kind)
            zeros = (self.rng.integers(-zero, zero + 1, count) + middle).astype(self.kind)
        array, zeros = (scales, zeros) if each else (scales[0], zeros[0])
        names = [self.const(codes), self.const(array), self.const(zeros)]
        return self.node("DequantizeLinear", names, **({"axis": axis} if each else {})), scales

    def bias(self, x, scales, count):
        codes = self.rng.integers(-4000, 4000, count).astype(np.int32)
        array = (x.scale * np.broadcast_to(scales, count)).astype(np.float32)
        names = [self.const(codes), self.const(array), self.const(np.zeros(count, np.int32))]
        return self.node("DequantizeLinear", names, axis=0)

    def conv(self, x, outputs, kernel=3, group=1, bias=True, each=True, act=None, zero=0, **attrs):
        kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        ins = x.shape[1] // group
        w, scales = self.weights(outputs, ins, *kernel, each=each, zero=zero)
        extra = [w] + ([self.bias(x, scales, outputs)] if bias else [])
        spread = np.sqrt(ins * kernel[0] * kernel[1]) * 73 * 73 * float(x.scale) * 0.0125
        return self.op("Conv", x, scale=spread / 60, act=act, extra=extra, group=group, kernel_shape=list(kernel), **attrs)

    def transposed(self, x, outputs, kernel, group=1, bias=True, each=True, act=None, **attrs):
        """ConvTranspose by weights [ins, outputs / group, kernel], whose scales are the results' where there is one group."""
        each = each and group == 1
        w, scales = self.weights(x.shape[1], outputs // group, *kernel, axis=1, each=each)
        extra = [w] + ([self.bias(x, scales, outputs)] if bias else [])
        spread = np.sqrt(x.shape[1] // group * kernel[0] * kernel[1]) * 73 * 73 * float(x.scale) * 0.0125
        return self.op("ConvTranspose", x, scale=spread / 90, act=act, extra=extra, group=group, kernel_shape=list(kernel), **attrs)

    def dense(self, x, outputs, kind="Gemm", turned=True, bias=True, each=True, act=None, zero=0, **attrs):
        """Gemm or MatMul by constant weights [outputs, k] (`turned`) or [k, outputs]."""
        k = x.shape[-1]
        w, scales = self.weights(*((outputs, k) if turned else (k, outputs)), axis=0 if turned else 1, each=each,
                                 zero=zero)
        extra = [w] + ([self.bias(x, scales, outputs)] if bias and kind == "Gemm" else [])
        spread = np.sqrt(k) * 73 * 73 * float(x.scale) * 0.0125
        if kind == "Gemm":
            attrs["transB"] = int(turned)
        return self.op(kind, x, scale=spread / 60, act=act, extra=extra, **attrs)

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.consts)
        model = helper.make_model(graph, producer_name="pb-tests", ir_version=9, opset_imports=[helper.make_opsetid("", self.opset)])
        onnx.checker.check_model(model)
        return model
