"""Functions that want numbers of some range, powers, remainders; codes and back; windows that are put together or looked up.
Functions of a drawing and a tensor."""

import numpy as np
from onnx import TensorProto
from random_any_windows import fits
from random_shapes import product

# Between what its operand is held, which is of no steep slope.
RANGES = {"Exp": (-3, 2), "Log": (0.25, 9), "Sqrt": (0.25, 9), "Reciprocal": (0.5, 9), "Asin": (-0.75, 0.75), "Acos": (-0.75, 0.75),
          "Atanh": (-0.75, 0.75), "Acosh": (1.25, 9), "Asinh": (-9, 9), "Sinh": (-2, 2), "Cosh": (-2, 2), "Tan": (-1, 1)}


def held(d, x, low, high):
    return d.op("Clip", x, d.const(np.float32(low)), d.const(np.float32(high)), exact=True)


def function(d, x):
    kind = d.rng.choice(list(RANGES))
    return d.op(kind, held(d, x, *RANGES[kind]))


def power(d, x):
    """By a number, by numbers, by integers."""
    x = held(d, x, 0.5, 3)
    kind = d.rng.randrange(3)
    if kind == 0:
        return d.op("Pow", x, d.const(np.asarray(d.rng.choice([-2, -1, -0.5, 0, 0.5, 1, 2, 3, 1.5]), np.float32)))
    if kind == 1:
        return d.op("Pow", x, d.operand(d.broadcast(x.shape)))
    return d.op("Pow", x, d.operand(d.graph.rng.integers(-2, 4, d.broadcast(x.shape)).astype(d.rng.choice([np.int32, np.int64]))))


def with_numbers(d, x):
    """Attributes other than those an operator has by itself."""
    kind = d.rng.choice(["Selu", "Shrink", "ThresholdedRelu", "LeakyRelu", "HardSigmoid", "Elu"])
    few = lambda *numbers: d.rng.choice(numbers)  # noqa: E731
    if kind in ("Shrink", "ThresholdedRelu") and not x.exact:
        return None
    if kind == "Selu":
        return d.op(kind, x, alpha=few(0.5, 1.5), gamma=few(0.5, 1.25))
    if kind == "Shrink":
        return d.op(kind, x, bias=few(0.0, 0.25, -0.5), lambd=few(0.125, 0.5, 1.0), exact=True)
    if kind == "HardSigmoid":
        return d.op(kind, x, alpha=few(0.5, -0.25, 0.0), beta=few(-0.5, 0.0, 1.0))
    return d.op(kind, x, alpha=few(0.125, 0.5, 1.0, 0.0, -0.5), exact=kind == "ThresholdedRelu")


def remainder(d, x):
    if not x.exact:
        return None
    y = np.abs(d.numbers(d.broadcast(x.shape))) + np.float32(0.25)
    return d.op("Mod", x, d.operand((y * np.where(d.graph.rng.random(y.shape) < 0.3, -1, 1)).astype(np.float32)), fmod=1, exact=True)


def asked(d, x):
    """What is no number; either of two masks."""
    if not x.exact:
        return None
    below = d.op("Less", x, d.operand(d.broadcast(x.shape)), exact=True)
    odd = d.op("Where", below, d.const(np.float32(d.rng.choice([np.nan, np.inf, -np.inf]))), x, exact=True, finite=False)
    kind = d.rng.choice(["IsNaN", "IsInf"])
    attrs = {"detect_negative": d.rng.randrange(2), "detect_positive": d.rng.randrange(2)} if kind == "IsInf" and d.chance(0.5) else {}
    mask = d.op(d.rng.choice(["Or", "Xor"]), d.op(kind, odd, exact=True, **attrs), below, exact=True)
    return d.op("Cast", mask, to=TensorProto.FLOAT, exact=True)


def reduced(d, x):
    if not x.rank:
        return None
    kind = d.rng.choice(["ReduceProd", "ReduceLogSum"])
    axes = d.rng.sample(range(x.rank), d.rng.randrange(1, x.rank + 1))
    return d.op(kind, held(d, x, 0.5, 1.5), d.ints(*axes), keepdims=d.rng.randrange(2))


# ---- codes ----


