"""Long sums of f32 down columns, along rows, of whole tensors and in products with few results: as near to f64 as sums of blocks are, which one by one they
are not; of any rank, and of extents that have no block. And short sums, over the last dim of differences of all pairs.

    tests/stablehlo/programs/long_sums.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

NEAR, ONE_BY_ONE, ALL = 3e-6, 1e-4, 1e-6  # of the result, whose terms are all above 0


def kind(shape):
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def check(bench, what, text, arrays, want, most):
    found = bench.runs(text, arrays, (1, 3))
    off = np.abs(found[0] / want - 1).max()
    bench.say(found[0].shape == want.shape and off <= most, f"{what}: {off:.1e} away, {most:.0e} allowed")
    bench.say((found[0] == found[1]).all(), f"{what}: the same on three threads")


def check_sum(bench, x, dims, most=NEAR):
    want = x.astype(np.float64).sum(tuple(dims)) + 1
    text = f"""func.func @main(%a: {kind(x.shape)}) -> {kind(want.shape)} {{
%one = stablehlo.constant dense<1.0> : tensor<f32>
%y = stablehlo.reduce(%a init: %one) applies stablehlo.add across dimensions = {dims} : ({kind(x.shape)}, tensor<f32>) -> {kind(want.shape)}
return %y : {kind(want.shape)}
}}
"""
    check(bench, f"sum of {x.shape} over {dims}", text, [x], want, most)


def check_product(bench, a, b, most=NEAR):
    want = a.astype(np.float64).T @ b.astype(np.float64)
    text = f"""func.func @main(%a: {kind(a.shape)}, %b: {kind(b.shape)}) -> {kind(want.shape)} {{
%y = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : ({kind(a.shape)}, {kind(b.shape)}) -> {kind(want.shape)}
return %y : {kind(want.shape)}
}}
"""
    check(bench, f"{a.shape} by {b.shape}", text, [a, b], want, most)


def check_pairs(bench, p, q, how):
    """The sum, or the largest, of the squares of differences; with those of each coordinate over all of q."""
    n, m, k = len(p), len(q), p.shape[1]
    far = (p[:, None].astype(np.float64) - q[None]) ** 2
    want = far.sum(2) if how == "add" else far.max(2)
    want = want + far.sum((0, 1)).sum()
    cube, plane = kind((n, m, k)), kind((n, m))
    text = f"""func.func @main(%p: {kind((n, k))}, %q: {kind((m, k))}) -> {plane} {{
%zero = stablehlo.constant dense<0.0> : tensor<f32>
%a = stablehlo.broadcast_in_dim %p, dims = [0, 2] : ({kind((n, k))}) -> {cube}
%b = stablehlo.broadcast_in_dim %q, dims = [1, 2] : ({kind((m, k))}) -> {cube}
%d = stablehlo.subtract %a, %b : {cube}
%f = stablehlo.multiply %d, %d : {cube}
%s = stablehlo.reduce(%f init: %zero) applies stablehlo.{how} across dimensions = [2] : ({cube}, tensor<f32>) -> {plane}
%c = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [0, 1] : ({cube}, tensor<f32>) -> {kind((k,))}
%t = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : ({kind((k,))}, tensor<f32>) -> tensor<f32>
%w = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> {plane}
%y = stablehlo.add %s, %w : {plane}
return %y : {plane}
}}
"""
    check(bench, f"{how} of {n} x {m} x {k}", text, [p, q], want, NEAR)


def cases(bench):
    rng = np.random.default_rng(3)
    some = lambda *shape: (0.1 + 0.01 * rng.random(shape)).astype(np.float32)  # noqa: E731
    check_sum(bench, some(30000, 16), [0])
    check_sum(bench, some(4096, 3), [0])
    check_sum(bench, some(3, 10000, 20), [1])
    check_sum(bench, some(20000, 2, 17), [0, 1])
    check_sum(bench, some(30011, 16), [0], ONE_BY_ONE)  # a prime
    check_sum(bench, some(512, 512, 3), [0, 1])  # of several dims, each of them short
    check_sum(bench, some(2, 40, 30, 50, 5), [1, 2, 3])
    check_sum(bench, some(700000), [0], ALL)  # in lanes, which are long sums too
    check_sum(bench, some(600, 1100), [0, 1], ALL)
    check_sum(bench, some(3, 400, 500), [1, 2], ALL)
    check_sum(bench, some(5, 200000), [1], ALL)
    check_sum(bench, some(599993), [0], ONE_BY_ONE)
    check_sum(bench, some(7, 6, 6, 5, 3, 4), [0, 1, 2, 3, 4, 5], ALL)  # of dims too short for lanes
    check_sum(bench, some(3000, 3, 3), [0, 1, 2], ALL)
    check_sum(bench, some(5, 400, 9), [1, 2], ALL)
    check_sum(bench, some(40, 11, 60, 2), [0, 2, 3], ALL)
    check_product(bench, some(30000, 16), some(30000, 8))
    check_product(bench, some(10000, 24), some(10000, 33))
    check_product(bench, some(30011, 16), some(30011, 16), ONE_BY_ONE)
    for n, m, k in (40, 50, 3), (7, 16, 2), (33, 61, 16), (20, 15, 3):
        check_pairs(bench, some(n, k), some(m, k), "add")
    check_pairs(bench, some(30, 40), some(24, 40)[:, :40], "maximum")
    check_pairs(bench, some(50, 5), some(47, 5), "maximum")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
