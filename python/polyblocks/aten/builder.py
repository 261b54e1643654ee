"""StableHLO as generic text, an operation at a time; the rows of the table are written with this."""

import struct

import torch

ELEMENTS = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2: "f8E5M2",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
    torch.bool: "i1",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}
BITS = {torch.float32: ("<f", "<I"), torch.float64: ("<d", "<Q")}
HALVES = (torch.float16, torch.bfloat16)
SMALL = (torch.float8_e4m3fn, torch.float8_e5m2)
PART = {torch.complex64: torch.float32, torch.complex128: torch.float64}
WHOLE = {part: whole for whole, part in PART.items()}


class Unsupported(Exception):
    """What a row cannot say in StableHLO."""


class Value:
    """A tensor of the module: its name there, PyTorch's type, its shape; of a matrix that is an input with its dims turned: that input."""

    __slots__ = ("name", "dtype", "shape", "turned")

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape, self.turned = name, dtype, tuple(shape), None

    @property
    def rank(self):
        return len(self.shape)

    @property
    def type(self):
        return type_text(self.dtype, self.shape)


def type_text(dtype, shape):
    if dtype not in ELEMENTS:
        raise Unsupported(f"tensors of {str(dtype).removeprefix('torch.')}")
    return f"tensor<{''.join(f'{n}x' for n in shape)}{ELEMENTS[dtype]}>"


def number_text(number, dtype):
    """A number as a constant has it: of floats the bits, so that none is lost."""
    if dtype in PART:
        number = complex(number)
        return f"({number_text(number.real, PART[dtype])}, {number_text(number.imag, PART[dtype])})"
    if dtype == torch.bool:
        return "true" if number else "false"
    if not dtype.is_floating_point:
        return str(int(number))
    if dtype in HALVES:
        bits = torch.tensor(float(number), dtype=dtype).view(torch.int16).item() & 0xFFFF
        return f"0x{bits:04X}"
    if dtype in SMALL:
        return f"0x{torch.tensor(float(number), dtype=dtype).view(torch.uint8).item():02X}"
    value = torch.tensor(float(number), dtype=dtype).item()
    floats, integers = BITS[dtype]
    bits = struct.unpack(integers, struct.pack(floats, value))[0]
    return f"0x{bits:0{2 * struct.calcsize(floats)}X}"


def ints(name, values):
    values = list(values)
    return f"{name} = array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def pairs(name, values):
    """Low and high by dim, as a tensor."""
    values = [list(pair) for pair in values]
    text = f"[{', '.join(f'[{a}, {b}]' for a, b in values)}]" if values else ""
    return f"{name} = dense<{text}> : tensor<{len(values)}x2xi64>"


