"""Elements: each result of one of each operand."""

import math

import torch

from .builder import HALVES, PART, Unsupported, Value
from .table import row


def operand(b, x, dtype):
    return b.convert(x, dtype) if isinstance(x, Value) else b.constant(x, dtype)


def computed(dtype):
    """A type wide enough for a function's own steps."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


PLAIN = {
    "neg": "negate", "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sine", "cos": "cosine", "tanh": "tanh", "sigmoid": "logistic", "floor": "floor",
    "ceil": "ceil", "round": "round_nearest_even", "tan": "tan", "acos": "chlo.acos", "acosh": "chlo.acosh", "asin": "chlo.asin",
    "asinh": "chlo.asinh", "atan": "chlo.atan", "atanh": "chlo.atanh", "sinh": "chlo.sinh", "cosh": "chlo.cosh", "erf": "chlo.erf",
    "erfc": "chlo.erfc", "lgamma": "chlo.lgamma", "digamma": "chlo.digamma",
}  # fmt: skip
ROUNDS, EXACT = ("floor", "ceil", "round"), ("floor", "ceil", "round", "neg")


def plain(name, operation):
    @row(name)
    def function(b, x, *, made):
        x = b.convert(x, made.dtype)
        if name in ROUNDS and not made.dtype.is_floating_point:
            return x
        if name in EXACT:
            return b.unary(operation, x)
        return b.convert(b.unary(operation, b.convert(x, computed(made.dtype))), made.dtype)

    return function


for name, operation in PLAIN.items():
    plain(name, operation)


@row("erfinv")
def erfinv(b, x, *, made):
    return b.unary("chlo.erf_inv", b.convert(x, made.dtype))


def zeta_of(b, x, q):
    """Hurwitz's, in f64. Below 0, where chlo's sum is not known, by steps of 1 up to where it is: zeta(x, q) = q ** -x + zeta(x, q + 1). Poles are
    infinite; what no step reaches is below -1e6."""
    minus = b.unary("negate", x)

    def is_pole(b, z):
        return b.binary("and", b.compare("LE", z, 0), b.compare("EQ", z, b.unary("floor", z)))

    def is_below(b, z):
        return b.select(is_pole(b, z), False, b.binary("and", b.compare("LT", z, 0), b.compare("GT", z, -1e6)))

    def is_left(b, z, total):
        return [b.reduce("or", is_below(b, z), list(range(z.rank)), False)]

    def step(b, z, total):
        below = is_below(b, z)
        return [b.select(below, b.add(z, 1), z), b.select(below, b.add(total, b.binary("power", z, minus)), total)]

    z, total = b.loop([q, b.constant(0, q.dtype, q.shape)], is_left, step)
    y = b.add(b.binary("chlo.zeta", x, z), total)
    return b.select(b.binary("and", is_pole(b, q), b.compare("GT", x, 1)), math.inf, y)


@row("prims.zeta", "special_zeta", "special_zeta.other_scalar", "special_zeta.self_scalar")
def zeta(b, x, q, *, made):
    x, q = b.together(*(b.convert(operand(b, v, made.dtype), torch.float64) for v in (x, q)))
    return b.convert(zeta_of(b, x, q), made.dtype)


@row("polygamma")
def polygamma(b, n, x, *, made):
    x = b.convert(b.convert(x, made.dtype), torch.float64)
    if n == 0:
        return b.convert(b.unary("chlo.digamma", x), made.dtype)
    y = zeta_of(b, b.constant(n + 1, x.dtype, x.shape), x)
    return b.convert(b.multiply(y, (-1) ** (n + 1) * float(math.factorial(n))), made.dtype)


@row("abs")
def absolute(b, x, *, made):
    if x.dtype == torch.bool or x.dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        return x
    return b.op("abs", [x], made.dtype, x.shape)


@row("sign", "sgn")
def sign(b, x, *, made):
    if x.dtype == torch.bool:
        return x
    if x.dtype.is_floating_point:  # PyTorch's of NaN is 0
        return b.select(b.compare("NE", x, x), 0, b.unary("sign", x))
    if x.dtype == torch.uint8:
        return b.convert(b.compare("NE", x, 0), x.dtype)
    return b.unary("sign", x)


@row("signbit")
def signbit(b, x):
    if not x.dtype.is_floating_point:
        return b.compare("LT", x, 0)
    integer = {4: torch.int32, 8: torch.int64, 2: torch.int16}[x.dtype.itemsize]
    return b.compare("LT", b.op("bitcast_convert", [x], integer, x.shape), 0)


@row("copysign.Tensor", "copysign.Scalar")
def copysign(b, x, y, *, made):
    x, y = b.together(b.convert(x, made.dtype), operand(b, y, made.dtype))
    return b.select(b.compare("NE", signbit(b, x), signbit(b, y)), b.unary("negate", x), x)


@row("trunc")
def trunc(b, x):
    if not x.dtype.is_floating_point:
        return x
    return b.select(b.compare("LT", x, 0), b.unary("ceil", x), b.unary("floor", x))


@row("reciprocal")
def reciprocal(b, x, *, made):
    return b.divide(b.constant(1, made.dtype, x.shape), b.convert(x, made.dtype))


def logarithm(name, base):
    @row(name)
    def function(b, x, *, made):
        """What is as near to a whole number as the steps of rounding leave it is that number: programs count with powers of the base."""
        x = b.unary("log", b.convert(b.convert(x, made.dtype), computed(made.dtype)))
        y = b.multiply(x, 1 / math.log(base))
        if y.dtype in PART:
            return y
        whole = b.unary("round_nearest_even", y)
        near = b.compare("LE", b.unary("abs", b.subtract(y, whole)), b.multiply(b.unary("abs", whole), 1.5 * torch.finfo(y.dtype).eps))
        return b.convert(b.select(near, whole, y), made.dtype)


logarithm("log2", 2)
logarithm("log10", 10)


@row("exp2")
def exp2(b, x, *, made):
    x = b.convert(x, made.dtype)
    return b.binary("power", b.constant(2, x.dtype, x.shape), x)


@row("isnan")
def isnan(b, x):
    return b.compare("NE", x, x)


@row("_neg_view")
def negative_view(b, x):
    return b.unary("negate", x)


@row("isinf")
def isinf(b, x):
    if x.dtype in PART:
        return b.binary("or", *(isinf(b, b.op(name, [x], PART[x.dtype], x.shape)) for name in ("real", "imag")))
    if not x.dtype.is_floating_point:
        return b.constant(False, torch.bool, x.shape)
    return b.compare("EQ", b.unary("abs", x), math.inf)


@row("_to_copy", "_to_copy_")
def to_copy(b, x, *, made):
    return b.convert(x, made.dtype)


@row("copy")
def copy(b, x, source, *, made):
    return b.broadcast(operand(b, source, made.dtype), made.shape)


@row("view.dtype")
def view_dtype(b, x, dtype, *, made):
    if x.dtype.itemsize != made.dtype.itemsize:
        raise Unsupported("a view of elements of another size")
    return b.op("bitcast_convert", [x], made.dtype, x.shape)


# ---- two operands ----


def summed(b, operation, x, y, alpha, made):
    """x and alpha * y, which of halves are rounded once, as in eager."""
    x, y = operand(b, x, made.dtype), operand(b, y, made.dtype)
    if alpha == 1:
        return b.binary(operation, x, y)
    x, y, alpha = (b.convert(v, computed(made.dtype)) for v in (x, y, b.constant(alpha, made.dtype)))
    return b.convert(b.binary(operation, x, b.multiply(y, alpha)), made.dtype)


@row("add.Tensor", "add.Scalar")
def add(b, x, y, alpha=1, *, made):
    return summed(b, "add", x, y, alpha, made)


@row("sub.Tensor", "sub.Scalar")
def subtract(b, x, y, alpha=1, *, made):
    return summed(b, "subtract", x, y, alpha, made)


@row("rsub.Scalar", "rsub.Tensor")
def reverse_subtract(b, x, y, alpha=1, *, made):
    return summed(b, "subtract", y, x, alpha, made)


def factored(b, operation, x, y, made):
    """Halves meet factors that are numbers, or tensors of one, in f32, as in eager: they are not rounded first. Terms of sums are."""
    numbers = any(not isinstance(v, Value) or (not v.rank and v.dtype != made.dtype) for v in (x, y))
    dtype = torch.float32 if made.dtype in HALVES and numbers else made.dtype
    x, y = (b.convert(operand(b, v, made.dtype), dtype) if isinstance(v, Value) and v.rank else operand(b, v, dtype) for v in (x, y))
    return b.convert(b.binary(operation, x, y), made.dtype)


@row("mul.Tensor", "mul.Scalar")
def multiply(b, x, y, *, made):
    return factored(b, "multiply", x, y, made)


def floored(b, x, y):
    """x / y rounded down; of integers, what the division rounded towards 0 leaves of another sign takes one more."""
    x, y = b.together(x, y)
    rest = b.binary("remainder", x, y)
    other = b.binary("and", b.compare("NE", rest, 0), b.compare("NE", b.compare("LT", rest, 0), b.compare("LT", y, 0)))
    if not x.dtype.is_floating_point:
        return b.subtract(b.divide(x, y), b.convert(other, x.dtype))
    exact = b.subtract(b.divide(b.subtract(x, rest), y), b.convert(other, x.dtype))
    return b.select(b.compare("EQ", y, 0), b.divide(x, y), b.unary("round_nearest_even", exact))


@row("div.Tensor", "div.Scalar", "true_divide.Tensor")
def divide(b, x, y, *, made):
    return factored(b, "divide", x, y, made)


@row("div.Tensor_mode", "div.Scalar_mode")
def divide_mode(b, x, y, *, rounding_mode=None, made):
    x, y = operand(b, x, made.dtype), operand(b, y, made.dtype)
    if rounding_mode is None:
        return b.divide(x, y)
    if rounding_mode == "floor":
        return floored(b, x, y)
    return trunc(b, b.divide(x, y))


@row("floor_divide")
def floor_divide(b, x, y, *, made):
    return floored(b, operand(b, x, made.dtype), operand(b, y, made.dtype))


def float_remainder(b, x, y):
    """With the sign of y."""
    x, y = b.together(x, y)
    rest = b.binary("remainder", x, y)
    other = b.binary("and", b.compare("NE", rest, 0), b.compare("NE", b.compare("LT", rest, 0), b.compare("LT", y, 0)))
    return b.select(other, b.add(rest, y), rest)


@row("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def remainder(b, x, y, *, made):
    return float_remainder(b, operand(b, x, made.dtype), operand(b, y, made.dtype))


@row("fmod.Tensor", "fmod.Scalar")
def fmod(b, x, y, *, made):
    return b.binary("remainder", operand(b, x, made.dtype), operand(b, y, made.dtype))


def whole_power(b, x, y):
    """Of integers, which wrap: a factor for each bit of y. Below 0 what is left of 1 / x^-y."""
    zero, one = b.constant(0, x.dtype, x.shape), b.constant(1, x.dtype, x.shape)

    def step(b, k, square, rest, product):
        is_odd = b.compare("NE", b.binary("and", rest, 1), 0)
        return [b.multiply(square, square), b.binary("shift_right_logical", rest, 1), b.select(is_odd, b.multiply(product, square), product)]

    product = b.turns(8 * x.dtype.itemsize - 1 + (not x.dtype.is_signed), [x, y, one], step)[2]
    if not x.dtype.is_signed:
        return product
    minus = b.unary("negate", one)
    turned = b.select(b.compare("NE", b.binary("and", y, 1), 0), minus, one)
    below = b.select(b.compare("EQ", x, one), one, b.select(b.compare("EQ", x, minus), turned, zero))
    return b.select(b.compare("LT", y, 0), below, product)


@row("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def power(b, x, y, *, made):
    if not isinstance(y, Value) and isinstance(x, Value) and made.dtype not in PART:
        x = b.convert(x, made.dtype)
        if y == 2:
            return b.multiply(x, x)
        if y == 1:
            return x
        if y == 3:
            return b.multiply(b.multiply(x, x), x)
        if made.dtype.is_floating_point and y == 0.5:
            return b.unary("sqrt", x)
        if made.dtype.is_floating_point and y == -1:
            return b.divide(b.constant(1, x.dtype, x.shape), x)
        if made.dtype.is_floating_point and y == -0.5:
            return b.unary("rsqrt", x)
    x, y = operand(b, x, made.dtype), operand(b, y, made.dtype)
    if made.dtype.is_floating_point or made.dtype in PART:
        return b.binary("power", x, y)
    return whole_power(b, *b.together(x, y))


@row("atan2")
def atan2(b, x, y, *, made):
    return b.binary("atan2", b.convert(x, made.dtype), b.convert(y, made.dtype))


def extreme(name):
    @row(name)
    def function(b, x, y, *, made):
        return b.binary(name, b.convert(x, made.dtype), b.convert(y, made.dtype))


extreme("maximum")
extreme("minimum")


def bits(name, operation):
    @row(f"bitwise_{name}.Tensor", f"bitwise_{name}.Scalar", f"bitwise_{name}.Scalar_Tensor", f"__{name}__.Tensor", f"__{name}__.Scalar")
    def function(b, x, y, *, made):
        return b.binary(operation, operand(b, x, made.dtype), operand(b, y, made.dtype))

    @row(f"logical_{name}")
    def logical(b, x, y):
        return b.binary(operation, b.convert(x, torch.bool), b.convert(y, torch.bool))


for operation in ("and", "or", "xor"):
    bits(operation, operation)


@row("bitwise_not")
def bitwise_not(b, x):
    return b.unary("not", x)


@row("logical_not")
def logical_not(b, x):
    return b.unary("not", b.convert(x, torch.bool))


def shifts(name, short, operation):
    @row(f"{name}.Tensor_Scalar", f"{name}.Tensor", f"{name}.Scalar_Tensor", f"{short}.Scalar", f"{short}.Tensor")
    def function(b, x, y, *, made):
        return b.binary(operation(made.dtype), operand(b, x, made.dtype), operand(b, y, made.dtype))


shifts("bitwise_left_shift", "__lshift__", lambda dtype: "shift_left")
shifts("bitwise_right_shift", "__rshift__", lambda dtype: "shift_right_arithmetic" if dtype.is_signed else "shift_right_logical")


def comparisons(name, direction):
    @row(f"{name}.Tensor", f"{name}.Scalar")
    def function(b, x, y):
        dtype = x.dtype
        if isinstance(y, Value):
            dtype = torch.promote_types(*_promoted(x, y))
        elif isinstance(y, float) and not dtype.is_floating_point and dtype not in PART:
            dtype = torch.get_default_dtype()
        elif isinstance(y, int) and not isinstance(y, bool) and dtype == torch.bool:
            dtype = torch.int64
        return b.compare(direction, b.convert(x, dtype), operand(b, y, dtype))


def _promoted(x, y):
    """Numbers yield to tensors of the same kind."""
    example = [torch.empty([1] * v.rank, dtype=v.dtype, device="meta") if v.rank else torch.empty((), dtype=v.dtype, device="meta") for v in (x, y)]
    dtype = torch.result_type(*example)
    return dtype, dtype


for name, direction in {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}.items():
    comparisons(name, direction)


@row("where.self")
def where(b, condition, x, y, *, made):
    condition = b.convert(condition, torch.bool)
    condition, x, y = b.together(condition, b.convert(x, made.dtype), b.convert(y, made.dtype))
    return b.select(condition, x, y)


@row("prims.fma")
def multiplied_and_added(b, x, y, z, *, made):
    """As steps of optimisers are taken apart, for PyTorch's sake of another device: eager rounds the product, too."""
    x, y, z = (operand(b, v, made.dtype) for v in (x, y, z))
    return b.add(b.multiply(x, y), z)


