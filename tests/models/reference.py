"""Bit-exact NumPy evaluation of an int8 QDQ ONNX model.

    reference.py MODEL --input X.npy --output Y.npy [--dump DIR]

Each group (DequantizeLinear -> operation -> activation -> QuantizeLinear) is evaluated as one
integer layer, with the arithmetic below. It is what a chip must reproduce bit for bit; evaluating
the float graph node by node rounds differently in rare cases (see check.py).

  rne      round to nearest, ties to even; every other step rounds to float32 in the same way
  acc      exact int32 sum
  conv, gemm   y = clip(rne(f32(acc + bias) * m) + zy), acc = sum((x - zx) * (w - zw)), m = f32(f32(sx*sw)/sy)
  average      y = clip(rne(f32(acc) * m) + zy), acc = sum(x) - zx*H*W, m = f32(f32(sx/f32(H*W))/sy)
  average with a window: the same with the window's extents; what lies outside is 0
  sums over some axes: y = clip(rne(f32(acc) * m) + zy), m = f32(sx/sy); means as averages; maxima: the largest code, rescaled
  add          y = clip(rne((f32(a) - za)*ma + (f32(b) - zb)*mb) + zy), ma = f32(sa/sy), mb = f32(sb/sy)
  sub          the same with -mb
  mul          y = clip(rne(((f32(a) - za) * (f32(b) - zb)) * m) + zy), m = f32(f32(sa*sb)/sy)
  maxpool      largest code; padding is -128
  rescale      y = clip(rne((f32(x) - zx)*m) + zy), m = f32(sx/sy): where an operator that moves codes, or an activation
               by itself, has another scale behind it than in front
  functions of one code, softmax, norms, products of two computed operands: reference_transformers.py
  quantize     y = clip(rne(x * f32(1/s)) + z)
  dequantize   x = (f32(y) - f32(z)) * s
  relu, clip   the bounds of `clip` above: the codes of the activation's own bounds
"""

import argparse
import os

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper
from reference_transformers import Transformers

f32 = np.float32


def require(condition, text):
    if not condition:
        raise ValueError(text)


def quantize(x, scale, zero):
    inverse = f32(f32(1) / f32(scale))
    return np.clip(np.rint(x.astype(f32) * inverse) + f32(zero), -128, 127).astype(np.int8)


def dequantize(codes, scale, zero):
    return (codes.astype(f32) - f32(zero)) * f32(scale)


def requantize(acc, multiplier, zero, bounds):
    """int64 accumulators (which must fit int32) to codes; `multiplier` broadcasts against them."""
    require(acc.min() >= -(2**31) and acc.max() < 2**31, "accumulator leaves int32")
    scaled = np.rint(acc.astype(np.int32).astype(f32) * multiplier) + f32(zero)
    return np.clip(scaled, *bounds).astype(np.int8)


def signed(codes):
    """Codes without a sign are taken 128 less."""
    return (codes.astype(np.int16) - 128).astype(np.int8) if codes.dtype == np.uint8 else codes


