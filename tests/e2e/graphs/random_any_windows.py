"""Convolutions, transposed ones and pools over one to three dims, with every attribute. Functions of a drawing and a tensor."""

import numpy as np
from random_any_products import scaled
from random_shapes import product

AUTO = ["SAME_UPPER", "SAME_LOWER", "VALID"]
MACS = 400_000


def along(d, dims, of):
    return [d.rng.choice(of) for _ in range(dims)]


def pads_of(d, spans, most=3):
    return [d.rng.randrange(min(span, most)) for _ in range(2) for span in spans]


def conv(d, x):
    dims = x.rank - 2
    if dims not in (1, 2, 3):
        return None
    channels = x.shape[1]
    group = d.rng.choice([g for g in (1, 1, 2, 3, 4, channels) if channels % g == 0])
    outputs = group * d.rng.choice([1, 1, 2, 3, 5, 8, 16] if group < channels or channels == 1 else [1, 1, 2, 3])
    kernel, dilations = along(d, dims, [1, 2, 3, 3, 4, 5]), along(d, dims, [1, 1, 1, 2, 3])
    attrs = {"strides": along(d, dims, [1, 1, 1, 2, 3]), "dilations": dilations, "group": group}
    if d.chance(0.25):
        attrs["auto_pad"] = d.rng.choice(AUTO)
        if attrs["auto_pad"] != "VALID":
            attrs["dilations"] = [1] * dims  # ONNX Runtime has no others
    else:
        attrs["pads"] = pads_of(d, [(k - 1) * n + 1 for k, n in zip(kernel, dilations)])
    terms = channels // group * product(kernel)
    if terms * outputs * product(x.shape[2:]) > MACS:
        return None
    weights = d.operand(scaled(d, (outputs, channels // group, *kernel), terms), 0.8)
    bias = [d.operand((outputs,))] if d.chance(0.6) else []
    if d.chance(0.5):
        attrs["kernel_shape"] = kernel
    return d.op("Conv", x, weights, *bias, **attrs)


def transposed(d, x):
    dims = x.rank - 2
    if dims not in (1, 2, 3):
        return None
    channels = x.shape[1]
    group = d.rng.choice([g for g in (1, 1, 2, 3, 4, channels) if channels % g == 0])
    outputs = d.rng.choice([1, 2, 3, 5, 8])
    kernel, strides = along(d, dims, [1, 2, 2, 3, 4, 5]), along(d, dims, [1, 2, 2, 3])
    dilations = along(d, dims, [1, 1, 1, 2])
    attrs = {"strides": strides, "dilations": dilations, "group": group}
    more = [d.rng.randrange(max(s, n)) if d.chance(0.2) else 0 for s, n in zip(strides, dilations)]
    if any(more):
        attrs["output_padding"] = more
    kind = d.rng.random()
    if kind < 0.15:  # SAME where there is something to cut: ONNX Runtime does not fill what is missing, though the extents say so
        covered = all((k - 1) * n + 1 >= s for k, n, s in zip(kernel, dilations, strides))
        attrs["auto_pad"] = d.rng.choice(AUTO if covered else ["VALID"])
    elif kind < 0.3:
        attrs["output_shape"] = [n * s + d.rng.randrange(2) for n, s in zip(x.shape[2:], strides)]
    else:
        attrs["pads"] = pads_of(d, [(k - 1) * n + 1 for k, n in zip(kernel, dilations)])
    terms = channels // group * product(kernel)
    if terms * outputs * group * product(x.shape[2:]) * product(strides) > MACS:
        return None
    weights = d.operand(scaled(d, (channels, outputs, *kernel), terms), 0.8)
    bias = [d.operand((outputs * group,))] if d.chance(0.5) else []
    return d.op("ConvTranspose", x, weights, *bias, **attrs)


def fits(extents, attrs):
    """Whether the window is no larger than the padded image, where one that is would not be rounded up."""
    if attrs.get("auto_pad", "VALID") != "VALID" or attrs.get("ceil_mode"):
        return True
    pads = attrs.get("pads", [0] * (2 * len(extents)))
    return all(n + pads[k] + pads[k + len(extents)] >= (attrs["kernel_shape"][k] - 1) * attrs["dilations"][k] + 1
               for k, n in enumerate(extents))


def leaves_ends(extents, attrs):
    """Whether SAME windows with steps longer than themselves leave out two elements or more: ONNX Runtime's pools begin such ones later
    (SAME_UPPER), its convolutions at the first element, as TensorFlow, whose word it is, has them."""
    steps = zip(extents, attrs["kernel_shape"], attrs["strides"])
    return attrs.get("auto_pad", "VALID") != "VALID" and any((-(-n // s) - 1) * s + k - n < -1 for n, k, s in steps)


def pool(d, x):
    dims = x.rank - 2
    if dims not in (1, 2, 3):
        return None
    kind = d.rng.choice(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"])
    kernel, dilations = along(d, dims, [1, 2, 2, 3, 3, 5]), along(d, dims, [1, 1, 1, 2])
    attrs = {"kernel_shape": kernel, "strides": along(d, dims, [1, 1, 2, 2, 3]), "dilations": dilations}
    if d.chance(0.4):
        attrs["ceil_mode"] = 1
    if d.chance(0.2):
        attrs["auto_pad"] = d.rng.choice(AUTO)
        attrs["dilations"] = [1] * dims
    elif d.chance(0.8):
        attrs["pads"] = pads_of(d, kernel)
    if leaves_ends(x.shape[2:], attrs):
        return None
    if not fits(x.shape[2:], attrs):  # ONNX Runtime rounds the number of such windows towards 0
        return None
    if kind == "AveragePool":
        attrs["count_include_pad"] = d.rng.randrange(2)
    if kind == "LpPool":
        attrs["p"] = d.rng.randrange(1, 3)
    return d.op(kind, x, exact=kind == "MaxPool", **attrs)


def global_pool(d, x):
    if x.rank < 3:
        return None
    kind = d.rng.choice(["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"])
    return d.op(kind, x, exact=kind == "GlobalMaxPool")


def grid(d, x):
    """Samples of an image at places inside it and near."""
    if x.rank != 4:
        return None
    places = np.clip(d.numbers((x.shape[0], d.rng.choice([1, 3, 5]), d.rng.choice([1, 2, 4]), 2)) * np.float32(0.5), -1.25, 1.25)
    return d.op("GridSample", x, d.operand(places.astype(np.float32)), mode=d.rng.choice(["linear", "cubic"]),
                padding_mode=d.rng.choice(["zeros", "border", "reflection"]), align_corners=d.rng.randrange(2))


WINDOWS = [conv] * 5 + [transposed] * 3 + [pool] * 4 + [global_pool, grid]