def quantised(d, x):
    """To codes and back, by one scale, by one for each place of an axis or by blocks; perhaps the codes move between."""
    if not x.exact or not x.rank:
        return None
    kind = d.rng.choice([np.int8, np.uint8, np.int8, np.uint8, np.int16, np.uint16])
    how = d.rng.choice(["one", "one", "axis", "block"])
    axis, attrs, shape = d.axis(x.rank), {}, ()
    if how == "axis":
        shape, attrs = (x.shape[axis],), {"axis": axis}
    if how == "block":
        sizes = [b for b in (1, 2, 3, 4, 8) if b <= x.shape[axis]]
        attrs = {"axis": axis, "block_size": d.rng.choice(sizes)}
        shape = list(x.shape)
        shape[axis] = -(-x.shape[axis] // attrs["block_size"])
    scale = d.const((2.0 ** d.graph.rng.integers(-6, -2, shape)).astype(np.float32))
    zero = d.const(d.graph.rng.integers(0, 100, shape).astype(kind)) if d.chance(0.7) or kind != np.uint8 else None
    codes = d.op("QuantizeLinear", x, scale, zero, exact=True, **attrs)
    if d.chance(0.2):
        d.others.append(codes)
    if how == "one" and d.chance(0.3):
        codes = d.op("Transpose", codes, exact=True)
    return d.op("DequantizeLinear", codes, scale, zero, exact=True, **attrs)


def integer_product(d, x):
    """Of codes that the graph makes by itself, or of those of weights."""
    if not x.exact or x.rank < 2:
        return None
    codes, scale, zero = d.op("DynamicQuantizeLinear", x, results=3)
    if d.chance(0.3):
        return d.op("DequantizeLinear", codes, scale, zero)
    kind, low = d.rng.choice([(np.int8, -128), (np.uint8, 0)])
    n = d.rng.choice([1, 3, 8, 17])
    weights = d.operand(d.graph.rng.integers(low, low + 256, (x.shape[-1], n)).astype(kind), 0.8)
    kept = d.const(np.asarray(d.graph.rng.integers(low, low + 256, d.rng.choice([(), (n,)])).astype(kind))) if d.chance(0.6) else None
    sums = d.op("MatMulInteger", codes, weights, zero, *([kept] if kept is not None else []))
    y = d.op("Mul", d.op("Cast", sums, to=TensorProto.FLOAT), scale)
    return d.op("Mul", y, d.const(np.float32(1 / (64 * x.shape[-1]))))


# ---- windows ----


def unpooled(d, x):
    if x.rank != 4:
        return None
    kernel = [d.rng.choice([1, 2, 3]) for _ in range(2)]
    attrs = {"kernel_shape": kernel, "strides": kernel, "dilations": [1, 1]}
    if not fits(x.shape[2:], attrs):
        return None
    y, places = d.op("MaxPool", x, results=2, exact=True, **attrs)
    del attrs["dilations"]
    return d.op("MaxUnpool", y, places, exact=True, **attrs)


def put_together(d, x):
    """Columns of windows, summed where they lie over each other."""
    if x.rank != 3:
        return None
    kernel = [k for k in d.rng.choice([(1, 1), (2, 2), (3, 1), (2, 3), (1, 3)])]
    if x.shape[1] % product(kernel):
        return None
    strides, dilations = [d.rng.choice([1, 2]) for _ in range(2)], [d.rng.choice([1, 1, 2]) for _ in range(2)]
    pads = [d.rng.choice([0, 0, 1]) for _ in range(4)]
    windows = d.rng.choice([(a, x.shape[2] // a) for a in range(1, x.shape[2] + 1) if x.shape[2] % a == 0])
    image = [(w - 1) * s + (k - 1) * n + 1 - pads[j] - pads[2 + j]
             for j, (w, s, k, n) in enumerate(zip(windows, strides, kernel, dilations))]
    if min(image) < 1:
        return None
    return d.op("Col2Im", x, d.ints(*image), d.ints(*kernel), strides=strides, dilations=dilations, pads=pads)


def center(d, x):
    if not x.rank:
        return None
    axes = d.rng.sample(range(x.rank), d.rng.randrange(1, min(x.rank, 3) + 1))
    sizes = [max(1, x.shape[axis] + d.rng.randrange(-3, 4)) for axis in axes]
    return d.op("CenterCropPad", x, d.ints(*sizes), axes=axes, exact=True)


def regions(d, x):
    if x.rank != 4:
        return None
    count = d.rng.choice([1, 2, 3])
    corner = np.abs(d.numbers((count, 2)))
    boxes = np.concatenate([corner, corner + 1 + np.abs(d.numbers((count, 2)))], axis=1).astype(np.float32)
    batch = d.graph.rng.integers(0, x.shape[0], count).astype(np.int64)
    mode, ratio = d.rng.choice(["avg", "max"]), d.rng.choice([1, 2, 3])  # of several samples ONNX Runtime's maximum is its own
    return d.op("RoiAlign", x, d.operand(boxes), d.operand(batch), mode=mode, output_height=d.rng.choice([1, 2, 3]),
                output_width=d.rng.choice([1, 2, 3]), sampling_ratio=ratio if mode == "avg" else 1, spatial_scale=d.rng.choice([1.0, 0.5]),
                coordinate_transformation_mode=d.rng.choice(["half_pixel", "output_half_pixel"]))


def frequencies(d, x):
    """Real numbers in one component or complex ones in two, and back."""
    if x.rank < 2 or d.graph.opset < 20:
        return None
    y = x if x.shape[-1] in (1, 2) else d.op("Unsqueeze", x, d.ints(-1), exact=True)
    axis = d.rng.randrange(y.rank - 1)
    length = d.const(np.array(max(1, y.shape[axis] + d.rng.choice([0, 0, 1, -1])), np.int64)) if d.chance(0.4) else None
    inverse = int(y.shape[-1] == 2 and d.chance(0.4))
    onesided = int(not inverse and y.shape[-1] == 1 and d.chance(0.4))
    y = d.op("DFT", y, length, d.const(np.array(axis, np.int64)), inverse=inverse, onesided=onesided)
    return d.op("Mul", y, d.const(np.float32(0.25)))


def table(d, x):
    """A triangle or diagonal of 1 times it."""
    if x.rank < 2:
        return None
    eye = d.op("EyeLike", d.const(x.shape[-2:]), k=d.rng.randrange(-2, 3), dtype=TensorProto.FLOAT, exact=True)
    return d.op("Mul", x, eye, exact=True)


def compressed(d, x):
    if not x.rank:
        return None
    axis = d.axis(x.rank)
    kept = d.graph.rng.random(d.rng.randrange(1, x.shape[axis] + 1)) < 0.6
    return d.op("Compress", x, d.const(kept), axis=axis, exact=True)


def root_norm(d, x):
    """As transformers have it, in operators."""
    if not x.rank:
        return None
    squares = d.op("Mul", x, x) if d.chance(0.5) else d.op("Pow", x, d.const(np.float32(2)))
    mean = d.op("Add", d.op("ReduceMean", squares, d.ints(-1)), d.const(np.float32(1e-5)))
    root = d.op("Sqrt", mean)
    y = d.op("Div", x, root) if d.chance(0.5) else d.op("Mul", x, d.op("Reciprocal", root))
    return d.op("Mul", y, d.operand(x.shape[-1:]))


def heads(d, x):
    """Attention of tokens: three products, heads, scores under a mask, and what they weigh."""
    if x.rank != 3 or x.shape[1] > 33:
        return None
    batch, tokens, width = x.shape
    count, each = d.rng.choice([1, 2, 3, 4]), d.rng.choice([1, 3, 4, 8, 16])
    if batch * tokens * count * each > 3_000 or batch * count * tokens * tokens > 3_000:
        return None

    def part(perm):
        weights = d.const((d.numbers((width, count * each)) / np.float32(np.sqrt(width))).astype(np.float32))
        y = d.op("MatMul", x, weights)
        y = d.op("Add", y, d.operand((count * each,))) if d.chance(0.5) else y
        return d.op("Transpose", d.op("Reshape", y, d.ints(*d.rng.choice([(batch, tokens, count, each), (0, 0, count, -1)]))), perm=perm)

    scores = d.op("MatMul", part([0, 2, 1, 3]), part([0, 2, 3, 1]))
    scores = d.op("Mul", scores, d.const(np.float32(1 / np.sqrt(each))))
    kind = d.rng.randrange(4)
    if kind == 1:
        mask = np.where(np.tril(np.ones((tokens, tokens))) > 0, 0, -30).astype(np.float32)
        scores = d.op("Add", scores, d.operand(mask, 0.5))
    if kind == 2:
        kept = np.ones((batch, 1, 1, tokens), bool)
        kept[..., tokens // 2 + 1:] = False
        scores = d.op("Where", d.operand(kept, 0.5), scores, d.const(np.float32(-30)))
    weighed = d.op("MatMul", d.op("Softmax", scores, axis=d.rng.choice([-1, 3])), part([0, 2, 1, 3]))
    y = d.op("Reshape", d.op("Transpose", weighed, perm=[0, 2, 1, 3]), d.ints(batch, tokens, count * each))
    if d.chance(0.5) and count * each == width:
        y = d.op("Add", y, x)
    return y


FUNCTIONS = [function] * 2 + [power, with_numbers, remainder, asked, reduced, reduced]
FUNCTIONS += [quantised] * 3 + [integer_product, unpooled, put_together, center, regions, frequencies, table, compressed, root_norm, heads, heads]