def same_pads(shape, kernel, strides, mode):
    """What auto_pad says: an odd one behind for SAME_UPPER, in front for SAME_LOWER."""
    mode = mode.decode() if isinstance(mode, bytes) else mode
    if not mode.startswith("SAME"):
        return [0] * 4
    total = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(shape[2:], kernel, strides)]
    front = [-(-t // 2) if mode == "SAME_LOWER" else t // 2 for t in total]
    return [*front, *(t - f for t, f in zip(total, front))]


def hanging(shape, kernel, strides, pads, dilations):
    """How far the last windows reach over the padded image where ceil_mode rounds their number up; none begins behind the image."""
    more = []
    for k in range(2):
        span, whole = (kernel[k] - 1) * dilations[k] + 1, shape[2 + k] + pads[k] + pads[2 + k]
        count = -((span - whole) // strides[k]) + 1
        if (count - 1) * strides[k] >= shape[2 + k] + pads[k]:
            count -= 1
        more.append(max(0, (count - 1) * strides[k] + span - whole))
    return [0, 0, *more]


def pad_image(x, pads, value):
    top, left, bottom, right = pads
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)


def windows(x, kernel, strides, dilations):
    """View [n, c, oh, ow, kh, kw] of a padded image."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(2, 3))
    return view[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


def conv_sum(x, w, strides, pads, dilations, group):
    """Exact sum of x*w. Products and sums stay far below 2**53, so float64 matmul is exact."""
    view = windows(pad_image(x, pads, 0), w.shape[2:], strides, dilations)
    n, c, oh, ow = view.shape[:4]
    out = np.empty((n, w.shape[0], oh, ow), np.int64)
    if group == c and w.shape[0] == c:
        total = np.zeros((n, c, oh, ow), np.int64)
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                total += view[..., i, j].astype(np.int64) * w[:, 0, i, j].astype(np.int64)[:, None, None]
        return total
    cin, cout = c // group, w.shape[0] // group
    for g in range(group):
        kernel = w[g * cout : (g + 1) * cout].reshape(cout, -1).astype(np.float64)
        for image in range(n):
            part = view[image, g * cin : (g + 1) * cin].transpose(0, 3, 4, 1, 2)
            cols = part.reshape(kernel.shape[1], oh * ow).astype(np.float64)
            out[image, g * cout : (g + 1) * cout] = (kernel @ cols).reshape(cout, oh, ow)
    return out


class Reference(Transformers):
    """A parsed model: layers in order, each from a Q node back to the DQ nodes that feed it."""

    def __init__(self, model):
        graph = model.graph
        self.const = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.producer = {out: node for node in graph.node for out in node.output}
        self.inputs = [i.name for i in graph.input if i.name not in self.const]
        self.outputs = [o.name for o in graph.output]
        kinds = {o.name: o.type.tensor_type.elem_type for o in graph.output}
        self.unsigned = {name for name, kind in kinds.items() if kind == onnx.TensorProto.UINT8}
        self.nodes = [n for n in graph.node if n.op_type == "QuantizeLinear"]
        self.dequantised = {}
        for node in graph.node:
            if node.op_type == "Constant":
                self.const[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            if node.op_type == "DequantizeLinear":
                self.dequantised.setdefault(node.input[0], []).append(node)

    def requantize(self, acc, multiplier, zero, limits):
        return requantize(acc, multiplier, zero, limits)

    def scale_zero(self, node):
        scale = self.const[node.input[1]]
        zero = self.const[node.input[2]] if len(node.input) > 2 else np.zeros(scale.shape, np.int8)
        return scale, signed(zero)

    def constant(self, name):
        return signed(self.const[name])

    def source(self, name):
        """The DequantizeLinear behind a float tensor: (code tensor's name, scale, zero)."""
        node = self.producer.get(name)
        if node is None or node.op_type != "DequantizeLinear":
            raise ValueError(f"tensor '{name}' does not come from a DequantizeLinear")
        return (node.input[0], *self.scale_zero(node))

    def bounds(self, node, scale, zero):
        """Codes that the activation `node` clamps to, within int8."""
        def code(v):
            return int(np.clip(np.rint(f32(v) * f32(f32(1) / scale)) + f32(zero), -128, 127))

        if node.op_type == "Relu":
            return code(0), 127
        ends = [self.const[n] if n else None for n in list(node.input[1:]) + [""] * (3 - len(node.input))]
        return (-128 if ends[0] is None else code(ends[0])), (127 if ends[1] is None else code(ends[1]))

    def layer(self, quant, values):
        """The codes that QuantizeLinear `quant` gives."""
        scale, zero = (v[()] for v in self.scale_zero(quant))
        node, limits = self.producer.get(quant.input[0]), (-128, 127)
        if node is None:
            return quantize(values[quant.input[0]], scale, zero)
        source = self.table_of(quant.input[0])
        if source is not None:
            return self.table(source, quant.input[0], values, f32(scale), zero)
        if node.op_type in ("Relu", "Clip"):
            limits = self.bounds(node, scale, zero)
            inner = self.producer[node.input[0]]
            if inner.op_type == "DequantizeLinear":  # an activation by itself
                return self.moved(node, values, f32(scale), zero, limits)
            node = inner
        attrs = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        method = getattr(self, "op_" + node.op_type.lower(), None)
        if method is None:
            raise ValueError(f"operation '{node.op_type}' ('{node.name}') is not known")
        if node.op_type == "Split":
            return method(node, attrs, values, f32(scale), zero, limits, list(node.output).index(quant.input[0]))
        return method(node, attrs, values, f32(scale), zero, limits)

    def weighted(self, node, sy):
        """Weights, bias and multipliers of a Conv or Gemm, and its input's scale."""
        name, sx, zx = self.source(node.input[0])
        weight, sw, zw = self.source(node.input[1])
        attrs = {a.name: onnx.helper.get_attribute_value(a) for a in self.producer[node.input[1]].attribute}
        weight = self.constant(weight).astype(np.int16)
        if np.size(zw) > 1:  # along its own axis
            zw = zw.reshape([-1 if d == attrs.get("axis", 1) % weight.ndim else 1 for d in range(weight.ndim)])
        weight = weight - zw.astype(np.int16)
        multiplier = (f32(sx) * np.atleast_1d(sw)).astype(f32) / sy
        bias = np.zeros(1, np.int32)
        if len(node.input) > 2 and node.input[2]:
            bias = self.const[self.source(node.input[2])[0]]
        return name, int(zx), weight, bias.astype(np.int64), multiplier.astype(f32)

    def op_conv(self, node, attrs, values, sy, zy, limits):
        name, zx, weight, bias, multiplier = self.weighted(node, sy)
        require(attrs.get("auto_pad", b"NOTSET") == b"NOTSET", "auto_pad is not supported")
        acc = conv_sum(
            values[name].astype(np.int16) - np.int16(zx),
            weight,
            attrs.get("strides", [1, 1]),
            attrs.get("pads", [0] * 4),
            attrs.get("dilations", [1, 1]),
            attrs.get("group", 1),
        )
        return self.requantize(acc + bias[:, None, None], multiplier[:, None, None], zy, limits)

    def op_convtranspose(self, node, attrs, values, sy, zy, limits):
        """A convolution of x with gaps between its elements by the weights turned round."""
        name, zx, weight, bias, multiplier = self.weighted(node, sy)
        group, strides, pads = attrs.get("group", 1), attrs.get("strides", [1, 1]), attrs.get("pads", [0] * 4)
        require(attrs.get("dilations", [1, 1]) == [1, 1], "a transposed convolution with dilations is not supported")
        x = values[name].astype(np.int16) - np.int16(zx)
        gaps = np.zeros((*x.shape[:2], *((d - 1) * s + 1 for d, s in zip(x.shape[2:], strides))), np.int16)
        gaps[:, :, :: strides[0], :: strides[1]] = x
        ins, outs, *kernel = weight.shape
        turned = weight.reshape(group, ins // group, outs, *kernel).transpose(0, 2, 1, 3, 4)[..., ::-1, ::-1]
        around = [k - 1 - p + m for k, p, m in zip(kernel * 2, pads, [0, 0, *attrs.get("output_padding", [0, 0])])]
        gaps = gaps[:, :, max(0, -around[0]) :, max(0, -around[1]) :]
        gaps = gaps[:, :, : gaps.shape[2] + min(0, around[2]), : gaps.shape[3] + min(0, around[3])]
        acc = conv_sum(gaps, turned.reshape(outs * group, ins // group, *kernel), [1, 1], [max(0, a) for a in around], [1, 1], group)
        return self.requantize(acc + bias[:, None, None], multiplier[:, None, None], zy, limits)

    def op_gemm(self, node, attrs, values, sy, zy, limits):
        plain = attrs.get("alpha", 1.0) == 1.0 and attrs.get("beta", 1.0) == 1.0 and not attrs.get("transA", 0)
        require(plain, "Gemm with alpha, beta or transA is not supported")
        name, zx, weight, bias, multiplier = self.weighted(node, sy)
        weight = weight.T if attrs.get("transB", 0) else weight
        x = values[name].astype(np.float64) - zx
        acc = (x @ weight.astype(np.float64)).astype(np.int64)
        return self.requantize(acc + bias, multiplier, zy, limits)

    def op_globalaveragepool(self, node, attrs, values, sy, zy, limits):
        name, sx, zx = self.source(node.input[0])
        x = values[name].astype(np.int64)
        area = x.shape[2] * x.shape[3]
        acc = x.sum((2, 3), keepdims=True) - int(zx) * area
        multiplier = f32(f32(f32(sx) / f32(area)) / sy)
        return self.requantize(acc, multiplier, zy, limits)

    def reduced(self, node, attrs):
        """The axes of a reduction, and whether they stay, 1 long."""
        axes = self.const[node.input[1]] if len(node.input) > 1 else attrs.get("axes", [])
        return tuple(int(axis) for axis in axes) or None, bool(attrs.get("keepdims", 1))

    def op_reducesum(self, node, attrs, values, sy, zy, limits, mean=False):
        name, sx, zx = self.source(node.input[0])
        x, (axes, keeps) = values[name].astype(np.int64), self.reduced(node, attrs)
        acc = (x - int(zx)).sum(axes, keepdims=keeps)
        return self.requantize(acc, f32(f32(f32(sx) / f32(x.size / acc.size if mean else 1)) / sy), zy, limits)

    def op_reducemean(self, node, attrs, values, sy, zy, limits):
        return self.op_reducesum(node, attrs, values, sy, zy, limits, mean=True)

    def op_reducemax(self, node, attrs, values, sy, zy, limits):
        axes, keeps = self.reduced(node, attrs)
        best = values[self.source(node.input[0])[0]].max(axes, keepdims=keeps)
        return self.rescaled(best, node, node.input[0], sy, zy, limits)

    def operand(self, tensor, values):
        """Codes (of a value or a constant), scale and zero point of a float tensor."""
        name, scale, zero = self.source(tensor)
        return (values[name] if name in values else self.constant(name)), f32(scale), f32(zero)

    def op_add(self, node, attrs, values, sy, zy, limits, sign=1):
        terms = []
        for tensor in node.input:
            codes, scale, zero = self.operand(tensor, values)
            terms.append((codes.astype(f32) - zero) * (f32(sign if terms else 1) * f32(scale / sy)))
        return np.clip(np.rint(terms[0] + terms[1]) + f32(zy), *limits).astype(np.int8)

    def op_sub(self, node, attrs, values, sy, zy, limits):
        return self.op_add(node, attrs, values, sy, zy, limits, -1)

    def op_mul(self, node, attrs, values, sy, zy, limits):
        (a, sa, za), (b, sb, zb) = (self.operand(tensor, values) for tensor in node.input)
        product = (a.astype(f32) - za) * (b.astype(f32) - zb)
        return np.clip(np.rint(product * f32(f32(sa * sb) / sy)) + f32(zy), *limits).astype(np.int8)

    def op_averagepool(self, node, attrs, values, sy, zy, limits):
        name, sx, zx = self.source(node.input[0])
        kernel, strides = attrs["kernel_shape"], attrs.get("strides", [1, 1])
        pads = attrs.get("pads") or same_pads(values[name].shape, kernel, strides, attrs.get("auto_pad", ""))
        more = hanging(values[name].shape, kernel, strides, pads, [1, 1]) if attrs.get("ceil_mode") else [0] * 4
        x = values[name].astype(np.int64) - int(zx)
        counted = pad_image(pad_image(np.ones_like(x), pads, attrs.get("count_include_pad", 0)), more, 0)
        acc = windows(pad_image(pad_image(x, pads, 0), more, 0), kernel, strides, [1, 1]).sum((4, 5))
        sizes, y = windows(counted, kernel, strides, [1, 1]).sum((4, 5)), np.zeros(acc.shape, np.int8)
        for size in np.unique(sizes):
            scale = f32(f32(f32(sx) / f32(size)) / sy)
            y = np.where(sizes == size, self.requantize(acc, scale, zy, limits), y)
        return y

    def op_matmul(self, node, attrs, values, sy, zy, limits):
        if self.source(node.input[1])[0] not in self.const:
            return self.matmul(node, values, sy, zy, limits, self.requantize)
        return self.op_gemm(node, {}, values, sy, zy, limits)

    def rescaled(self, x, node, tensor, sy, zy, limits):
        """Codes x of a tensor in the scale of the node's result."""
        _, scale, zero = self.source(tensor)
        if f32(scale) == sy and zero == zy and limits == (-128, 127):
            return x
        term = (x.astype(f32) - f32(zero)) * f32(f32(scale) / sy)
        return np.clip(np.rint(term) + f32(zy), *limits).astype(np.int8)

    def op_maxpool(self, node, attrs, values, sy, zy, limits):
        x, pads = values[self.source(node.input[0])[0]], attrs.get("pads", [0] * 4)
        kernel, strides, dilations = attrs["kernel_shape"], attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1])
        if attrs.get("ceil_mode"):
            pads = [p + m for p, m in zip(pads, hanging(x.shape, kernel, strides, pads, dilations))]
        best = windows(pad_image(x, pads, -128), kernel, strides, dilations).max((4, 5))
        return self.rescaled(best, node, node.input[0], sy, zy, limits)

    def moved(self, node, values, sy, zy, limits):
        return self.rescaled(values[self.source(node.input[0])[0]], node, node.input[0], sy, zy, limits)

    def op_pad(self, node, attrs, values, sy, zy, limits):
        name, scale, zero = self.source(node.input[0])
        mode, pads = attrs.get("mode", b"constant").decode(), self.const[node.input[1]].reshape(2, -1).T
        x = np.pad(values[name], pads, mode, **({"constant_values": zero} if mode == "constant" else {}))
        return self.rescaled(x, node, node.input[0], sy, zy, limits)

    def op_flatten(self, node, attrs, values, sy, zy, limits):
        x = self.moved(node, values, sy, zy, limits)
        return x.reshape(int(np.prod(x.shape[: attrs.get("axis", 1)])), -1)

    def op_reshape(self, node, attrs, values, sy, zy, limits):
        x = self.moved(node, values, sy, zy, limits)
        wanted = self.const[node.input[1]]
        return x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(wanted)])

    def op_identity(self, node, attrs, values, sy, zy, limits):
        return self.moved(node, values, sy, zy, limits)

    def op_concat(self, node, attrs, values, sy, zy, limits):
        parts = [self.rescaled(values[self.source(t)[0]], node, t, sy, zy, limits) for t in node.input]
        return np.concatenate(parts, axis=attrs["axis"])

    def run(self, inputs, given=None):
        """Every code tensor and output by name. With `given` codes (of another evaluator), each
        layer reads those instead of this run's, so that one layer's difference does not spread."""
        given, values, results = given or {}, {name: signed(x) for name, x in inputs.items()}, {}
        for quant in self.nodes:
            name = quant.output[0]
            results[name] = self.layer(quant, values)
            values[name] = given.get(name, results[name])
        for name in self.outputs:
            if name in values:  # codes leave as they are
                codes = values[name]
                results[name] = (codes.astype(np.int16) + 128).astype(np.uint8) if name in self.unsigned else codes
                continue
            codes, scale, zero = self.source(name)
            results[name] = dequantize(values[codes], scale, zero)
        return results


def run(model, inputs, given=None):
    """Evaluates `model` (ModelProto or path) on {input name: f32 array}; see Reference.run."""
    return Reference(onnx.load(model) if isinstance(model, (str, os.PathLike)) else model).run(inputs, given)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--input", required=True, help=".npy, float32; extra leading images are run as a batch")
    parser.add_argument("--output", required=True, help=".npy that receives the model's first output")
    parser.add_argument("--dump", metavar="DIR", help="also write every int8 tensor to DIR/<name>.npy")
    args = parser.parse_args()
    try:
        reference = Reference(onnx.load(args.model))
        results = reference.run({reference.inputs[0]: np.load(args.input).astype(f32)})
    except (OSError, ValueError, DecodeError) as error:
        raise SystemExit(f"{args.model}: error: {error}")
    np.save(args.output, results[reference.outputs[0]])
    if args.dump:
        os.makedirs(args.dump, exist_ok=True)
        for name, value in results.items():
            np.save(os.path.join(args.dump, name.replace("/", "_") + ".npy"), value)


if __name__ == "__main__":
    main()
