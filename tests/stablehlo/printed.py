"""Texts as JAX prints them: CHLO's operators, constants of truths in hexadecimal, tensors of no elements, what Shardy says of
several devices. Against NumPy.

    tests/stablehlo/printed.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "programs"), str(Path(__file__).parents[1] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench, text_of  # noqa: E402
from written_out import ELEMENTS, computed, drawn, kind_of  # noqa: E402

ELEMENTS |= {"float16": "f16", "bool": "i1", "int16": "i16", "uint8": "ui8"}
EDGES = np.array([0, -0.0, 1.5, -2, np.inf, -np.inf, np.nan, 3e4])


def agrees(bench, what, made, expected):
    good = made.shape == expected.shape and made.dtype == expected.dtype and np.array_equal(made, expected, equal_nan=expected.dtype.kind in "fc")
    bench.say(good, what if good else f"{what}: {made!r} instead of {expected!r}")


def operators(bench, rng):
    for dtype in "float16", "float32", "float64", "int8", "int32", "int64", "uint8", "complex64", "complex128":
        x = drawn(rng, (3, 5), dtype) if np.dtype(dtype).kind in "fc" else rng.integers(-100 if dtype[0] == "i" else 0, 100, (3, 5)).astype(dtype)
        made, expected = computed(bench, "chlo.square", "", [x], x), x * x
        away = np.abs(made - expected).max() <= 1e-6 * np.abs(expected).max() if expected.dtype.kind == "c" else np.array_equal(made, expected)
        bench.say(away, f"square of {dtype}")
    for dtype in "float16", "float32", "float64":
        x = EDGES.astype(dtype)
        for name, function in ("is_inf", np.isinf), ("is_pos_inf", np.isposinf), ("is_neg_inf", np.isneginf):
            agrees(bench, f"{name} of {dtype}", computed(bench, f"chlo.{name}", "", [x], function(x)), function(x))
    x = drawn(rng, (2, 3), "complex64")
    agrees(bench, "conj of complex", computed(bench, "chlo.conj", "", [x], x), x.conj())
    agrees(bench, "conj of floats", computed(bench, "chlo.conj", "", [x.real.copy()], x.real), x.real)
    like = "<{value = dense<2.5> : tensor<f32>}>"
    agrees(bench, "constant_like", computed(bench, "chlo.constant_like", like, [x.real.copy()], x.real), np.full((2, 3), 2.5, np.float32))
    text = text_of(["tensor<2xf32>"], ['%c = "chlo.constant"() <{value = dense<[1.0, -2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>',
                                       '%r = "stablehlo.add"(%a0, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>'], "tensor<2xf32>")
    agrees(bench, "constant", bench.run(text, np.float32([3, 3])), np.float32([4, 1]))
    row = text_of(["tensor<2x3xf32>"], ['%z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>',
                                        '%r = "stablehlo.reduce"(%a0, %z) <{dimensions = array<i64: 1>}> ({', "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
                                        '%s = "chlo.square"(%q) : (tensor<f32>) -> tensor<f32>', '%t = "stablehlo.add"(%p, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
                                        '"stablehlo.return"(%t) : (tensor<f32>) -> ()', '}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>'], "tensor<2xf32>")
    agrees(bench, "square in a body", bench.run(row, np.float32([[1, 2, 3], [4, 5, 6]])), np.float32([14, 77]))


def broadcasts(bench, rng):
    a, b = drawn(rng, (2, 1, 5), "float32"), drawn(rng, (3, 1), "float32")
    i, k = rng.integers(-50, 50, (4, 3)).astype(np.int32), rng.integers(1, 9, 3).astype(np.int32)
    for name, function, x, y in ("add", np.add, a, b), ("subtract", np.subtract, a, b), ("multiply", np.multiply, a, b), ("divide", np.divide, a, b), \
            ("maximum", np.maximum, a, b), ("minimum", np.minimum, a, b), ("next_after", np.nextafter, a, b), ("and", np.bitwise_and, i, k), \
            ("or", np.bitwise_or, i, k), ("xor", np.bitwise_xor, i, k), ("remainder", np.fmod, i, k), ("shift_left", np.left_shift, i, k), \
            ("shift_right_arithmetic", np.right_shift, i, k), ("complex", lambda x, y: x + np.complex64(1j) * y, b, b):
        agrees(bench, f"broadcast_{name}", computed(bench, f"chlo.broadcast_{name}", "", [x, y], function(x, y)), function(x, y))
    for name, function in ("power", np.power), ("atan2", np.arctan2):
        x, expected = abs(a), function(abs(a), b)
        made = computed(bench, f"chlo.broadcast_{name}", "", [x, b], expected)
        bench.say(np.allclose(made, expected, rtol=1e-5, atol=1e-6), f"broadcast_{name}")
    for name in "zeta", "polygamma":
        x, q = np.array([[1, 2], [3, 4]], np.float32), np.array([2.5, 0.5], np.float32)
        made = computed(bench, f"chlo.broadcast_{name}", "", [x, q], x)
        bench.say(np.array_equal(made, computed(bench, f"chlo.{name}", "", [x, np.broadcast_to(q, (2, 2)).copy()], x)), f"broadcast_{name}")
    z = drawn(rng, (2, 1), "complex64")
    agrees(bench, "broadcast_add of complex numbers", computed(bench, "chlo.broadcast_add", "", [z, z[0].copy()], z + z[0]), z + z[0])
    along = "<{broadcast_dimensions = array<i64: 1>}>"
    agrees(bench, "along the last dim", computed(bench, "chlo.broadcast_add", along, [i, k], i + k), i + k)
    less = "<{comparison_direction = #stablehlo<comparison_direction LT>}>"
    agrees(bench, "broadcast_compare", computed(bench, "chlo.broadcast_compare", less, [i, k], i < k), i < k)
    agrees(bench, "broadcast_select", computed(bench, "chlo.broadcast_select", "", [i > 0, i, k], i), np.where(i > 0, i, k))
    shapes = ["tensor<4x3xi32>", "tensor<4xi32>"]
    bench.refuses("along another dim", text_of(shapes, [f'%r = "chlo.broadcast_add"(%a0, %a1) <{{broadcast_dimensions = array<i64: 0>}}> : ({", ".join(shapes)}) -> {shapes[0]}'],
                                               shapes[0]), "chlo.broadcast_add", "PB2110")
    bench.refuses("a result that is too small", text_of(shapes[:1], [f'%r = "chlo.broadcast_add"(%a0, %a0) : ({shapes[0]}, {shapes[0]}) -> tensor<2x3xi32>'], "tensor<2x3xi32>"),
                  "operands of different shapes", "PB2110")


def truths(bench, rng):
    """A byte for each, as some MLIR prints them, or a bit."""
    for shape in (1,), (2,), (7,), (8,), (9,), (3, 5), (32, 24), (2, 1, 3, 65):
        values = rng.random(shape) < 0.5
        x = np.arange(values.size, dtype=np.int32).reshape(shape)
        forms = {"a byte each": values.astype(np.uint8).tobytes(), "a bit each": np.packbits(values, bitorder="little").tobytes()}
        for what, data in forms.items():
            kind = kind_of(values)
            text = text_of([kind_of(x)], [f'%c = "stablehlo.constant"() <{{value = dense<"0x{data.hex()}"> : {kind}}}> : () -> {kind}',
                                          f'%r = "stablehlo.select"(%c, %a0, %m) : ({kind}, {kind_of(x)}, {kind_of(x)}) -> {kind_of(x)}'], kind_of(x))
            text = text.replace("%c = ", f'%m = "stablehlo.negate"(%a0) : ({kind_of(x)}) -> {kind_of(x)}\n    %c = ')
            agrees(bench, f"{shape} truths, {what}", bench.run(text, x), np.where(values, x, -x))
    for what, data in ("of neither size", "010001"), ("that are none", "01020001"), ("that are no digits", "0g010001"):
        bench.refuses(f"truths {what}", text_of([], [f'%r = "stablehlo.constant"() <{{value = dense<"0x{data}"> : tensor<4xi1>}}> : () -> tensor<4xi1>'], "tensor<4xi1>"),
                      "PB2001", ":3:" if "digits" not in what else "error")


def ragged(bench, rng):
    """Products by groups of rows, and of what is summed over; rows that no group has are 0."""
    dims = "<{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{}lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{}], lhs_ragged_dimensions = [{}], rhs_group_dimensions = [{}]>}}>"
    for sizes in [2, 0, 5], [3, 3, 3], [0, 0, 0], [9]:
        groups, ends = np.array(sizes, np.int32), np.cumsum([0, *sizes])
        x, z = rng.standard_normal((9, 4)).astype(np.float32), rng.standard_normal((4, len(sizes), 5)).astype(np.float32)
        wanted = np.zeros((9, 5), np.float32)
        for k, (a, b) in enumerate(zip(ends, ends[1:])):
            wanted[a:b] = x[a:b] @ z[:, k]
        made = computed(bench, "chlo.ragged_dot", dims.format("", 1, 0, 0, 1), [x, z, groups], wanted)
        bench.say(np.allclose(made, wanted, atol=1e-5), f"ragged_dot of rows {sizes}")
        x, z = rng.standard_normal((3, 9)).astype(np.float32), rng.standard_normal((9, 5)).astype(np.float32)
        z[ends[-1]:] = np.nan  # what no group has counts nowhere
        wanted = np.stack([x[:, a:b] @ z[a:b] for a, b in zip(ends, ends[1:])]).astype(np.float32)
        made = computed(bench, "chlo.ragged_dot", dims.format("", 1, 0, 1, ""), [x, z, groups], wanted)
        bench.say(np.allclose(made, wanted, atol=1e-5), f"ragged_dot of sums {sizes}")
    shapes, result = ["tensor<3x9x4xf32>", "tensor<3x4x5xf32>", "tensor<2xi32>"], "tensor<3x9x5xf32>"
    for what, said, words in (("of batches", dims.format("lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], ", 2, 1, 1, ""), "of batches"),
                              ("without a ragged dim", dims.format("", 2, 1, "", ""), "dims that do not fit"), ("of dims that are not there", dims.format("", 7, 1, 0, 0), "dims that do not fit")):
        bench.refuses(f"ragged_dot {what}", text_of(shapes, [f'%r = "chlo.ragged_dot"(%a0, %a1, %a2) {said} : ({", ".join(shapes)}) -> {result}'], result), words, "PB2110")


def carried_empties(bench):
    """Tensors of no elements beside others, into branches and loops and out of them, short ones and the host's; sorted ones."""
    e, f, pair = "tensor<2x0xf32>", "tensor<3xf32>", "(tensor<2x0xf32>, tensor<3xf32>)"
    x, none = np.float32([1, 2, 3]), np.zeros((2, 0), np.float32)
    more = ' '.join(f'%y{k + 1} = "stablehlo.add"(%y{k}, %y{k}) : ({f}, {f}) -> {f}' for k in range(30))
    for name, kind, truth, turned in ("if", "i1", True, -1), ("if", "i1", False, 1), ("case", "i32", 0, -1), ("case", "i32", 1, 1):
        for what, steps, last in ("short", "", 0), ("long", more, 30):
            lines = [f'%b:2 = "stablehlo.{name}"(%a0) ({{', f'%p = "stablehlo.negate"(%a1) : ({e}) -> {e}', f'%y0 = "stablehlo.negate"(%a2) : ({f}) -> {f}', steps,
                     f'"stablehlo.return"(%p, %y{last}) : {pair} -> ()', "}, {", f'"stablehlo.return"(%a1, %a2) : {pair} -> ()', f'}}) : (tensor<{kind}>) -> {pair}',
                     f'%q = "stablehlo.pad"(%b#0, %z) <{{edge_padding_high = array<i64: 0, 3>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}}> : ({e}, tensor<f32>) -> tensor<2x3xf32>',
                     f'%s = "stablehlo.slice"(%q) <{{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 3>, strides = array<i64: 1, 1>}}> : (tensor<2x3xf32>) -> tensor<1x3xf32>',
                     f'%t = "stablehlo.reshape"(%s) : (tensor<1x3xf32>) -> {f}', f'%r = "stablehlo.add"(%t, %b#1) : ({f}, {f}) -> {f}']
            lines.insert(0, '%z = "stablehlo.constant"() <{value = dense<8.0> : tensor<f32>}> : () -> tensor<f32>')
            scale = turned * 2.0**last if turned < 0 else 1
            made = bench.run(text_of([f"tensor<{kind}>", e, f], lines, f), np.array(truth, bool if kind == "i1" else np.int32), none, x)
            agrees(bench, f"{name} {truth} with none, {what}", made, np.float32(8 + scale * x))
    for turns, what in ("%a0", "that data end"), ("%n", "that a constant ends"):
        lines = ['%o = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>', '%n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>',
                 '%z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>', f'%w:3 = "stablehlo.while"({turns}, %a1, %a2) ({{',
                 f"^bb0(%i: tensor<i32>, %p: {e}, %q: {f}):", '%c = "stablehlo.compare"(%i, %z) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>',
                 '"stablehlo.return"(%c) : (tensor<i1>) -> ()', "}, {", f"^bb0(%i: tensor<i32>, %p: {e}, %q: {f}):", '%j = "stablehlo.subtract"(%i, %o) : (tensor<i32>, tensor<i32>) -> tensor<i32>',
                 f'%g = "stablehlo.negate"(%p) : ({e}) -> {e}', f'%h = "stablehlo.add"(%q, %q) : ({f}, {f}) -> {f}', f'"stablehlo.return"(%j, %g, %h) : (tensor<i32>, {e}, {f}) -> ()',
                 f"}}) : (tensor<i32>, {e}, {f}) -> (tensor<i32>, {e}, {f})", f'%r = "stablehlo.negate"(%w#2) : ({f}) -> {f}']
        agrees(bench, f"while {what} with none", bench.run(text_of(["tensor<i32>", e, f], lines, f), np.array(3, np.int32), none, x), -8 * x)
    for shape, axis in ((0,), 0), ((2, 0), 0), ((0, 3), 1):
        kind = kind_of(np.zeros(shape, np.float32))
        lines = [f'%r = "stablehlo.sort"(%a0) <{{dimension = {axis} : i64, is_stable = true}}> ({{', "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
                 '%l = "stablehlo.compare"(%p, %q) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>',
                 '"stablehlo.return"(%l) : (tensor<i1>) -> ()', f"}}) : ({kind}) -> {kind}"]
        agrees(bench, f"sort of {kind}", bench.run(text_of([kind], lines, kind), np.zeros(shape, np.float32)), np.zeros(shape, np.float32))


