"""Control flow, sequences and functions of models: each case is compiled for the CPU, run, and compared with ONNX
Runtime; or is refused by the words that it names.

    tests/onnx/control.py --bin build/bin [--only TEXT]"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18, "local" : 1]>\n'
ADD_OR_SUB = """then_branch = yes () => (float[2, 3] t) { t = Add(x, x) }, else_branch = no () => (float[2, 3] t) { t = Neg(x) }"""
CASES = {
    # ---- If ----
    "taken_by_a_shape": f"""g (float[2, 3] x) => (float[2, 3] y) {{
        n = Shape(x) two = Constant<value_ints = [2, 3]>() same = Equal(n, two) zero = Constant<value_int = 0>()
        first = Gather(same, zero) y = If<{ADD_OR_SUB}>(first) }}""",
    "not_taken_may_hold_anything": """g (float[2, 3] x) => (float[2, 3] y) {
        c = Constant<value = bool {0}>()
        y = If<then_branch = a () => (t) { t = local.Unknown(x) }, else_branch = b () => (t) { t = Neg(x) }>(c) }""",
    "chosen_at_run_time": f"g (bool c, float[2, 3] x) => (float[2, 3] y) {{ y = If<{ADD_OR_SUB}>(c) }}",
    "chosen_at_run_time_of_one": f"g (bool[1] c, float[2, 3] x) => (float[2, 3] y) {{ y = If<{ADD_OR_SUB}>(c) }}",
    "branches_of_outer_tensors": """g (bool c, float[2] x, float[2] w) => (float[2] y, float[2] z) {
        y, z = If<then_branch = a () => (x, w) {}, else_branch = b () => (w, w) {}>(c) }""",
    "read_by_a_branch_alone": """g (bool c, float[1, 2, 4, 4] x, float[2, 2, 3, 3] w) => (float[1, 2, 4, 4] y, float[1, 2, 4, 4] z) {
        k = Constant<value = float[2, 2, 1, 1] {1, 2, 3, 4}>() conv = Conv(x, k) z = Relu(conv)
        y = If<then_branch = a () => (t) { t = Identity(conv) }, else_branch = b () => (t) { t = Neg(conv) }>(c) }""",
    "same_names_in_both": """g (bool c, float[4] x) => (float[4] y) {
        y = If<then_branch = a () => (u) { s = Add(x, x) u = Mul(s, x) }, else_branch = b () => (u) { s = Neg(x) u = Sub(s, x) }>(c) }""",
    "one_within_another": """g (bool c, bool d, float[4] x) => (float[4] y) {
        y = If<then_branch = a () => (u) {
                 u = If<then_branch = aa () => (v) { v = Abs(x) }, else_branch = ab () => (v) { v = Neg(x) }>(d) },
               else_branch = b () => (u) { u = Add(x, x) }>(c) }""",
    "constants_of_a_branch": """g (float[4] x) => (float[4] y) {
        c = Constant<value = bool {1}>()
        y = If<then_branch = a () => (u) <float[4] k = {1, 2, 3, 4}> { u = Add(x, k) }, else_branch = b () => (x) {}>(c) }""",
    # ---- Loop ----
    "turns_by_a_number": """g (float[3] x) => (float[3] y, float[4, 3] all) {
        n = Constant<value_int = 4>()
        y, all = Loop<body = b (int64 i, bool c, float[3] v) => (c, w, w) { f = Cast<to = 1>(i) s = Add(v, f) w = Mul(s, x) }>(n, , x) }""",
    "turns_by_a_condition": """g (float[3] x) => (float[3] y) {
        zero = Constant<value_int = 0>() go = Constant<value = bool {1}>()
        n, y = Loop<body = b (int64 i, bool c, int64 k, float[3] v) => (d, m, w) {
            one = Constant<value_int = 1>() five = Constant<value_int = 5>() m = Add(k, one) d = Less(m, five) w = Add(v, v) }>(, go, zero, x) }""",
    "stopped_at_run_time": """g (float[3] x) => (float[3] y) {
        n = Constant<value_int = 6>() go = Constant<value = bool {1}>()
        y = Loop<body = b (int64 i, bool c, float[3] v) => (d, w) {
            w = Add(v, x) s = ReduceSum<keepdims = 0>(w) limit = Constant<value_float = 3.0>() d = Less(s, limit) }>(n, go, x) }""",
    "no_turn": """g (float[3] x) => (float[3] y) {
        n = Constant<value_int = 0>() z = Loop<body = b (int64 i, bool c, float[3] v) => (c, w) { w = Neg(v) }>(n, , x) y = Add(z, x) }""",
    "if_in_a_loop": """g (float[3] x) => (float[3] y) {
        n = Constant<value_int = 5>()
        y = Loop<body = b (int64 i, bool c, float[3] v) => (c, w) {
            two = Constant<value_int = 2>() odd = Mod(i, two) zero = Constant<value_int = 0>() even = Equal(odd, zero)
            w = If<then_branch = e () => (u) { u = Add(v, x) }, else_branch = o () => (u) { u = Neg(v) }>(even) }>(n, , x) }""",
    "loop_in_a_loop": """g (float[2] x) => (float[2] y) {
        n = Constant<value_int = 3>()
        y = Loop<body = b (int64 i, bool c, float[2] v) => (c, w) {
            w = Loop<body = bb (int64 j, bool cc, float[2] u) => (cc, t) { f = Cast<to = 1>(j) s = Add(u, f) t = Add(s, v) }>(i, , v) }>(n, , x) }""",
    "a_value_that_grows": """g (float[1, 2] x) => (float[4, 2] y) {
        n = Constant<value_int = 3>()
        y = Loop<body = b (int64 i, bool c, v) => (c, w) { w = Concat<axis = 0>(v, x) }>(n, , x) }""",
    "two_results_of_one": """g (float[3] x) => (float[3] y, float[3] z) {
        n = Constant<value_int = 2>()
        y, z = Loop<body = b (int64 i, bool c, float[3] v, float[3] u) => (c, w, w) { s = Add(v, u) w = Relu(s) }>(n, , x, x) }""",
    # ---- Scan ----
    "scan": """g (float[2] x, float[4, 2] s) => (float[2] y, float[4, 2] all) {
        y, all = Scan<num_scan_inputs = 1, body = b (float[2] v, float[2] e) => (w, u) { w = Add(v, e) u = Mul(w, e) }>(x, s) }""",
    "scan_backwards_along_another_axis": """g (float[2] x, float[2, 3] s) => (float[2] y, float[2, 3] all) {
        y, all = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1],
            scan_output_directions = [1], body = b (float[2] v, float[2] e) => (w, u) { w = Add(v, e) u = Mul(w, v) }>(x, s) }""",
    "scan_along_axes_from_the_end": """g (float[2] x, float[2, 3] s) => (float[2] y, float[2, 3] all, float[3, 2] rows) {
        y, all, rows = Scan<num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1, -2],
            body = b (float[2] v, float[2] e) => (w, u, t) { w = Add(v, e) u = Mul(w, v) t = Neg(w) }>(x, s) }""",
    # ---- more turns than are written out ----
    "many_turns": """g (float[3] x) => (float[3] y, float[5000, 3] all) {
        n = Constant<value_int = 5000>() y, all = Loop<body = b (int64 i, bool c, float[3] v) => (c, w, u) {
            half = Constant<value_float = 0.5>() m = Mul(v, half) w = Add(m, x) f = Cast<to = 1>(i) u = Add(w, f) }>(n, , x) }""",
    "many_turns_backwards_along_another_axis": """g (float[2] x, float[2, 700] s) => (float[2] y, float[2, 700] all, float[700, 2] rows) {
        y, all, rows = Scan<num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1], scan_output_axes = [-1, 0],
            scan_output_directions = [1, 0], body = b (float[2] v, float[2] e) => (w, u, t) {
            half = Constant<value_float = 0.5>() m = Mul(v, half) w = Add(m, e) u = Mul(w, v) t = Tanh(w) }>(x, s) }""",
    # a slice whose shape hangs on the turn's number: written out, whatever it takes
    "many_turns_of_their_own_shapes": """g (float[300] x) => (float[300] y, float[300, 1] all) {
        n = Constant<value_int = 300>() y, all = Loop<body = b (int64 i, bool c, float[300] v) => (c, w, u) {
            zero = Constant<value_ints = [0]>() one = Constant<value_ints = [1]>() k = Unsqueeze(i, zero) end = Add(k, one)
            p = Slice(v, zero, end, zero) s = ReduceSum<keepdims = 1>(p, zero) q = Slice(v, k, end, zero) u = Add(q, s) w = Identity(v) }>(n, , x) }""",
    # ---- sequences ----
    "sequence": """g (float[2] x, float[2] z) => (float[2] y, int64 n, float[6] all) {
        one = Constant<value_int = 1>() back = Constant<value_int = -1>()
        a = SequenceConstruct(x, z) sum = Add(x, z) b = SequenceInsert(a, sum) c = SequenceInsert(b, z, one) d = SequenceErase(c, one)
        y = SequenceAt(d, back) n = SequenceLength(d) all = ConcatFromSequence<axis = 0>(d) }""",
    "sequence_through_a_loop": """g (float[2] x) => (float[3, 2] y) {
        n = Constant<value_int = 3>() e = SequenceEmpty()
        s = Loop<body = b (int64 i, bool c, seq(float[2]) v) => (c, w) { f = Cast<to = 1>(i) m = Mul(f, x) w = SequenceInsert(v, m) }>(n, , e)
        y = ConcatFromSequence<axis = 0, new_axis = 1>(s) }""",
    # as PyTorch's exporter counts: by a value that is carried, with numbers cast to its type
    "sequence_through_a_counted_loop": """g (float[2] x) => (float[3, 2] y) {
        n = Constant<value_int = 3>() zero = Constant<value_int = 0>() one = Constant<value_float = 1.0>() go = Cast<to = 9>(n) e = SequenceEmpty()
        j, s = Loop<body = b (int64 k, bool c, int64 i, seq(float[2]) v) => (d, h, w) {
            step = CastLike(one, i) h = Add(i, step) d = Less(h, n) f = Cast<to = 1>(i) m = Mul(f, x) w = SequenceInsert(v, m) }>(, go, zero, e)
        y = ConcatFromSequence<axis = 0, new_axis = 1>(s) }""",
    "split_to_sequence": """g (float[7, 2] x) => (float[1, 2] y, float[2] z) {
        three = Constant<value_int = 3>() two = Constant<value_int = 2>()
        s = SplitToSequence<axis = 0>(x, three) y = SequenceAt(s, two)
        t = SplitToSequence<axis = 0, keepdims = 0>(x) z = SequenceAt(t, three) }""",
    "optional": """g (float[2] x) => (float[2] y, bool has) { o = Optional(x) has = OptionalHasElement(o) y = OptionalGetElement(o) }""",
    # ---- functions ----
    "function": """g (float[2] x, float[2] z) => (float[2] y) { a = local.f(x, z) y = local.f<alpha = 0.25>(a, a) }
        <domain: "local", opset_import: ["" : 18]> f<alpha: float = 2.0>(p, q) => (r) { k = Constant<value_float: float = @alpha>() s = Mul(p, k) r = Sub(s, q) }""",
    "function_that_calls": """g (float[2] x) => (float[2] y) { y = local.twice<slope = 0.5>(x) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]> once<alpha>(p) => (r) { r = LeakyRelu<alpha: float = @alpha>(p) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]> twice<slope>(p) => (r) { t = Neg(p) s = local.once<alpha: float = @slope>(t) r = local.once<alpha: float = @slope>(s) }""",
    "function_of_its_operand": """g (float[2] x) => (float[2] y, float[2] z) { y, z = local.f(x) }
        <domain: "local", opset_import: ["" : 18]> f(p) => (p, r) { r = Neg(p) }""",
    "function_in_a_branch": """g (bool c, float[2] x) => (float[2] y) {
        y = If<then_branch = a () => (u) { u = local.f(x) }, else_branch = b () => (u) { v = local.f(x) u = local.f(v) }>(c) }
        <domain: "local", opset_import: ["" : 18]> f(p) => (r) { s = Add(p, p) r = Exp(s) }""",
    "branch_in_a_function": """g (bool c, float[2] x) => (float[2] y) { y = local.f(c, x) }
        <domain: "local", opset_import: ["" : 18]> f(q, p) => (r) {
            s = Add(p, p) r = If<then_branch = a () => (u) { u = Mul(s, p) }, else_branch = b () => (u) { u = Neg(s) }>(q) }""",
    "functions_of_other_opsets": """g (float[2, 3] x) => (float[2, 3] y, float[2, 1] z) { y = local.f(x) z = local.g(x) }
        <domain: "local", opset_import: ["" : 13]> f(p) => (r) { q = ReduceMax<axes = [1]>(p) r = Sub(p, q) }
        <domain: "local", opset_import: ["" : 20, "local" : 1]> g(p) => (r) { q = local.f(p) one = Constant<value_ints = [1]>() r = ReduceMax(q, one) }""",
    "function_in_place_of_an_operator": """g (float[2] x) => (float[2] y) { y = local.Relu(x) }
        <domain: "local", opset_import: ["" : 18]> Relu(p) => (r) { r = Neg(p) }""",
}
# The host's: what is known too late for the compiler, with what they are run on.
RUN_TIME = {
    "turns": (f"g (int64 n, float[3] x) => (float[3] y) {{ y = Loop<body = b (int64 i, bool c, float[3] v) => (c, w) {{ w = Neg(v) }}>(n, , x) }}",
              [{"n": n} for n in (0, 1, 6, 7)]),
    "turns_and_condition": ("""g (int64[1] n, bool go, float[3] x, float limit) => (float[3] y) {
        y = Loop<body = b (int64 i, bool c, float[3] v) => (d, w) {
            f = Cast<to = 1>(i) a = Abs(v) w = Add(a, f) s = ReduceSum<keepdims = 0>(w) d = Less(s, limit) }>(n, go, x) }""",
                            [{"n": [n], "go": go, "limit": limit} for n, go, limit in
                             ((9, True, 50.0), (9, False, 50.0), (9, True, 0.0), (2, True, 50.0), (0, True, 50.0))]),
    "condition_alone": ("""g (float[2, 3] x, float limit) => (float[2, 3] y, float s) {
        go = Constant<value = bool {1}>() zero = Constant<value = float {0}>()
        y, s = Loop<body = b (int64 i, bool c, v, t) => (d, w, u) {
            a = Abs(v) w = Add(a, x) u = ReduceSum<keepdims = 0>(w) d = Less(u, limit) }>(, go, x, zero) }""",
                        [{"x": np.abs(np.arange(6, dtype=np.float32).reshape(2, 3)), "limit": limit} for limit in (-1.0, 200.0)]),
    "many_turns": (f"g (float[3] x) => (float[3] y) {{ n = Constant<value_int = 5001>() y = Loop<body = b (int64 i, bool c, float[3] v) => (c, w) {{ w = Neg(v) }}>(n, , x) }}", [{}]),
    "known_for_some_turns": ("""g (float[3] x, int64 m) => (float[3] y) {
        zero = Constant<value_int = 0>() go = Constant<value = bool {1}>()
        k, y = Loop<body = b (int64 i, bool c, int64 k, float[3] v) => (d, n, w) {
            one = Constant<value_int = 1>() n = Add(k, one) two = Constant<value_int = 2>() early = Less(n, two) late = Less(n, m)
            d = Or(early, late) w = Add(v, x) }>(, go, zero, x) }""", [{"m": m} for m in (0, 5)]),
    "loop_in_a_loop": ("""g (int64 n, float[2] x) => (float[2] y) {
        y = Loop<body = b (int64 i, bool c, float[2] v) => (c, w) {
            w = Loop<body = bb (int64 j, bool cc, float[2] u) => (cc, t) { f = Cast<to = 1>(j) s = Add(u, f) t = Add(s, v) }>(i, , v) }>(n, , x) }""",
                       [{"n": n} for n in (0, 1, 4)]),
    "loop_in_a_branch": ("""g (bool c, int64 n, float[3] x) => (float[3] y) {
        y = If<then_branch = a () => (u) { u = Loop<body = b (int64 i, bool g, float[3] v) => (g, w) { w = Add(v, x) }>(n, , x) },
               else_branch = e () => (u) { u = Neg(x) }>(c) }""", [{"c": c, "n": 3} for c in (True, False)]),
    "long_branches": ("""g (bool c, float[4, 4] x) => (float[4, 4] y, float[4, 4] z) {
        y, z = If<then_branch = a () => (u, x) { u = MatMul(x, x) }, else_branch = b () => (v, w) { t = Transpose(x) v = MatMul(t, x) w = Neg(v) }>(c) }""",
                      [{"c": c} for c in (True, False)]),
    "branch_in_a_loop": ("""g (int64 n, float[3, 3] x) => (float[3, 3] y) {
        y = Loop<body = b (int64 i, bool c, float[3, 3] v) => (c, w) {
            two = Constant<value_int = 2>() odd = Mod(i, two) is = Cast<to = 9>(odd)
            w = If<then_branch = e () => (u) { p = MatMul(v, x) u = Tanh(p) }, else_branch = o () => (u) { u = Neg(v) }>(is) }>(n, , x) }""",
                         [{"n": n} for n in (0, 1, 5)]),
    "exchanged": ("""g (int64 n, float[3] x, float[3] z) => (float[3] y, float[3] w) {
        y, w = Loop<body = b (int64 i, bool c, float[3] p, float[3] q) => (c, q, p) { }>(n, , x, z) }""", [{"n": n} for n in (0, 1, 2, 3)]),
    "one_for_two": ("""g (int64 n, float[3] x) => (float[3] y, float[3] w) {
        y, w = Loop<body = b (int64 i, bool c, float[3] p, float[3] q) => (c, s, s) { s = Add(p, q) }>(n, , x, x) }""", [{"n": n} for n in (0, 3)]),
    "reshaped": ("""g (int64 n, float[2, 3] x) => (float[3, 2] y) {
        to = Constant<value_ints = [6]>() back = Constant<value_ints = [2, 3]>() flat = Reshape(x, to)
        z = Loop<body = b (int64 i, bool c, float[6] v) => (c, w) { m = Reshape(v, back) a = Add(m, x) w = Reshape(a, to) }>(n, , flat)
        out = Constant<value_ints = [3, 2]>() y = Reshape(z, out) }""", [{"n": n} for n in (0, 2)]),
    "codes_from_turn_to_turn": ("""g (int64 n, int8[4] x) => (int8[4] y) {
        y = Loop<body = b (int64 i, bool c, int8[4] v) => (c, w) { w = Add(v, x) }>(n, , x) }""",
                                [{"n": 3, "x": np.array([1, -2, 40, 100], np.int8)}]),
}
# It refuses outer tensors as a branch's results, and a function's operand as its result, and takes functions to be of the
# model's opset; ONNX's own evaluator takes them.
NOT_FOR_ONNXRUNTIME = {"functions_of_other_opsets", "long_branches", "branches_of_outer_tensors", "constants_of_a_branch", "function_of_its_operand"}
GATHERED = "body = b (int64 i, bool c, float[3] v) => (c, w, w) { w = Neg(v) }"
BODY = "body = b (int64 i, bool c, float[3] v) => (c, w) { w = Neg(v) }"
REFUSED = {
    # codes in the place of floats, which no file that a checker took has
    "codes_quantised_again": ("""g (float[2, 3] x) => (int8[2, 3] y) <float s = {0.5}, int8 z = {1}> {
        a = QuantizeLinear(x, s, z) y = QuantizeLinear(a, s, z) }""", "(QuantizeLinear): of i8"),
    "codes_of_a_pool_quantised_again": ("""g (float[1, 3, 4, 4] x) => (int8[1, 3, 3, 3] y) <float s = {0.5}, int8 z = {1}> {
        a = QuantizeLinear(x, s, z) b = MaxPool<kernel_shape = [2, 2]>(a) y = QuantizeLinear(b, s, z) }""", "(QuantizeLinear): of i8"),
    "branches_of_two_shapes": ("""g (bool c, float[2, 3] x) => (y) {
        y = If<then_branch = a () => (u) { u = Transpose(x) }, else_branch = b () => (u) { u = Neg(x) }>(c) }""",
                               "whose condition is not constant, and whose results are of two types or shapes"),
    "a_condition_of_two": (f"g (bool[2] go, float[3] x) => (y) {{ y = Loop<{BODY}>(, go, x) }}", "a condition that is no one truth"),
    "turns_at_run_time": (f"g (int64 n, float[3] x) => (all) {{ y, all = Loop<{GATHERED}>(n, , x) }}",
                          "how often it turns is not constant, and so its results' shapes"),
    "a_value_that_grows_at_run_time": ("""g (int64 n, float[1, 2] x) => (y) {
        y = Loop<body = b (int64 i, bool c, v) => (c, w) { w = Concat<axis = 0>(v, x) }>(n, , x) }""", "changes its type or shape"),
    "too_many_operators": ("""g (float[3] x) => (float[3] y) { n = Constant<value_int = 4000>()
        y = Loop<body = b (int64 i, bool c, float[3] v) => (c, w) {
            w = Loop<body = bb (int64 j, bool cc, float[3] u) => (cc, t) { t = Neg(u) }>(n, , v) }>(n, , x) }""", "operators written out"),
    "results_of_unknown_number": ("""g (float[3] x) => (all) { n = Constant<value_int = 4>()
        y, all = Loop<body = b (int64 i, bool c, float[3] v) => (d, w, w) { w = Neg(v) s = ReduceSum<keepdims = 0>(w)
            o = Constant<value_float = 0.0>() d = Less(s, o) }>(n, , x) }""", "and so its results' shapes"),
    "unknown_in_a_branch": ("""g (bool c, float[3] x) => (y) {
        y = If<then_branch = a () => (u) { u = local.Neg2(x) }, else_branch = b () => (u) { u = Neg(x) }>(c) }""", "operator 'local.Neg2' is not read"),
    "function_calls_itself": ("""g (float[3] x) => (y) { y = local.f(x) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]> f(p) => (r) { r = local.f(p) }""", "more than 64 deep"),
    "function_of_a_later_opset": ("""g (float[3] x) => (y) { y = local.f(x) }
        <domain: "local", opset_import: ["" : 29]> f(p) => (r) { r = Neg(p) }""", "function 'f' is of opset 29; 1 to 28 are known"),
    "function_of_an_earlier_opset": ("""g (float[3] x) => (y) { y = local.f(x) }
        <domain: "local", opset_import: ["" : 13]> f(p) => (r) { r = Mish(p) }""", "it came with opset 18, and this is of 13"),
    "function_of_more_operands": ("""g (float[3] x) => (y) { y = local.f(x, x) }
        <domain: "local", opset_import: ["" : 18]> f(p) => (r) { r = Neg(p) }""", "more operands than its function has"),
    "sequence_outside": ("""g (float[2] x) => (float[2] y) { s = SequenceConstruct(x, x) two = Constant<value_int = 2>() y = SequenceAt(s, two) }""",
                         "a place outside of the sequence"),
    "activation_of_no_name": ("""g (float[2, 1, 3] x) => (y) { w = Constant<value = float[1, 1, 3] {1, 2, 3}>() r = Constant<value = float[1, 1, 1] {1}>()
        y = RNN<hidden_size = 1, activations = ["Swish"]>(x, w, r) }""", "an activation 'Swish'"),
    "sequence_for_a_tensor": ("g (float[2] x) => (float[2] y) { s = SequenceConstruct(x, x) y = Neg(s) }", "a sequence where a tensor has to be"),
}


def run(text, work, loops="kernels"):
    model = onnx.parser.parse_model(HEAD + text)
    onnx.save(model, work / "m.onnx")
    done = tools.call([f"{BIN}/pbc", str(work / "m.onnx"), "--target=cpu", f"--loops={loops}", "-o", str(work / "m.pbe")], timeout=60)
    return model, done


def values(model, truth, given):
    rng = np.random.default_rng(5)
    made = {}
    for v in model.graph.input:
        t = v.type.tensor_type
        shape, dtype = [d.dim_value for d in t.shape.dim], onnx.helper.tensor_dtype_to_np_dtype(t.elem_type)
        drawn = rng.uniform(-1, 1, shape)
        made[v.name] = np.full(shape, truth) if dtype == bool else drawn.astype(dtype)
        if v.name in given:
            made[v.name] = np.asarray(given[v.name], dtype)
    return made


def judged(name, text, feeds):
    model = onnx.parser.parse_model(HEAD + text.replace("local.Unknown", "Abs"))  # which it would look for
    if name in NOT_FOR_ONNXRUNTIME:
        return ReferenceEvaluator(model).run(None, feeds)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)


def check(name, text, truth, work, given={}, loops="kernels"):
    model, done = run(text, work, loops)
    if done.returncode:
        return done.stderr.strip()
    feeds, args = values(model, truth, given), []
    for key, value in feeds.items():
        np.save(work / f"{key}.npy", value)
        args += ["--input", f"{key}={work / key}.npy"]
    names = [v.name for v in model.graph.output]
    for key in names:
        args += ["--output", f"{key}={work / key}_out.npy"]
    ran = tools.call([f"{BIN}/pb-run", str(work / "m.pbe"), *args], timeout=60)
    if ran.returncode:
        return ran.stderr.strip()
    for key, expected in zip(names, judged(name, text, feeds)):
        actual, expected = np.load(work / f"{key}_out.npy"), np.asarray(expected)
        if actual.shape != expected.shape or not np.allclose(actual, expected, rtol=1e-5, atol=1e-6):
            return f"{key} is {actual.tolist()}, expected {expected.tolist()}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    global BIN
    BIN = options.bin
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CASES.items():
            for truth in (True, False) if "bool" in text.split("{")[0] else (True,):
                why = check(name, text, truth, Path(folder)) if options.only in name else ""
                failed += bool(why)
                if why:
                    print(f"{name}: {why}")
        for name, (text, runs) in RUN_TIME.items():
            for given in runs if options.only in name else []:
                why = check(name, text, True, Path(folder), given)  # of small kernels, which loops and branches are inside of
                why = why or check(name, text, True, Path(folder), given, "steps")
                steps = tools.run([f"{BIN}/pb-objdump", f"{folder}/m.pbe", "--headers"]) if not why else ""
                why = why or ("" if "unless(" in steps else "has no step that decides")
                failed += bool(why)
                if why:
                    print(f"{name}, {given}: {why}")
        for name, (text, words) in REFUSED.items():
            if options.only not in name:
                continue
            _, done = run(text, Path(folder))
            if done.returncode != 1 or words not in done.stderr:
                failed += 1
                print(f"{name}: expected '{words}', exit code {done.returncode}: {done.stderr.strip()}")
    print(f"{len(CASES)} cases, {len(RUN_TIME)} of the host, {len(REFUSED)} refusals: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