class Builder:
    """Lines of a module's @main. `source` is the line of Python that what is written comes from; `may_loop` says whether the target
    runs loops whose turns read and write at their numbers."""

    def __init__(self, may_loop=None):
        self.may_loop = may_loop or (lambda: True)
        self.lines, self.sources, self.count = [], [], 0
        self.inputs, self.source = [], None
        self.known = {}  # constants that are there
        self.random = []  # inputs that are drawn at each call

    def name(self):
        self.count += 1
        return f"%{self.count}"

    def line(self, text):
        self.lines.append(text)
        self.sources.append(self.source)

    def input(self, dtype, shape):
        value = Value(self.name(), dtype, tuple(shape))
        self.inputs.append(value)
        return value

    def ops(self, name, operands, types, attributes="", regions=""):
        """An operation of several results."""
        made = self.name()
        results = [Value(made if len(types) == 1 else f"{made}#{k}", dtype, tuple(shape)) for k, (dtype, shape) in enumerate(types)]
        said = f" <{{{attributes}}}>" if attributes else ""
        kinds = [value.type for value in results]
        head = f"{made}{f':{len(types)}' if len(types) > 1 else ''} = \"{name}\"({', '.join(v.name for v in operands)}){said}{regions}"
        self.line(f"    {head} : ({', '.join(v.type for v in operands)}) -> {kinds[0] if len(kinds) == 1 else '(' + ', '.join(kinds) + ')'}")
        return results

    def op(self, name, operands, dtype, shape, attributes="", regions=""):
        return self.ops(name if "." in name else f"stablehlo.{name}", operands, [(dtype, shape)], attributes, regions)[0]

    def module(self, outputs):
        """The text, and for each of its lines the line of Python."""
        arguments = ", ".join(f"{v.name}: {v.type}" for v in self.inputs)
        kinds, ends = ", ".join(v.type for v in outputs), ", ".join(v.name for v in outputs)
        types = f"({', '.join(v.type for v in self.inputs)}) -> ({kinds})"
        head = ['"builtin.module"() ({', f'  "func.func"() <{{function_type = {types}, sym_name = "main"}}> ({{', f"  ^bb0({arguments}):"]
        tail = [f'    "func.return"({ends}) : ({kinds}) -> ()', "  }) : () -> ()", "}) : () -> ()", ""]
        return "\n".join(head + self.lines + tail), [None] * len(head) + self.sources + [None] * len(tail)

    # ---- values ----

    def constant(self, number, dtype, shape=()):
        key = (number_text(number, dtype), dtype)
        if key not in self.known:
            text = f"value = dense<{key[0]}> : {type_text(dtype, ())}"
            self.known[key] = self.op("constant", [], dtype, (), text)
        return self.broadcast(self.known[key], shape, ())

    def table(self, numbers, dtype, shape):
        """A small constant of numbers, row-major."""
        texts = [number_text(n, dtype) for n in numbers]

        def nested(texts, shape):
            if not shape:
                return texts[0]
            step = len(texts) // shape[0] if shape[0] else 0
            return "[" + ", ".join(nested(texts[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])) + "]"

        said = nested(texts, tuple(shape)) if texts else ""
        return self.op("constant", [], dtype, shape, f"value = dense<{said}> : {type_text(dtype, shape)}")

    def convert(self, x, dtype):
        if x.dtype == dtype:
            return x
        if dtype == torch.bool and x.dtype != torch.bool:
            return self.compare("NE", x, self.constant(0, x.dtype, x.shape))
        if x.dtype in PART and dtype not in PART:
            return self.convert(self.op("real", [x], PART[x.dtype], x.shape), dtype)
        if dtype in PART and x.dtype not in PART:
            part = self.convert(x, PART[dtype])
            return self.op("complex", [part, self.constant(0, part.dtype, part.shape)], dtype, x.shape)
        if x.dtype.is_floating_point and dtype in (torch.uint8, torch.int8, torch.int16):  # by way of a wider one, as PyTorch wraps
            x = self.op("convert", [x], torch.int64, x.shape)
        if dtype == torch.float8_e4m3fn:  # what is too large is the largest
            x = x if x.dtype.is_floating_point else self.op("convert", [x], torch.float32, x.shape)
            x = self.binary("minimum", self.binary("maximum", x, -448), 448)
        return self.op("convert", [x], dtype, x.shape)

    def broadcast(self, x, shape, dims=None):
        """x along `dims` of the shape: by default its last ones. Extents of 1 are repeated."""
        shape = tuple(shape)
        dims = tuple(range(len(shape) - x.rank, len(shape))) if dims is None else tuple(dims)
        if x.shape == shape and dims == tuple(range(len(shape))):
            return x
        return self.op("broadcast_in_dim", [x], x.dtype, shape, ints("broadcast_dimensions", dims))

    def together(self, *values):
        """Of one shape, by PyTorch's rules of broadcasting."""
        shape = torch.broadcast_shapes(*(v.shape for v in values))
        return [self.broadcast(v, shape) for v in values]

    def reshape(self, x, shape):
        return x if x.shape == tuple(shape) else self.op("reshape", [x], x.dtype, shape)

    def transpose(self, x, order):
        order = tuple(order)
        if order == tuple(range(x.rank)):
            return x
        made = self.op("transpose", [x], x.dtype, [x.shape[d] for d in order], ints("permutation", order))
        if x.rank == 2 and any(x is value for value in self.inputs):
            made.turned = x
        return made

    def slice(self, x, starts, ends, steps=None):
        steps = list(steps or [1] * x.rank)
        if all(s == 0 for s in starts) and tuple(ends) == x.shape and all(s == 1 for s in steps):
            return x
        shape = [max(0, -(-(e - s) // step)) for s, e, step in zip(starts, ends, steps)]
        said = f"{ints('limit_indices', ends)}, {ints('start_indices', starts)}, {ints('strides', steps)}"
        return self.op("slice", [x], x.dtype, shape, said)

    def along(self, x, dim, start, end, step=1):
        """A part of x along one dim."""
        starts, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
        starts[dim], ends[dim], steps[dim] = start, end, step
        return self.slice(x, starts, ends, steps)

    def concatenate(self, values, dim):
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[dim] = sum(v.shape[dim] for v in values)
        return self.op("concatenate", values, values[0].dtype, shape, f"dimension = {dim} : i64")

    def pad(self, x, low, high, number=0, inner=None):
        inner = list(inner or [0] * x.rank)
        if not any(low) and not any(high) and not any(inner):
            return x
        shape = [a + n + max(0, n - 1) * i + b for a, n, i, b in zip(low, x.shape, inner, high)]
        said = f"{ints('edge_padding_high', high)}, {ints('edge_padding_low', low)}, {ints('interior_padding', inner)}"
        return self.op("pad", [x, self.constant(number, x.dtype)], x.dtype, shape, said)

    def iota(self, shape, dim, dtype=torch.int64):
        return self.op("iota", [], dtype, shape, f"iota_dimension = {dim} : i64")

    def reverse(self, x, dims):
        return self.op("reverse", [x], x.dtype, x.shape, ints("dimensions", dims)) if dims else x

    # ---- elements ----

    def unary(self, name, x):
        return self.op(name, [x], x.dtype, x.shape)

    def binary(self, name, x, y):
        """Of two values of one type, or a value and a number."""
        y = y if isinstance(y, Value) else self.constant(y, x.dtype)
        x = x if isinstance(x, Value) else self.constant(x, y.dtype)
        x, y = self.together(x, y)
        return self.op(name, [x, y], x.dtype, x.shape)

    def add(self, x, y):
        return self.binary("add", x, y)

    def subtract(self, x, y):
        return self.binary("subtract", x, y)

    def multiply(self, x, y):
        return self.binary("multiply", x, y)

    def divide(self, x, y):
        return self.binary("divide", x, y)

    def compare(self, direction, x, y):
        y = y if isinstance(y, Value) else self.constant(y, x.dtype)
        x, y = self.together(x, y)
        if x.dtype.is_floating_point or x.dtype in PART:
            kind = "FLOAT"
        else:
            kind = "UNSIGNED" if ELEMENTS[x.dtype].startswith("ui") or x.dtype == torch.bool else "SIGNED"
        said = f"compare_type = #stablehlo<comparison_type {kind}>, comparison_direction = #stablehlo<comparison_direction {direction}>"
        return self.op("compare", [x, y], torch.bool, x.shape, said)

    def select(self, condition, x, y):
        x = x if isinstance(x, Value) else self.constant(x, y.dtype)
        y = y if isinstance(y, Value) else self.constant(y, x.dtype)
        condition, x, y = self.together(condition, x, y)
        return self.op("select", [condition, x, y], x.dtype, x.shape)

    # ---- operations with bodies ----

    def region(self, arguments, write):
        """`write` has its arguments, of (type, shape), as values and returns the values that it ends with."""
        inner = Builder.__new__(Builder)
        inner.__dict__.update(self.__dict__, lines=[], sources=[], known={})
        values = [Value(self.name(), dtype, shape) for dtype, shape in arguments]
        inner.count = self.count
        ends = write(inner, *values)
        ends = ends if isinstance(ends, list) else [ends]
        self.count = inner.count
        text = " ".join(line.strip() for line in inner.lines)
        heads = ", ".join(f"{v.name}: {v.type}" for v in values)
        kinds = ", ".join(v.type for v in ends)
        head = f"^bb0({heads}): " if values else ""
        return f'{{ {head}{text} "stablehlo.return"({", ".join(v.name for v in ends)}) : ({kinds}) -> () }}'

    def body(self, arguments, write):
        """A region of numbers, alone."""
        return f" ({self.region([(dtype, ()) for dtype in arguments], write)})"

    def combiner(self, name, dtype):
        return self.body([dtype, dtype], lambda b, x, y: b.binary(name, x, y))

    def choose(self, condition, types, write_true, write_false):
        """The values of one of two regions, of (type, shape)."""
        regions = ", ".join(self.region([], write) for write in (write_true, write_false))
        return self.ops("stablehlo.if", [condition], types, regions=f" ({regions})")

    def loop(self, first, condition, step):
        """Values after as many steps as the condition holds; both are written with the values."""
        types = [(v.dtype, v.shape) for v in first]
        return self.ops("stablehlo.while", first, types, regions=f" ({self.region(types, condition)}, {self.region(types, step)})")

    def turns(self, count, first, step):
        """Values after `count` steps, which are written with the number of the step (i64) and the values."""
        return self.loop([self.constant(0, torch.int64), *first], lambda b, k, *_: b.compare("LT", k, b.constant(count, k.dtype)),
                         lambda b, k, *values: [b.add(k, 1), *step(b, k, *values)])[1:]  # fmt: skip

    def part(self, x, starts, sizes):
        """A part of x that begins where numbers of one element say (None: at 0)."""
        places = [self.constant(0, torch.int64) if start is None else start for start in starts]
        return self.op("dynamic_slice", [x, *places], x.dtype, sizes, ints("slice_sizes", sizes))

    def put(self, x, y, starts):
        """x with y in place of the part of it that begins there."""
        places = [self.constant(0, torch.int64) if start is None else start for start in starts]
        return self.op("dynamic_update_slice", [x, y, *places], x.dtype, x.shape)

    def reduce(self, name, x, dims, first):
        """By one operation over dims, which go."""
        shape = [n for d, n in enumerate(x.shape) if d not in dims]
        if not dims:
            return x
        region = self.combiner(name, x.dtype)
        return self.op("reduce", [x, self.constant(first, x.dtype)], x.dtype, shape, ints("dimensions", sorted(dims)), region)

    def window(self, name, x, size, first, stride=None, padding=None, dilation=None, base=None):
        """By one operation over windows; each list has an item for each dim of x."""
        ones = [1] * x.rank
        stride, dilation, base, padding = stride or ones, dilation or ones, base or ones, padding or [(0, 0)] * x.rank
        spans = [(s - 1) * d + 1 for s, d in zip(size, dilation)]
        grown = [(n - 1) * g + 1 + sum(p) if n else sum(p) for n, g, p in zip(x.shape, base, padding)]
        shape = [(n - span) // s + 1 for n, span, s in zip(grown, spans, stride)]
        said = [ints("base_dilations", base), pairs("padding", padding), ints("window_dilations", dilation)]
        said += [ints("window_dimensions", size), ints("window_strides", stride)]
        region = self.combiner(name, x.dtype)
        return self.op("reduce_window", [x, self.constant(first, x.dtype)], x.dtype, shape, ", ".join(said), region)

    def dot(self, x, y, contract, batch=((), ())):
        """A product over dims of x and y; batch dims come first, then what is left of x, then of y. Weights that are turned, as x @ w.T and
        addmm have them, are read as they lie: a large one would be turned in each call."""
        if y.turned is not None and len(contract[1]) == 1:
            y, contract = y.turned, (contract[0], (1 - contract[1][0],))
        left = [n for d, n in enumerate(x.shape) if d not in contract[0] and d not in batch[0]]
        right = [n for d, n in enumerate(y.shape) if d not in contract[1] and d not in batch[1]]
        shape = [x.shape[d] for d in batch[0]] + left + right
        lists = zip(("lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions"),
                    (*batch, *contract))
        said = ", ".join(f"{name} = {list(dims)}" for name, dims in lists if dims)
        return self.op("dot_general", [x, y], x.dtype, shape, f"dot_dimension_numbers = #stablehlo.dot<{said}>")

    def gather(self, x, indices, offset, collapsed, index_map, sizes):
        """Windows of x at the places that the last dim of `indices` has."""
        lists = {"offset_dims": offset, "collapsed_slice_dims": collapsed, "start_index_map": index_map}
        said = ", ".join(f"{name} = {list(dims)}" for name, dims in lists.items() if dims)
        numbers = f"dimension_numbers = #stablehlo.gather<{said}, index_vector_dim = {indices.rank - 1}>"
        outer, inner = iter(indices.shape[:-1]), iter(n for d, n in enumerate(sizes) if d not in collapsed)
        rank = indices.rank - 1 + len(offset)
        shape = [next(inner) if d in offset else next(outer) for d in range(rank)]
        return self.op("gather", [x, indices], x.dtype, shape, f"{numbers}, indices_are_sorted = false, {ints('slice_sizes', sizes)}")

    def scatter(self, x, indices, updates, window, inserted, index_map, region):
        lists = {"update_window_dims": window, "inserted_window_dims": inserted, "scatter_dims_to_operand_dims": index_map}
        said = ", ".join(f"{name} = {list(dims)}" for name, dims in lists.items() if dims)
        numbers = f"scatter_dimension_numbers = #stablehlo.scatter<{said}, index_vector_dim = {indices.rank - 1}>"
        said = f"indices_are_sorted = false, {numbers}, unique_indices = false"
        return self.op("scatter", [x, indices, updates], x.dtype, x.shape, said, region)