def many(bench, rng):
    """As many rows put together as a loop that is written out has turns, the last one first."""
    x = rng.integers(-99, 99, (200, 3)).astype(np.int32)
    row = "tensor<1x3xi32>"
    lines = [f'%n{k} = "stablehlo.slice"(%a0) <{{start_indices = array<i64: {k}, 0>, limit_indices = array<i64: {k + 1}, 3>, strides = array<i64: 1, 1>}}> : ({kind_of(x)}) -> {row}'
             for k in range(200)]
    names, kinds = ", ".join(f"%n{k}" for k in reversed(range(200))), ", ".join([row] * 200)
    lines.append(f'%r = "stablehlo.concatenate"({names}) <{{dimension = 0 : i64}}> : ({kinds}) -> {kind_of(x)}')
    agrees(bench, "200 rows put together", bench.run(text_of([kind_of(x)], lines, kind_of(x)), x), x[::-1])


def empties(bench, rng):
    """Tensors of no elements, of up to six dims, and what has some without reading any of theirs."""
    x = np.int32([5, 7, 9])
    for rank in range(1, 7):
        for axis in range(rank):
            shape = [2 + r % 2 for r in range(rank)]
            full = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
            none = np.zeros([0 if r == axis else n for r, n in enumerate(shape)], np.int32)
            lines = [f'%n = "stablehlo.constant"() <{{value = dense<> : {kind_of(none)}}}> : () -> {kind_of(none)}',
                     f'%m = "stablehlo.negate"(%n) : ({kind_of(none)}) -> {kind_of(none)}',
                     f'%r = "stablehlo.concatenate"(%a0, %m) <{{dimension = {axis} : i64}}> : ({kind_of(full)}, {kind_of(none)}) -> {kind_of(full)}']
            agrees(bench, f"concatenate with none along {axis} of {rank}", bench.run(text_of([kind_of(full)], lines, kind_of(full)), full), full)
    zero = '%z = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>'
    for shape, axis in ((2, 0, 1), 1), ((14, 15, 0, 17), 2), ((2, 0, 3, 1, 2), 1), ((0,), 0), ((0, 3), 0), ((3, 0, 2, 0, 2), 1):
        none, left = kind_of(np.zeros(shape, np.int32)), np.zeros([n for r, n in enumerate(shape) if r != axis], np.int32)
        slices = '%n = "stablehlo.broadcast_in_dim"(%z) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> ' + none
        lines = [zero, slices, f'%t = "stablehlo.reduce"(%n, %z) <{{dimensions = array<i64: {axis}>}}> ({{', "^bb0(%p: tensor<i32>, %q: tensor<i32>):",
                 '%s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>', '"stablehlo.return"(%s) : (tensor<i32>) -> ()',
                 f"}}) : ({none}, tensor<i32>) -> {kind_of(left)}"]
        if left.size:
            agrees(bench, f"reduce of {none}", bench.run(text_of(["tensor<3xi32>"], [*lines, f'%r = "stablehlo.negate"(%t) : ({kind_of(left)}) -> {kind_of(left)}'], kind_of(left)), x),
                   left - 4)
        edges = [3 if not n else 0 for n in shape]
        padded = np.full([n + e for n, e in zip(shape, edges)], 4, np.int32)
        lists = ", ".join(f"{name} = array<i64: {', '.join(map(str, v))}>" for name, v in (("edge_padding_high", edges), ("edge_padding_low", [0] * len(shape)),
                                                                                     ("interior_padding", [0] * len(shape))))
        agrees(bench, f"pad of {none}", bench.run(text_of(["tensor<3xi32>"], [zero, slices, f'%r = "stablehlo.pad"(%n, %z) <{{{lists}}}> : ({none}, tensor<i32>) -> {kind_of(padded)}'],
                                                          kind_of(padded)), x), padded)
    none = "tensor<2x0xf32>"
    lines = [f'%n = "stablehlo.constant"() <{{value = dense<> : {none}}}> : () -> {none}', '%o = "stablehlo.constant"() <{value = dense<> : tensor<0x3xf32>}> : () -> tensor<0x3xf32>',
             '%r = "stablehlo.dot_general"(%n, %o) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : '
             f'({none}, tensor<0x3xf32>) -> tensor<2x3xf32>']
    agrees(bench, "a product of nothing", bench.run(text_of(["tensor<3xi32>"], lines, "tensor<2x3xf32>"), x), np.zeros((2, 3), np.float32))
    carried_empties(bench)
    for shape in (0,), (2, 0, 1), (14, 15, 0, 17), (2, 0, 3, 1, 2):
        for dtype in "int8", "float32", "bool":
            none = np.zeros(shape, dtype)
            text = text_of([kind_of(none)], [f'%r = "stablehlo.not"(%a0) : ({kind_of(none)}) -> {kind_of(none)}'], kind_of(none))
            agrees(bench, f"an argument and a result of {kind_of(none)}", bench.run(text, none), none)
    lines = ['%n = "stablehlo.constant"() <{value = dense<> : tensor<0xi32>}> : () -> tensor<0xi32>', '%i = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>',
             '%r = "stablehlo.dynamic_update_slice"(%a0, %n, %i) : (tensor<3xi32>, tensor<0xi32>, tensor<i32>) -> tensor<3xi32>']
    agrees(bench, "an update of nothing", bench.run(text_of(["tensor<3xi32>"], lines, "tensor<3xi32>"), x), x)


