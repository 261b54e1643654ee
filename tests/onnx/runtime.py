"""com.microsoft's operators by attribute and type, against ONNX Runtime.

    tests/onnx/runtime.py --bin build/bin [--only REGEX] [--every N] [--list]

What ONNX Runtime does not run on a processor is no case. Codes may differ by one where ONNX Runtime computes in other floats
than the operators' own definition says (`codes` below), everything else is within 1e-4 of the largest number of a result. With the
cases of the Python package onnx (outcomes.txt) they are the share of opset 18 to 28 and com.microsoft that is printed."""

import argparse
import collections
import itertools
import os
import re
import sys
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import outcomes  # noqa: E402
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from exact import session_of  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

HERE = Path(__file__).parent
RNG = np.random.default_rng(31)
F32, F16 = np.float32, np.float16


class Case:
    """One node: operands by place (None: left out), those of `constants` are initialisers; so many results."""

    def __init__(self, name, kind, inputs, attributes=None, results=1, constants=(), codes=0, wanted=None):
        self.name, self.kind, self.inputs, self.attributes = f"{kind}: {name}", kind, inputs, attributes or {}
        self.results, self.constants, self.codes, self.wanted = results, constants, codes, wanted or range(results)
        self.is_bare = False

    def model(self, domain="com.microsoft"):
        names = [f"x{k}" if v is not None else "" for k, v in enumerate(self.inputs)]
        outputs = [f"y{k}" if k in self.wanted else "" for k in range(self.results)]
        node = helper.make_node(self.kind, names, outputs, domain=domain, **self.attributes)
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                  for k, (n, v) in enumerate(zip(names, self.inputs)) if n and k not in self.constants]
        constants = [numpy_helper.from_array(self.inputs[k], names[k]) for k in self.constants]
        values = [onnx.ValueInfoProto(name=n) for n in outputs if n]
        first = zlib.crc32(self.name.encode()) % max(1, len(inputs))  # any operand is the graph's first input
        inputs = inputs[first:] + inputs[:first]
        graph = helper.make_graph([node], "g", inputs, values, constants)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)])

    def feeds(self):
        return {f"x{k}": v for k, v in enumerate(self.inputs) if v is not None and k not in self.constants}