@row("prims.where")
def prims_where(b, condition, x, y, *, made):
    x, y = operand(b, x, made.dtype), operand(b, y, made.dtype)
    return b.select(*b.together(condition, x, y))


@row("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b, x, mask, value, *, made):
    mask, x = b.together(mask, x)
    return b.select(mask, b.broadcast(operand(b, value, x.dtype), x.shape), x)


def of_numbers(name, operation):
    """The extreme of two, of which NaN is none."""

    @row(name)
    def function(b, x, y, *, made):
        x, y = b.together(b.convert(x, made.dtype), b.convert(y, made.dtype))
        extreme = b.binary(operation, x, y)
        if not made.dtype.is_floating_point:
            return extreme
        return b.select(b.compare("NE", x, x), y, b.select(b.compare("NE", y, y), x, extreme))


of_numbers("fmax", "maximum")
of_numbers("fmin", "minimum")


@row("round.decimals")
def round_decimals(b, x, *, decimals):
    if not x.dtype.is_floating_point:
        return x
    ten = 10.0 ** abs(decimals)
    if decimals >= 0:
        return b.divide(b.unary("round_nearest_even", b.multiply(x, ten)), b.constant(ten, x.dtype, x.shape))
    return b.multiply(b.unary("round_nearest_even", b.divide(x, b.constant(ten, x.dtype, x.shape))), ten)


@row("gcd")
def gcd(b, x, y, *, made):
    """Euclid's way, as often as numbers of the type can need."""
    x, y = b.together(b.convert(x, made.dtype), b.convert(y, made.dtype))
    signed = made.dtype != torch.uint8
    x, y = (b.unary("abs", v) if signed else v for v in (x, y))
    for _ in range({1: 12, 2: 23, 4: 46, 8: 92}[made.dtype.itemsize]):
        zero = b.compare("EQ", y, 0)
        rest = b.binary("remainder", x, b.select(zero, b.constant(1, y.dtype, y.shape), y))
        x, y = b.select(zero, x, y), b.select(zero, y, rest)
    return x


@row("lcm")
def lcm(b, x, y, *, made):
    x, y = b.together(b.convert(x, made.dtype), b.convert(y, made.dtype))
    divisor = b.binary("maximum", gcd(b, x, y, made=made), 1)
    product = b.multiply(b.divide(x, divisor), y)
    return product if made.dtype == torch.uint8 else b.unary("abs", product)


@row("nextafter")
def nextafter(b, x, y, *, made):
    return b.binary("chlo.next_after", *(b.convert(v, made.dtype) for v in (x, y)))


@row("clamp", "clamp.Tensor")
def clamp(b, x, low=None, high=None, *, made):
    x = b.convert(x, made.dtype)
    if low is not None:
        x = b.binary("maximum", x, operand(b, low, made.dtype))
    return x if high is None else b.binary("minimum", x, operand(b, high, made.dtype))


# ---- activations ----


@row("relu")
def relu(b, x):
    return b.binary("maximum", x, 0)


@row("hardtanh")
def hardtanh(b, x, low=-1, high=1):
    return b.binary("minimum", b.binary("maximum", x, low), high)


@row("leaky_relu")
def leaky_relu(b, x, slope=0.01):
    return b.select(b.compare("GT", x, 0), x, b.multiply(x, slope))


@row("elu")
def elu(b, x, alpha=1, scale=1, input_scale=1):
    wide = b.convert(x, computed(x.dtype))
    below = b.multiply(b.unary("exponential_minus_one", b.multiply(wide, input_scale)), alpha * scale)
    return b.convert(b.select(b.compare("GT", wide, 0), b.multiply(wide, scale), below), x.dtype)


@row("gelu")
def gelu(b, x, *, approximate="none"):
    wide = b.convert(x, computed(x.dtype))
    if approximate == "tanh":
        cube = b.multiply(b.multiply(wide, wide), wide)
        inner = b.multiply(b.add(wide, b.multiply(cube, 0.044715)), math.sqrt(2 / math.pi))
        half = b.multiply(b.add(b.unary("tanh", inner), 1), 0.5)
    else:
        half = b.multiply(b.add(b.unary("chlo.erf", b.multiply(wide, math.sqrt(0.5))), 1), 0.5)
    return b.convert(b.multiply(wide, half), x.dtype)


@row("silu")
def silu(b, x):
    wide = b.convert(x, computed(x.dtype))
    return b.convert(b.multiply(wide, b.unary("logistic", wide)), x.dtype)


# ---- complex numbers ----


@row("_conj", "_conj_physical", "conj_physical", "resolve_conj")
def conjugate(b, x):
    if x.dtype not in PART:
        return x
    part = PART[x.dtype]
    real, imaginary = b.op("real", [x], part, x.shape), b.op("imag", [x], part, x.shape)
    return b.op("complex", [real, b.unary("negate", imaginary)], x.dtype, x.shape)


@row("view_as_real")
def view_as_real(b, x):
    part = PART[x.dtype]
    parts = [b.reshape(b.op(name, [x], part, x.shape), x.shape + (1,)) for name in ("real", "imag")]
    return b.concatenate(parts, x.rank)


@row("view_as_complex")
def view_as_complex(b, x, *, made):
    parts = [b.reshape(b.along(x, x.rank - 1, k, k + 1), x.shape[:-1]) for k in (0, 1)]
    return b.op("complex", parts, made.dtype, x.shape[:-1])


@row("complex")
def complex_of(b, x, y, *, made):
    x, y = b.together(x, y)
    return b.op("complex", [x, y], made.dtype, x.shape)


def part_of(name):
    @row(name)
    def function(b, x):
        return x if x.dtype not in PART else b.op(name, [x], PART[x.dtype], x.shape)


part_of("real")
part_of("imag")


@row("angle")
def angle(b, x, *, made):
    if x.dtype in PART:
        part = PART[x.dtype]
        return b.op("atan2", [b.op("imag", [x], part, x.shape), b.op("real", [x], part, x.shape)], part, x.shape)
    x = b.convert(x, made.dtype)
    turned = b.select(b.compare("LT", x, 0), math.pi, b.constant(0, x.dtype, x.shape))
    return b.select(b.compare("NE", x, x), x, turned)
