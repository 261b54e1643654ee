"""Sums and maxima that begin with another number than the operation's neutral one, which the model says or the caller gives:
against NumPy.

    tests/stablehlo/programs/beginnings.py --bin build/bin [--targets cpu:v3,simnpu]"""

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
import decided  # noqa: E402


def reduced(name, x, dims, begin, given):
    t = decided.Text(x, begin) if given else decided.Text(x)
    first = t.arguments[1] if given else t.number(float(begin), ())
    kind = t.kind([n for r, n in enumerate(x.shape) if r not in dims])
    made = f"%v{len(t.lines)}"
    body = f'^bb0(%l: tensor<f32>, %r: tensor<f32>):\n%s = "stablehlo.{name}"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"stablehlo.return"(%s) : (tensor<f32>) -> ()'
    said = f"dimensions = array<i64: {', '.join(map(str, dims))}>"
    t.lines.append(f'{made} = "stablehlo.reduce"(%a0, {first[0]}) <{{{said}}}> ({{\n{body}\n}}) : ({t.kinds[0]}, tensor<f32>) -> {kind}')
    wanted = {"add": lambda: x.sum(tuple(dims)) + begin, "maximum": lambda: np.maximum(x.max(tuple(dims)), begin)}[name]()
    return t.done((made, kind)), wanted


def main():
    options = decided.asked("cpu:v3,simnpu,amdgpu")
    rng = np.random.default_rng(8)
    cases = []
    for name in "add", "maximum":
        for shape, dims in ((5, 32), [1]), ((5, 37), [0]), ((2, 6, 20), [1, 2]), ((2, 9, 16), [2]):
            for given in False, True:
                x, begin = rng.standard_normal(shape).astype(np.float32), np.array(1.5, np.float32)
                text, want = reduced(name, x, dims, begin, given)
                cases.append((f"{name} of {shape} over {dims}, {'given' if given else 'said'}", text, [x, begin] if given else [x], want))
    with tempfile.TemporaryDirectory() as folder:
        return decided.checked(options, folder, cases)


if __name__ == "__main__":
    sys.exit(main())
