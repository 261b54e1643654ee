"""Models of f16 on the machine: what they multiply stays f16, sums are f32, and results are what NumPy rounds to f16, by no
more than sums in another order may be away. Models of f32 with --precision=f16 and bf16: their factors rounded, by NumPy.

    halves.py --bin BUILD/bin [--target nvgpu] [--product HFMA]

--product: the instruction of f16 that the explanation must name for each product; "" where the target has none.
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

TYPES = {"f16": (np.float16, TensorProto.FLOAT16), "f32": (np.float32, TensorProto.FLOAT)}
RANDOM = np.random.default_rng(5)


def bf16(x):
    """The nearest bf16, halves to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


ROUND = {"f16": lambda x: x.astype(np.float16).astype(np.float32), "bf16": bf16, "f32": lambda x: x}


def gemm(x, w, b):
    return x.astype(np.float64) @ w.astype(np.float64) + b


def conv(x, w, b):
    pad = w.shape[2] // 2
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64)) + b[None, :, None, None]


def layers(kind, sizes):
    for ins, outs, window in sizes:
        shape = (ins, outs) if kind == "Gemm" else (outs, ins, window, window)
        yield (RANDOM.normal(0, 1 / np.sqrt(ins * window * window), shape).astype(np.float16).astype(np.float32),
               RANDOM.normal(0, 1, outs).astype(np.float16).astype(np.float32))


def model(kind, weights, x, type_name):
    number, onnx_type = TYPES[type_name]
    nodes, constants, last = [], [], "x"
    for k, (w, b) in enumerate(weights):
        pads = {"pads": [w.shape[2] // 2] * 4} if kind == "Conv" else {}
        nodes += [helper.make_node(kind, [last, f"w{k}", f"b{k}"], [f"s{k}"], **pads), helper.make_node("Relu", [f"s{k}"], [f"y{k}"])]
        constants += [numpy_helper.from_array(w.astype(number), f"w{k}"), numpy_helper.from_array(b.astype(number), f"b{k}")]
        last = f"y{k}"
    ins = [helper.make_tensor_value_info("x", onnx_type, x.shape)]
    outs = [helper.make_tensor_value_info(last, onnx_type, None)]
    made = helper.make_model(helper.make_graph(nodes, kind, ins, outs, constants), opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 9
    return onnx.shape_inference.infer_shapes(made)


def expected(kind, weights, x, type_name, precision):
    """What comes out, and how much of what was summed there was: by that sums in another order may differ."""
    product = {"Gemm": gemm, "Conv": conv}[kind]
    factor = ROUND[precision]
    for w, b in weights:
        sums = product(factor(x), factor(w), b)
        size = product(np.abs(factor(x)), np.abs(factor(w)), np.abs(b))
        x = ROUND[type_name](np.maximum(sums, 0).astype(np.float32))
    return x, size


CASES = [("Gemm", [(128, 256, 1), (256, 64, 1)], (32, 128)), ("Gemm", [(31, 70, 1), (70, 33, 1)], (5, 31)),
         ("Conv", [(32, 64, 3), (64, 32, 1)], (1, 32, 14, 14)), ("Conv", [(3, 40, 3), (40, 24, 3)], (1, 3, 9, 11)),
         ("Conv", [(36, 5, 3)], (2, 36, 13, 13))]


def check(case, type_name, precision, folder, args):
    kind, sizes, shape = case
    x = RANDOM.normal(0, 1, shape).astype(np.float16).astype(np.float32)
    weights = list(layers(kind, sizes))
    path, engine = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pbe")
    onnx.save(model(kind, weights, x, type_name), path)
    np.save(os.path.join(folder, "x.npy"), x.astype(TYPES[type_name][0]))
    pbc = [os.path.join(args.bin, "pbc"), path, f"--target={args.target}"]
    pbc += [f"--precision={precision}"] if type_name == "f32" else []
    tools.run([*pbc, "-o", engine])
    out = os.path.join(folder, "y.npy")
    tools.run([os.path.join(args.bin, "pb-run"), engine, f"--input={folder}/x.npy", f"--output={out}"])
    got = np.load(out)
    wanted, size = expected(kind, weights, x, type_name, precision)
    step = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-22}  # two of the last places of what is rounded between layers
    allowed = size * (step[type_name] + (step[precision] if len(sizes) > 1 and type_name == "f32" else 0)) + 1e-6
    worst = float(np.max(np.abs(got.astype(np.float64) - wanted) / allowed))
    named = tools.run([*pbc, "--explain"])
    even = all(ins % 2 == 0 and outs >= 8 for ins, outs, _ in sizes)  # of fewer outputs lanes of channels are summed apart
    instruction = args.product.replace("H", "B") if precision == "bf16" else args.product
    good = got.dtype == TYPES[type_name][0] and worst <= 1 and (not args.product or not even or named.count(instruction) == len(sizes))
    print(f"{kind} {sizes[0][0]} of {type_name}, products of {precision}: {worst:.2f} of what sums may differ"
          f"{'' if good else ': WRONG, or no ' + instruction}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="nvgpu")
    parser.add_argument("--product", default="HFMA")
    args = parser.parse_args()
    os.environ["PB_PTXAS"] = ""  # the machine runs the text
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            good &= check(case, "f16", "f16", folder, args)
            for precision in ("f16", "bf16") if args.product else ():
                good &= check(case, "f32", precision, folder, args)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
