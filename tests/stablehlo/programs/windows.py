"""Windows of matrices, whose sums and largest elements a pointwise operation takes or makes: results whose rows end inside a row of
lanes, of pieces of one row, and strides; functions of the largest elements of columns; against NumPy.

    tests/stablehlo/programs/windows.py --bin build/bin [--targets cpu:v3,simnpu]"""

import itertools
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
import decided  # noqa: E402


def windowed(name, x, window, stride, pad, behind):
    """Twice the reduction of windows, or that of twice the matrix."""
    t = decided.Text(x)
    begin, combine = {"add": (0.0, np.add), "maximum": (-100.0, np.maximum)}[name]
    inside = np.pad(x if behind else 2 * x, [(pad, pad)] * 2, constant_values=np.float32(begin))
    rows, columns = ((n + 2 * pad - w) // s + 1 for n, w, s in zip(x.shape, window, stride))
    want = np.full((rows, columns), begin, np.float32)
    for r, c in itertools.product(*map(range, window)):
        want = combine(want, inside[r : r + (rows - 1) * stride[0] + 1 : stride[0], c : c + (columns - 1) * stride[1] + 1 : stride[1]])
    first, two = t.number(begin, ()), t.number(2.0, want.shape if behind else x.shape)
    read = (t.arguments[0][0], t.kinds[0]) if behind else t.op("multiply", [t.arguments[0], two], t.kinds[0])
    kind, made = t.kind(want.shape), f"%v{len(t.lines)}"
    body = f'^bb0(%l: tensor<f32>, %r: tensor<f32>):\n%s = "stablehlo.{name}"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"stablehlo.return"(%s) : (tensor<f32>) -> ()'
    said = f"window_dimensions = array<i64: {window[0]}, {window[1]}>, window_strides = array<i64: {stride[0]}, {stride[1]}>, padding = dense<{pad}> : tensor<2x2xi64>"
    t.lines.append(f'{made} = "stablehlo.reduce_window"({read[0]}, {first[0]}) <{{{said}}}> ({{\n{body}\n}}) : ({read[1]}, tensor<f32>) -> {kind}')
    return t.done(t.op("multiply", [(made, kind), two], kind) if behind else (made, kind)), 2 * want if behind else want


def computed(name, x):
    """A function of the largest element of each column, beside that of the smallest of the others' negatives."""
    t = decided.Text(x)
    columns, first = t.kind(x.shape[1:]), t.number(-100.0, ())
    body = '^bb0(%l: tensor<f32>, %r: tensor<f32>):\n%s = "stablehlo.maximum"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"stablehlo.return"(%s) : (tensor<f32>) -> ()'
    t.lines.append(f'%largest = "stablehlo.reduce"({t.arguments[0][0]}, {first[0]}) <{{dimensions = array<i64: 0>}}> ({{\n{body}\n}}) : ({t.kinds[0]}, tensor<f32>) -> {columns}')
    function = {"tanh": np.tanh, "exponential": np.exp, "abs": np.abs, "floor": np.floor}[name]
    made = t.op(name, [("%largest", columns)], columns)
    return t.done(t.op("add", [made, ("%largest", columns)], columns)), function(x.max(0)) + x.max(0)


def main():
    options = decided.asked("cpu:v3,simnpu")
    rng, cases, drawn = np.random.default_rng(9), [], []
    facts = ((16, 64), (5, 7), (3, 33)), ((3, 3), (1, 3), (3, 1)), ((1, 1), (2, 2)), (0, 1), ("add", "maximum"), (False, True)
    for k, (shape, window, stride, pad, name, behind) in enumerate(itertools.product(*facts)):
        if k % 3 and shape != (5, 7):
            continue
        drawn.append((shape, window, stride, pad, name, behind))
    # windows of many elements, which processors take along one dim after the other
    drawn += [((11, 40), window, (1, 1), 2, name, k % 2 == 0) for k, (window, name) in enumerate(itertools.product(((7, 5), (5, 9)), ("add", "maximum")))]
    for shape, window, stride, pad, name, behind in drawn:
        x = rng.standard_normal(shape).astype(np.float32)
        text, want = windowed(name, x, window, stride, pad, behind)
        what = f"{name} of {shape} by {window} every {stride}, {pad} around, {'in front of' if behind else 'behind'} a product"
        cases.append((what, text, [x], want))
    for name, shape in itertools.product(("tanh", "exponential", "abs", "floor"), ((16, 80), (5, 192))):
        x = rng.standard_normal(shape).astype(np.float32)
        text, want = computed(name, x)
        cases.append((f"{name} of the largest of columns of {shape}", text, [x], want))
    with tempfile.TemporaryDirectory() as folder:
        return decided.checked(options, folder, cases)


if __name__ == "__main__":
    sys.exit(main())
