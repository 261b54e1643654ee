"""quantized_decomposed: what PT2E puts around operators, in the arithmetic of PyTorch's own."""

import torch

from .builder import Unsupported, Value
from .table import row

Q = "quantized_decomposed."


def along(b, numbers, x, axis):
    """A number of the whole tensor, or one for each of its channels, as f32 or what it is."""
    if not isinstance(numbers, Value):
        return b.constant(numbers, torch.float32, x.shape)
    numbers = b.convert(numbers, torch.float32)
    return b.broadcast(b.reshape(numbers, ()) if axis is None else numbers, x.shape, () if axis is None else (axis % x.rank,))


def quantized(b, x, scale, zero, low, high, dtype, axis=None):
    if x.dtype != torch.float32:
        x = b.convert(x, torch.float32)
    turned = 1.0 / scale if not isinstance(scale, Value) else b.divide(b.constant(1, torch.float32, scale.shape), b.convert(scale, torch.float32))
    y = b.unary("round_nearest_even", b.multiply(x, along(b, turned, x, axis)))
    y = b.add(y, along(b, zero, x, axis)) if zero is not None else y
    y = b.binary("minimum", b.binary("maximum", y, float(low)), float(high))
    return b.op("convert", [y], dtype, y.shape)


def floats(b, x, scale, zero, axis=None, made=None):
    y = b.convert(x, torch.float32)
    y = b.subtract(y, along(b, zero, x, axis)) if zero is not None and (isinstance(zero, Value) or zero) else y
    y = b.multiply(y, along(b, scale, x, axis))
    return b.convert(y, made.dtype)


@row(Q + "quantize_per_tensor.default", Q + "quantize_per_tensor.tensor", Q + "quantize_per_tensor.tensor2")
def quantize_per_tensor(b, input, scale, zero_point, quant_min, quant_max, dtype):
    if isinstance(quant_min, Value):
        raise Unsupported("limits of codes that are tensors")
    return quantized(b, input, scale, zero_point, quant_min, quant_max, dtype)


@row(Q + "dequantize_per_tensor.default", Q + "dequantize_per_tensor.tensor", Q + "dequantize_per_tensor.tensor2")
def dequantize_per_tensor(b, input, scale, zero_point, quant_min, quant_max, dtype, made=None):
    return floats(b, input, scale, zero_point, None, made)


@row(Q + "quantize_per_channel.default")
def quantize_per_channel(b, input, scales, zero_points, axis, quant_min, quant_max, dtype):
    return quantized(b, input, scales, zero_points, quant_min, quant_max, dtype, axis)


@row(Q + "dequantize_per_channel.default")
def dequantize_per_channel(b, input, scales, zero_points, axis, quant_min, quant_max, dtype, made=None):
    return floats(b, input, scales, zero_points, axis, made)
