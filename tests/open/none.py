"""Extents of 0 where dims are open: results of no elements, sums of nothing, and what cannot be.

    tests/open/none.py --bin build/bin"""
import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx.parser  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'
X = np.zeros((0, 3), np.float32)
# The graph's body of x [n, 3], and what must come of no rows; None: refused when it runs.
CASES = {
    "elements": ("y = Exp(x)", X),
    "a_product": ("float[3, 2] w = {1, 2, 3, 4, 5, 6}", "y = MatMul(x, w)", np.zeros((0, 2), np.float32)),
    "a_product_of_nothing": ("t = Transpose(x) y = MatMul(t, x)", np.zeros((3, 3), np.float32)),
    "a_sum": ("int64[1] a = {0}", "y = ReduceSum<keepdims = 0>(x, a)", np.zeros(3, np.float32)),
    "rows_of_softmax": ("y = Softmax(x)", X),
    "joined": ("float[2, 3] w = {1, 2, 3, 4, 5, 6}", "y = Concat<axis = 0>(w, x)", np.arange(1, 7, dtype=np.float32).reshape(2, 3)),
    "its_shape": ("y = Shape(x)", np.array([0, 3])),
    "flat": ("int64[1] all = {-1}", "y = Reshape(x, all)", np.zeros(0, np.float32)),
    "a_row_of_none": ("int64[1] i = {0}", "y = Gather(x, i)", None),
    "a_row_of_none_that_data_say": ("s = ReduceSum<keepdims = 0>(x) i = Cast<to = 7>(s) y = Gather(x, i)", None),
}


def check(bin_dir, folder, row):
    *constants, body, want = row
    head = f"<{', '.join(constants)}>" if constants else ""
    model = onnx.parser.parse_model(f"{HEAD}g (float[n, 3] x) => (y) {head} {{ {body} }}")
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64 if body == "y = Shape(x)" else onnx.TensorProto.FLOAT
    onnx.save(model, folder / "m.onnx")
    np.save(folder / "x.npy", X)
    done = tools.call([f"{bin_dir}/pbc", f"{folder}/m.onnx", "--target=cpu", "--dim", "n=?", "-o", f"{folder}/m.pbe"])
    if done.returncode:
        return done.stderr.strip()
    done = tools.call([f"{bin_dir}/pb-run", f"{folder}/m.pbe", "--input", f"x={folder}/x.npy", "--output", f"y={folder}/y.npy"])
    if want is None:
        return "" if done.returncode == 1 and "[PB5049]" in done.stderr else f"it ran: {done.stderr}"
    if done.returncode:
        return done.stderr.strip()
    got = np.load(folder / "y.npy")
    return "" if got.shape == want.shape and np.array_equal(got, want) else f"{got.shape} {got}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, row in CASES.items():
            why = check(options.bin, Path(folder), row)
            failed += bool(why)
            print(f"{'FAILED' if why else 'ok    '} {name}{': ' if why else ''}{why}", flush=True)
    print(f"{len(CASES) - failed} of {len(CASES)} right of no rows")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