def devices(bench):
    text = """"builtin.module"() <{sym_name = "jit_f"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=1, "y"=1]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}], function_type = (tensor<2x3xf32>) -> tensor<2x3xf32>, sym_name = "main"}> ({
  ^bb0(%a0: tensor<2x3xf32>):
    %0 = "sdy.sharding_constraint"(%a0) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "sdy.sharding_group"(%0) <{group_id = 1 : i64}> : (tensor<2x3xf32>) -> ()
    %1 = "stablehlo.negate"(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "sdy.propagation_barrier"(%1) <{allowed_direction = 0 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %r = "stablehlo.custom_call"(%2) <{call_target_name = "Sharding"}> {mhlo.sharding = "{replicated}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%r) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()
"""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    agrees(bench, "what is said of devices", bench.run(text, x), -x)


def own_form(bench, rng):
    """A program in the form that JAX and TensorFlow print, locations included; what is left of older operators in it."""
    text = '''#loc = loc("model.py":3:1)
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32> loc("x"), %arg1: tensor<3x2xf32>) -> (tensor<4x2xf32> {jax.result_info = "y"}, tensor<i32>) {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.dot %arg0, %arg1, precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> loc(#loc)
    %1 = stablehlo.set_dimension_size %0, %c, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %1) : tensor<i32>, tensor<4x2xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @step(%iterArg_1) : (tensor<4x2xf32>) -> tensor<4x2xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<4x2xf32>
    } loc(#loc)
    return %2#1, %2#0 : tensor<4x2xf32>, tensor<i32>
  }
  func.func private @step(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>
    %2 = chlo.square %1 : tensor<4x2xf32> -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }
}
'''
    x, w = rng.integers(-3, 4, (4, 3)).astype(np.float32), rng.integers(-3, 4, (3, 2)).astype(np.float32)
    y = x @ w
    for _ in range(2):
        y = np.square(y.sum(1, keepdims=True) * np.ones((1, 2), np.float32))
    agrees(bench, "the form that JAX prints", bench.run(text, x, w), y)


def all_parts(bench):
    rng = np.random.default_rng(5)
    for part in operators, broadcasts, truths, ragged, many, empties, own_form:
        part(bench, rng)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, all_parts, devices))