def floats(*shape, kind=F32, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype(kind)


def codes(kind, *shape):
    bounds = np.iinfo(kind)
    return RNG.integers(bounds.min, bounds.max, shape, kind, endpoint=True)


def weights(kind, *shape):
    """Of 7 bits: where a processor sums pairs of products in 16 bits, ONNX Runtime's u8 by s8 stops at 32,767."""
    return codes(kind, *shape) // 2


def scale(value):
    return np.array(value, F32)


def zero(kind, value):
    return np.array(value + (128 if kind == np.uint8 else 0), kind)


def each(**lists):
    for values in itertools.product(*lists.values()):
        yield dict(zip(lists, values))


def said(attributes):
    return ", ".join(f"{k}={v}" for k, v in attributes.items()) or "plain"


# ---- of each element, norms ----

def elements():
    for kind in F32, F16:
        x, row = floats(3, 8, kind=kind), floats(8, kind=kind)
        for name in "Gelu", "FastGelu", "QuickGelu":
            yield Case(kind.__name__, name, [x])
        yield Case(f"alpha, {kind.__name__}", "QuickGelu", [x], {"alpha": 1.5})
        yield Case(f"bias, {kind.__name__}", "FastGelu", [x, row])
        yield Case(kind.__name__, "BiasGelu", [x, row])
        for three in floats(2, 3, 8, kind=kind), :
            skip, gamma, beta, bias = floats(2, 3, 8, kind=kind), floats(8, kind=kind), floats(8, kind=kind), floats(8, kind=kind)
            yield Case(f"all, {kind.__name__}", "SkipLayerNormalization", [three, skip, gamma, beta, bias], {"epsilon": 1e-5}, 4, wanted=[0, 3])
            yield Case(f"no beta, {kind.__name__}", "SkipLayerNormalization", [three, skip, gamma])
            yield Case(f"no bias, {kind.__name__}", "SkipLayerNormalization", [three, skip, gamma, beta])
            yield Case(f"one skip for all, {kind.__name__}", "SkipLayerNormalization", [three, skip[:1], gamma, beta])
            yield Case(f"all, {kind.__name__}", "SkipSimplifiedLayerNormalization", [three, skip, gamma, bias], {"epsilon": 1e-5}, 4, wanted=[0, 3])
            yield Case(f"no bias, {kind.__name__}", "SkipSimplifiedLayerNormalization", [three, skip, gamma])
            for a in each(axis=[-1, 1], epsilon=[1e-5, 0.1]):
                of_axis = floats(*three.shape[a["axis"]:], kind=kind)
                yield Case(f"{said(a)}, {kind.__name__}", "SimplifiedLayerNormalization", [three, of_axis], a)
    ids, segments = RNG.integers(0, 20, (2, 5)).astype(np.int32), RNG.integers(0, 2, (2, 5)).astype(np.int32)
    tables, mask = [floats(20, 8), floats(9, 8), floats(2, 8)], np.int32([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    rows = [floats(8), floats(8)]
    yield Case("all", "EmbedLayerNormalization", [ids, segments, *tables, *rows, mask], {"epsilon": 1e-5}, 3)
    yield Case("no segments", "EmbedLayerNormalization", [ids, None, *tables[:2], None, *rows, mask], results=2)
    yield Case("no mask", "EmbedLayerNormalization", [ids, segments, *tables, *rows], results=2)
    places = np.int32([[3, 1, 0, 2, 8], [0, 1, 2, 3, 4]])
    yield Case("positions", "EmbedLayerNormalization", [ids, segments, *tables, *rows, None, places], results=2)


# ---- others that ONNX has ----

def others():
    x = floats(2, 4, 5)
    for upper in 0, 1:
        yield Case(f"upper={upper}", "Trilu", [x], {"upper": upper})
    yield Case("k", "Trilu", [x, np.array(-1, np.int64)], constants=[1])
    for mode in "constant", "edge", "reflect":
        yield Case(mode, "Pad", [x, np.int64([0, 1, 2, 1, 0, 2]), scale(0.5)], {"mode": mode}, constants=[1, 2])
    for at in np.int64([[0, 1], [1, 3]]), np.int64([[[1]], [[0]]]), np.int32([[0, 1, 2]]):
        yield Case(f"{at.dtype}, {at.shape}", "GatherND", [x, at])
    image, grid = floats(2, 3, 5, 6), (RNG.random((2, 4, 7, 2)) * 3 - 1.5).astype(F32)
    for a in each(mode=["bilinear", "nearest", "bicubic"], padding_mode=["zeros", "border", "reflection"], align_corners=[0, 1]):
        yield Case(said(a), "GridSample", [image, grid], a)
    for at in 0, 2, 3, -1, -4:
        yield Case(f"at {at}", "ExpandDims", [x, np.array(at, np.int32)], constants=[1])


# ---- products ----

def products():
    for a in each(metric=["sqeuclidean", "euclidean"]):
        for kind in F32, np.float64:
            yield Case(f"{said(a)}, {kind.__name__}", "CDist", [floats(5, 17, kind=kind), floats(3, 17, kind=kind)], a)
    for a in each(transA=[0, 1], transB=[0, 1], alpha=[1.0, 0.25]):
        x, z = floats(*((2, 5, 3) if a["transA"] else (2, 3, 5))), floats(*((2, 4, 5) if a["transB"] else (2, 5, 4)))
        for kind in "FusedMatMul", "TransposeMatMul":
            yield Case(said(a), kind, [x, z], a)
        yield Case(f"matrices, {said(a)}", "FusedMatMul", [x[0], z[0]], a)
        for how in "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid":
            if a["alpha"] == 1:
                yield Case(f"{how}, {said(a)}", "FusedGemm", [x[0], z[0], floats(4)], {**a, "activation": how, "beta": 0.5})
    x, z = floats(3, 2, 5, 4), floats(3, 2, 4, 6)
    for a in each(transBatchA=[0, 1], transBatchB=[0, 1], transA=[0, 1]):
        of_x = np.swapaxes(x, -1, -2) if a["transA"] else x
        of_x = np.moveaxis(of_x, -2, 0) if a["transBatchA"] else of_x
        of_z = np.moveaxis(z, -2, 0) if a["transBatchB"] else z
        yield Case(f"batches, {said(a)}", "FusedMatMul", [np.ascontiguousarray(of_x), np.ascontiguousarray(of_z)], a)
    image, w, b = floats(1, 4, 7, 6), floats(6, 2, 3, 3), floats(6)
    forms = {"group": 2, "pads": [1, 0, 1, 2], "strides": [2, 1], "kernel_shape": [3, 3]}
    for how, numbers in ("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.5]), ("HardSigmoid", [0.3, 0.4]):
        more = {"activation_params": numbers} if numbers else {}
        yield Case(how, "FusedConv", [image, w, b], {**forms, **more, "activation": how}, constants=[1, 2])
        y = onnxruntime_run(Case("", "FusedConv", [image, w, b], {**forms, "activation": "Relu"}, constants=[1, 2]))[0]
        yield Case(f"{how} of a sum", "FusedConv", [image, w, b, floats(*y.shape)], {**forms, **more, "activation": how}, constants=[1, 2])


def few_bits():
    for bits, block, k in (4, 16, 32), (4, 32, 80), (8, 16, 48), (4, 128, 100):
        n, blocks = 6, -(-k // block)
        w = codes(np.uint8, n, blocks, block * bits // 8)
        scales, x = RNG.uniform(0.01, 0.1, n * blocks).astype(F32), floats(3, k)
        zeros = codes(np.uint8, n * -(-blocks * bits // 8))
        a = {"K": k, "N": n, "bits": bits, "block_size": block}
        yield Case(f"{bits} bits, {block}, {k}", "MatMulNBits", [x, w, scales], a, constants=[1, 2])
        yield Case(f"{bits} bits, {block}, {k}, zero points", "MatMulNBits", [x, w, scales, zeros], a, constants=[1, 2, 3])
        yield Case(f"{bits} bits, {block}, {k}, bias", "MatMulNBits", [x.reshape(1, 3, k), w, scales, None, None, floats(n)], a, constants=[1, 2, 5])


# ---- codes ----

def on_codes():
    for kind in np.uint8, np.int8:
        name = kind.__name__
        x, z = codes(kind, 2, 3, 4, 5), codes(kind, 2, 3, 4, 5)
        a, b, c = [scale(0.02), zero(kind, 3)], [scale(0.05), zero(kind, -7)], [scale(0.06), zero(kind, 1)]
        for op in "QLinearAdd", "QLinearMul":
            yield Case(name, op, [x, *a, z, *b, *c], codes=1, constants=[1, 2, 4, 5, 6, 7])
            yield Case(f"broadcast, {name}", op, [x, *a, z[0, 0, 0], *b, *c], codes=1, constants=[1, 2, 4, 5, 6, 7])
        yield Case(name, "QLinearSigmoid", [x, *a, scale(1 / 256), zero(kind, -128)], codes=1, constants=[1, 2, 3, 4])
        yield Case(name, "QLinearLeakyRelu", [x, *a, *c], {"alpha": 0.2}, codes=1, constants=[1, 2, 3, 4])
        for axis, opset in (-1, 13), (1, 13), (-1, 11), (1, 11):
            out = [scale(1 / 256), zero(kind, -128)]
            yield Case(f"axis={axis}, opset={opset}, {name}", "QLinearSoftmax", [x, *a, *out], {"axis": axis, "opset": opset}, codes=1, constants=[1, 2, 3, 4])
        for last in 0, 1:
            yield Case(f"channels_last={last}, {name}", "QLinearGlobalAveragePool", [x, *a, *c], {"channels_last": last}, codes=1, constants=[1, 2, 3, 4])
            for counted in 0, 1:
                forms = {"kernel_shape": [2, 3], "pads": [1, 0, 0, 1], "strides": [1, 2], "channels_last": last, "count_include_pad": counted}
                image = codes(kind, 1, 5, 6, 3) if last else codes(kind, 1, 3, 5, 6)
                yield Case(f"channels_last={last}, count_include_pad={counted}, {name}", "QLinearAveragePool", [image, *a, *c], forms, codes=1, constants=[1, 2, 3, 4])
        for axis in 1, -1:
            yield Case(f"axis={axis}, {name}", "QLinearConcat", [*c, x, *a, z, *b], {"axis": axis}, codes=1, constants=[0, 1, 3, 4, 6, 7])
        truth = RNG.random((2, 3, 4, 5)) < 0.5
        yield Case(name, "QLinearWhere", [truth, x, *a, z, *b, *c], codes=1, constants=[2, 3, 5, 6, 7, 8])
        yield Case(name, "NhwcMaxPool", [codes(kind, 1, 6, 5, 3)], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]})
        yield Case(f"dilations, {name}", "NhwcMaxPool", [codes(kind, 1, 7, 5, 3)], {"kernel_shape": [3, 2], "dilations": [2, 1]})
        yield Case(f"to {name}", "QuantizeLinear", [floats(3, 8), scale(0.02), zero(kind, 2)], constants=[1, 2])
        yield Case(f"to {name} by axis", "QuantizeLinear", [floats(3, 8), np.float32([0.02, 0.1, 0.03]), np.array([5, 1, 2], kind)], {"axis": 0}, constants=[1, 2])
        yield Case(f"of {name}", "DequantizeLinear", [x, scale(0.02), zero(kind, 2)], constants=[1, 2])
        yield Case(f"of {name} by axis", "DequantizeLinear", [x, np.float32([0.02, 0.1, 0.03]), np.array([5, 1, 2], kind)], {"axis": 1}, constants=[1, 2])
    for kind in np.uint16, np.int16:
        yield Case(f"to {kind.__name__}", "QuantizeLinear", [floats(3, 8), scale(0.001), np.array(7, kind)], constants=[1, 2])
        yield Case(f"of {kind.__name__}", "DequantizeLinear", [codes(kind, 3, 8), scale(0.001), np.array(7, kind)], constants=[1, 2])
    yield Case("of int32", "DequantizeLinear", [RNG.integers(-999, 999, (3, 8)).astype(np.int32), scale(0.02)], constants=[1])


def products_of_codes():
    for of_x, of_w in (np.uint8, np.int8), (np.uint8, np.uint8), (np.int8, np.int8):
        name = f"{of_x.__name__} by {of_w.__name__}"
        x, w = codes(of_x, 3, 8), weights(of_w, 8, 5)
        by, columns = [scale(0.02), scale(0.05)], RNG.uniform(0.01, 0.1, 5).astype(F32)
        zeros = [zero(of_x, 3), zero(of_w, -2)]
        fixed = [1, 2, 3, 4, 5]
        yield Case(name, "MatMulIntegerToFloat", [x, w, *by], constants=[1, 2, 3])
        yield Case(f"zero points, {name}", "MatMulIntegerToFloat", [x, w, *by, *zeros], constants=fixed)
        yield Case(f"by column, {name}", "MatMulIntegerToFloat", [x, w, by[0], columns, zeros[0], codes(of_w, 5)], constants=fixed)
        yield Case(f"bias, {name}", "MatMulIntegerToFloat", [x, w, *by, *zeros, floats(5)], constants=[*fixed, 6])
        yield Case(f"batch, {name}", "MatMulIntegerToFloat", [codes(of_x, 2, 3, 8), w, *by, *zeros], constants=fixed)
        for a in each(transA=[0, 1], transB=[0, 1], alpha=[1.0, 0.5]):
            of_a, of_b = (x.T if a["transA"] else x).copy(), (w.T if a["transB"] else w).copy()
            bias = RNG.integers(-500, 500, 5).astype(np.int32)
            ins = [of_a, by[0], zeros[0], of_b, by[1], zeros[1], bias]
            yield Case(f"floats, {said(a)}, {name}", "QGemm", ins, a, constants=[1, 2, 3, 4, 5, 6])
            yield Case(f"codes, {said(a)}, {name}", "QGemm", [*ins, scale(0.5), zero(of_x, 1)], a, constants=[1, 2, 3, 4, 5, 6, 7, 8], codes=1)
    for of_w in np.int8, np.uint8:
        w, name = weights(of_w, 8, 5), of_w.__name__
        yield Case(name, "DynamicQuantizeMatMul", [floats(3, 8), w, scale(0.05)], constants=[1, 2])
        yield Case(f"zero point, {name}", "DynamicQuantizeMatMul", [floats(3, 8), w, scale(0.05), zero(of_w, 2)], constants=[1, 2, 3])
        yield Case(f"by column, bias, {name}", "DynamicQuantizeMatMul", [floats(2, 3, 8), w, RNG.uniform(0.01, 0.1, 5).astype(F32), codes(of_w, 5), floats(5)], constants=[1, 2, 3, 4])


# ---- attention ----

def packed_attention():
    x, w, b = floats(2, 4, 8), floats(8, 24, scale=0.5), floats(24)
    raw, lengths = np.int32([[1, 1, 1, 0], [1, 1, 1, 1]]), np.int32([3, 4])
    boxes = (RNG.random((2, 4, 4)) < 0.7).astype(np.int32)
    boxes[:, :, 0] = 1
    past, bias = floats(2, 2, 2, 3, 4), floats(2, 2, 4, 4)
    for one in 0, 1:
        a = {"num_heads": 2, "unidirectional": one}
        yield Case(f"unidirectional={one}", "Attention", [x, w, b], a)
        yield Case(f"mask of keys, unidirectional={one}", "Attention", [x, w, b, raw], a)
        yield Case(f"lengths, unidirectional={one}", "Attention", [x, w, b, lengths], a)
        yield Case(f"mask of all, unidirectional={one}", "Attention", [x, w, b, boxes], a)
        yield Case(f"past, unidirectional={one}", "Attention", [x, w, b, None, past], a, 2)
        yield Case(f"bias, unidirectional={one}", "Attention", [x, w, b, None, None, bias], a)
        yield Case(f"present, unidirectional={one}", "Attention", [x, w, b], a, 2)
    yield Case("mask over a past", "Attention", [x, w, b, np.concatenate([np.ones((2, 3), np.int32), raw], 1), past], {"num_heads": 2}, 2)
    yield Case("heads", "Attention", [x, w, b], {"num_heads": 4})
    yield Case("scale", "Attention", [x, w, b], {"num_heads": 2, "scale": 0.7})
    yield Case("other values", "Attention", [x, floats(8, 28), floats(28)], {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 12]})
    yield Case("another mask value", "Attention", [x, w, b, raw], {"num_heads": 2, "mask_filter_value": -500.0})


def head_attention():
    q, k, v, b = floats(2, 4, 8), floats(2, 5, 8), floats(2, 5, 8), floats(24)
    raw = np.int32([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    past, bias = [floats(2, 2, 3, 4), floats(2, 2, 3, 4)], floats(2, 2, 4, 5)
    a = {"num_heads": 2}
    yield Case("plain", "MultiHeadAttention", [q, k, v], a)
    yield Case("bias", "MultiHeadAttention", [q, k, v, b], a)
    yield Case("mask of keys", "MultiHeadAttention", [q, k, v, None, raw], a)
    yield Case("lengths", "MultiHeadAttention", [q, k, v, None, np.int32([3, 5])], a)
    yield Case("added to the scores", "MultiHeadAttention", [q, k, v, None, None, bias], a)
    yield Case("added to all", "MultiHeadAttention", [q, k, v, None, None, bias[:1, :1]], a)
    yield Case("scale", "MultiHeadAttention", [q, k, v], {**a, "scale": 0.3})
    yield Case("unidirectional", "MultiHeadAttention", [q, k[:, :4].copy(), v[:, :4].copy()], {**a, "unidirectional": 1})
    yield Case("past", "MultiHeadAttention", [q, k[:, :4].copy(), v[:, :4].copy(), None, None, None, *past], a, 3)
    yield Case("past, unidirectional", "MultiHeadAttention", [q, k[:, :4].copy(), v[:, :4].copy(), b, None, None, *past], {**a, "unidirectional": 1}, 3)
    yield Case("present", "MultiHeadAttention", [q, k[:, :4].copy(), v[:, :4].copy()], a, 3)
    yield Case("other values", "MultiHeadAttention", [q, k, floats(2, 5, 12)], a)
    yield Case("keys as heads", "MultiHeadAttention", [q, floats(2, 2, 5, 4), floats(2, 2, 5, 4)], a)
    yield Case("one operand of all", "MultiHeadAttention", [floats(2, 4, 2, 3, 4)], a)
    yield Case("keys and values in one", "MultiHeadAttention", [q, floats(2, 5, 2, 2, 4)], a)


def rotary():
    angles = np.outer(np.arange(16), 1 / 100 ** (np.arange(4) / 4)).astype(F32)
    tables = [np.cos(angles), np.sin(angles)]
    x = floats(2, 5, 16)
    places = np.int64([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])
    for pairs in 0, 1:
        yield Case(f"from a place, interleaved={pairs}", "RotaryEmbedding", [x, np.int64([3]), *tables], {"interleaved": pairs})
        yield Case(f"positions, interleaved={pairs}", "RotaryEmbedding", [x, places, *tables], {"interleaved": pairs})
        yield Case(f"heads, interleaved={pairs}", "RotaryEmbedding", [floats(2, 3, 5, 8), places, *tables], {"interleaved": pairs})
        part = {"interleaved": pairs, "num_heads": 1, "rotary_embedding_dim": 8}
        yield Case(f"a part, interleaved={pairs}", "RotaryEmbedding", [x, places, *tables], part)
    yield Case("a number for the first", "RotaryEmbedding", [x, np.int64([0]), *[t[:5].copy() for t in tables]])


def groups():
    angles = np.outer(np.arange(16), 1 / 100 ** (np.arange(8) / 8)).astype(F32)
    tables = [np.cos(angles), np.sin(angles)]
    a = {"num_heads": 4, "kv_num_heads": 2}

    def case(name, new, past, lengths, total, attributes, packed=False, more=()):
        batch = len(lengths)
        q, k, v = floats(batch, new, 64), floats(batch, new, 32), floats(batch, new, 32)
        caches = [floats(batch, 2, past, 16), floats(batch, 2, past, 16)] if past else [None, None]
        front = [np.concatenate([q, k, v], 2), None, None] if packed else [q, k, v]
        ins = [*front, *caches, np.int32(lengths), np.array(total, np.int32), *more]
        return Case(name, "GroupQueryAttention", ins, {**a, **attributes}, 3, constants=[6])

    yield case("a prompt", 5, 0, [4, 4], 5, {})
    yield case("a prompt, one operand", 5, 0, [4, 4], 5, {}, packed=True)
    yield case("a prompt, scale", 5, 0, [4, 4], 5, {"scale": 0.2})
    yield case("a prompt, capped", 5, 0, [4, 4], 5, {"softcap": 2.0})
    yield case("a prompt, window", 5, 0, [4, 4], 5, {"local_window_size": 2})
    yield case("a token", 1, 6, [6, 6], 7, {})
    yield case("a token, window", 1, 6, [6, 6], 7, {"local_window_size": 3})
    yield case("tokens behind others", 3, 6, [8], 9, {})
    yield case("lengths", 1, 6, [3, 6], 7, {})
    for pairs in 0, 1:
        turns = {"do_rotary": 1, "rotary_interleaved": pairs}
        yield case(f"a prompt, {said(turns)}", 5, 0, [4, 4], 5, turns, more=tables)
        yield case(f"a token, {said(turns)}", 1, 6, [6, 6], 7, turns, more=tables)
        yield case(f"a token, one operand, {said(turns)}", 1, 6, [6, 6], 7, turns, packed=True, more=tables)
    yield case("smooth", 5, 0, [4, 4], 5, {"smooth_softmax": 1})


def left_out(cases):
    """Of each attribute of each operator: the first of its cases that is one without it too, so that the attribute is what
    it is where a model does not say."""
    seen = set()
    for case in cases:
        yield case
        for name in sorted(case.attributes):
            rest = {key: value for key, value in case.attributes.items() if key != name}
            without = Case(f"no {name}", case.kind, case.inputs, rest, case.results, case.constants, case.codes, case.wanted)
            without.is_bare = True
            if (case.kind, name) not in seen and onnxruntime_run(without) is not None:
                seen.add((case.kind, name))
                yield without


FAMILIES = elements, others, products, few_bits, on_codes, products_of_codes, packed_attention, head_attention, rotary, groups


# ---- what is refused ----

def refusals():
    x, w, b = floats(2, 4, 8), floats(8, 24), floats(24)
    a = {"num_heads": 2}
    yield Case("turned inside", "Attention", [x, w, b], {**a, "do_rotary": 1}), "do_rotary"
    yield Case("heads that do not divide", "Attention", [x, w, b], {"num_heads": 3}), "a last dim that is not 3 heads"
    yield Case("columns of another number", "Attention", [x, floats(8, 25), None], a), "columns are not queries, keys and values"
    yield Case("a mask of other keys", "Attention", [x, w, b, np.ones((2, 5), np.int32)], a), "a mask of other than"
    yield Case("all in one", "MultiHeadAttention", [floats(2, 4, 2, 3, 4)], a), "in one operand"
    yield Case("one past", "MultiHeadAttention", [x, x, x, None, None, None, floats(2, 2, 3, 4)], a), "past_key or past_value alone"
    yield Case("a short bias", "MultiHeadAttention", [x, x, x, floats(9)], a), "a bias that does not fit"
    q = [floats(1, 2, 64), floats(1, 2, 32), floats(1, 2, 32), None, None, np.int32([1]), np.array(2, np.int32)]
    of_groups = {"num_heads": 4, "kv_num_heads": 2}
    yield Case("a length at run time", "GroupQueryAttention", q, of_groups, 3), "operand 6 is not constant"
    yield Case("groups that do not divide", "GroupQueryAttention", q, {**of_groups, "kv_num_heads": 3}, 3, constants=[6]), "do not fit"
    yield Case("smooth", "GroupQueryAttention", q, {**of_groups, "smooth_softmax": 1}, 3, constants=[6]), "smooth_softmax"
    codes_of = [codes(np.uint8, 6, 2, 16), floats(12)]
    yield Case("five bits", "MatMulNBits", [floats(3, 64), *codes_of], {"K": 64, "N": 6, "block_size": 32, "bits": 5}), "weights of 5 bits"
    yield Case("weights of another size", "MatMulNBits", [floats(3, 64), *codes_of], {"K": 64, "N": 7, "block_size": 32}), "weights that do not fit"
    yield Case("blocks of nothing", "MatMulNBits", [floats(3, 64), *codes_of], {"K": 64, "N": 6, "block_size": 0}), "that make no sense"
    yield Case("another activation", "FusedGemm", [floats(3, 4), floats(4, 5)], {"activation": "Selu"}), "an activation 'Selu'"
    image = codes(np.uint8, 1, 3, 4, 4)
    yield Case("codes without a scale", "QLinearConcat", [scale(1), zero(np.uint8, 0), image, scale(1), zero(np.uint8, 0), image], {"axis": 1}), "without a scale"
    old = {"axis": 1, "opset": 11}
    yield Case("an axis of an old opset", "QLinearSoftmax", [image, scale(1), zero(np.uint8, 0), scale(1), zero(np.uint8, 0)], old), "as opset 11 has it"
    rows = [codes(np.uint8, 3, 8), codes(np.int8, 8, 5), np.float32([1, 2, 3]), scale(1)]
    yield Case("a scale for each row", "MatMulIntegerToFloat", rows), "the left factor's scale is not one for all"
    yield Case("no image", "NhwcMaxPool", [codes(np.uint8, 3, 4)], {"kernel_shape": [2]}), "an operand of 2 dims"
    places = [floats(2, 5, 16), np.int64([[0, 1, 2, 3, 4]] * 2), floats(16, 4), floats(16, 4)]
    yield Case("a scale", "RotaryEmbedding", places, {"scale": 2.0}), "scale 2"
    yield Case("a table that is a number", "RotaryEmbedding", [*places[:2], scale(1), scale(1)]), "a last dim that is not 0 heads"
    caches = [floats(1, 2, 16), floats(1, 2, 16)]
    yield Case("a cache of another rank", "GroupQueryAttention", [*q[:3], *caches, *q[5:]], of_groups, 3, constants=[6]), "a cache that does not fit"
    ids = [np.int32([[1, 2]]), np.int32([[0, 1]]), floats(4, 8), floats(4, 8), None, floats(8), floats(8)]
    yield Case("segments without a table", "EmbedLayerNormalization", ids), "segments without their embedding"
    yield Case("another metric", "CDist", [floats(2, 3), floats(2, 3)], {"metric": "cosine"}), "a metric 'cosine'"
    yield Case("vectors of several lengths", "CDist", [floats(2, 3), floats(2, 4)]), "two lists of equally long vectors"
    yield Case("a place that data say", "ExpandDims", [x, np.array(1, np.int32)]), "operand 1 is not constant"
    yield Case("a place behind the end", "ExpandDims", [x, np.array(4, np.int32)], constants=[1]), "axis 4 of 4 dims"


# ---- runs ----

def onnxruntime_run(case):
    """None where it cannot."""
    domain = "" if case.kind == "SimplifiedLayerNormalization" else "com.microsoft"  # it knows that one as ONNX's alone
    try:
        return session_of(case.model(domain)).run(None, case.feeds())
    except Exception as error:  # (its exceptions have no common base but this)
        if os.environ.get("PB_SHOW"):
            print(f"no case: {case.name}: {str(error)[:200]}")
        return None


def ours(case, bin_dir, folder):
    """("passed", results) or ("refused" | "failed", why)"""
    path, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    Path(path).write_bytes(case.model().SerializeToString())
    done = tools.call([f"{bin_dir}/pbc", path, "--target=cpu", "-o", engine], timeout=120)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error: " in line]
        return "refused" if done.returncode == 1 and lines else "failed", (lines or [done.stderr[-300:] or str(done.returncode)])[0]
    words = []
    for name, value in case.feeds().items():
        np.save(os.path.join(folder, f"{name}.npy"), value)
        words += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
    for k in case.wanted:
        words += ["--output", f"y{k}={os.path.join(folder, f'y{k}.npy')}"]
    done = tools.call([f"{bin_dir}/pb-run", engine, *words], timeout=120)
    if done.returncode:
        return "failed", f"pb-run: {done.stderr[-300:]}"
    return "passed", [np.load(os.path.join(folder, f"y{k}.npy")) for k in case.wanted]


def differs(case, got, want):
    for k, (y, expected) in enumerate(zip(got, want)):
        if y.shape != expected.shape or y.dtype != expected.dtype:
            return f"result {k}: {y.dtype} {y.shape}, expected {expected.dtype} {expected.shape}"
        if expected.size == 0:
            continue
        away = np.abs(y.astype(np.float64) - expected.astype(np.float64))
        room = case.codes if expected.dtype.kind in "iu" else (1e-4 if expected.dtype == F32 else 4e-3) * max(np.abs(expected).max(), 1e-3)
        if not (away <= room).all():
            at = np.unravel_index(np.argmax(away), away.shape)
            return f"result {k}: {np.sum(away > room)} of {away.size}, at {at} {y[at]}, expected {expected[at]}"
    return ""


def package():
    """Of the cases of the Python package onnx: (right, all), by outcomes.txt."""
    import nodes

    folder = nodes.cases_of_package()
    names = [f.name for f in folder.iterdir() if not nodes.RANDOM.search(f.name)]
    pins = outcomes.read(HERE / "outcomes.txt")
    right = sum(pins.get(f"package/{n}", "passed") in ("passed", "bound") for n in names)
    return right, len(names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--only", default=".")
    parser.add_argument("--every", type=int, default=1, help="of each operator the first case and every so manyth behind it")
    parser.add_argument("--list", action="store_true", help="each case with its outcome")
    options = parser.parse_args()
    counts, refused, kinds, wrong = {"passed": 0, "refused": 0, "failed": 0}, {}, collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in left_out(itertools.chain(*(family() for family in FAMILIES))):
            if not re.search(options.only, case.name):
                continue
            want = onnxruntime_run(case)
            if want is None:
                continue
            kinds[case.kind] += not case.is_bare
            if (kinds[case.kind] - 1) % options.every and not case.is_bare:
                continue
            what, found = ours(case, options.bin, folder)
            why = differs(case, found, want) if what == "passed" else found
            if what == "passed" and why or what == "refused" and case.is_bare:
                what = "failed"
            counts[what] += 1
            if what == "refused":
                refused.setdefault(re.sub(r"^.*?error: ", "", why), []).append(case.name)
            if what == "failed" or options.list:
                print(f"{what}: {case.name}: {why}", flush=True)
        for case, words in refusals() if options.only == "." else ():
            what, found = ours(case, options.bin, folder)
            wrong += what != "refused" or words not in found
            if what != "refused" or words not in found:
                print(f"failed: {case.name}: {what}, {found if what != 'passed' else ''}, not refused by {words!r}")
    for why, names in refused.items():
        print(f"{len(names):4} refused: {why}: {names[0]}")
    total = sum(counts.values())
    rows = set(re.findall(r'^OP\("com\.microsoft\.(\w+)"', (HERE / "../../core/frontend/onnx/onnx.def").read_text(), re.M))
    missing = rows - set(kinds) if options.only == "." else set()
    for name in sorted(missing):
        print(f"no case of com.microsoft.{name}")
    print(f"com.microsoft: {counts['passed']} of {total} cases, {len(kinds)} operators; {counts['refused']} refused, {counts['failed']} failed")
    short = False
    if options.only == "." and options.every == 1:
        import nodes

        nodes.BIN = Path(options.bin)
        right, cases = package()
        share = (right + counts["passed"]) / (cases + total)
        print(f"with opset 18 to 28: {right + counts['passed']} of {cases + total} cases = {100 * share:.1f}%")
        short = share < 0.97 or counts["passed"] < 0.97 * total
    return 1 if counts["failed"] or wrong or missing or short or not total else 0


if __name__ == "__main__":
    sys.exit(main())
