"""--precision=bf16: products by constants take both factors rounded to bf16 and sum in f32; nothing else changes.

    precision.py --bin BUILD/bin [--target cpu:bf16] [--every 1]

The reference is ONNX Runtime in f32 on an input and weights that are rounded before it sees them: a result that is as near to
it as sums in another order leave it was made from factors rounded so, once, to the nearest. Each case is also executed after
every pass (--bisect), on any machine; the machine code runs where the processor has the instruction.
"""

import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

CLOSE = 2e-5  # of the largest output: sums of some hundred terms in another order, numbers below the normal ones lost


def rounded(x):
    """f32 to bf16 and back, to the nearest, ties to even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def random(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def model(nodes, x, y, constants):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def matmul(rng, m, k, n):
    w, b = random(rng, k, n), random(rng, n)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "b"], ["y"])]
    return lambda f: model(nodes, [m, k], [m, n], {"w": f(w), "b": b}), True


def stacked(rng):
    w = random(rng, 64, 48)
    return lambda f: model([helper.make_node("MatMul", ["x", "w"], ["y"])], [2, 3, 10, 64], [2, 3, 10, 48], {"w": f(w)}), True


def gemm(rng):
    w, c = random(rng, 40, 96), random(rng, 40)
    nodes = [helper.make_node("Gemm", ["x", "w", "c"], ["y"], transB=1)]
    return lambda f: model(nodes, [9, 96], [9, 40], {"w": f(w), "c": c}), True


def conv(rng, channels, out, size, narrow=True, **attributes):
    groups = attributes.get("group", 1)
    w, b = random(rng, out, channels // groups, 3, 3), random(rng, out)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["a"], kernel_shape=[3, 3], **attributes),
             helper.make_node("Relu", ["a"], ["y"])]
    stride, pad = attributes.get("strides", [1, 1])[0], attributes.get("pads", [0])[0]
    side = (size + 2 * pad - 3) // stride + 1
    return lambda f: model(nodes, [1, channels, size, size], [1, out, side, side], {"w": f(w), "b": b}), narrow


def shared(rng):
    """Three products of one value: it is rounded once."""
    w = [random(rng, 32, 48) for _ in range(3)]
    nodes = [helper.make_node("MatMul", ["x", f"w{k}"], [f"a{k}"]) for k in range(3)]
    nodes += [helper.make_node("Add", ["a0", "a1"], ["s"]), helper.make_node("Add", ["s", "a2"], ["y"])]
    return lambda f: model(nodes, [17, 32], [17, 48], {f"w{k}": f(v) for k, v in enumerate(w)}), True


def odd(rng):
    """An odd number of terms has no neighbours for its last: it stays in f32."""
    w = random(rng, 63, 48)
    return lambda f: model([helper.make_node("MatMul", ["x", "w"], ["y"])], [20, 63], [20, 48], {"w": f(w)}), False


def left(rng):
    w = random(rng, 30, 64)
    return lambda f: model([helper.make_node("MatMul", ["w", "x"], ["y"])], [64, 48], [30, 48], {"w": f(w)}), False


def computed(rng):
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    return lambda f: model(nodes, [32, 64], [32, 32], {}), False


def behind(rng):
    """What is multiplied is not the input, but made of it without a rounding."""
    w, kinds = random(rng, 48, 40), ("Relu", "Neg", "Abs", "Neg")
    nodes = [helper.make_node(kind, [f"t{k}" if k else "x"], [f"t{k + 1}"]) for k, kind in enumerate(kinds)]
    nodes.append(helper.make_node("MatMul", [f"t{len(kinds)}", "w"], ["y"]))
    return lambda f: model(nodes, [21, 48], [21, 40], {"w": f(w)}), True


CASES = {
    "matmul": lambda r: matmul(r, 33, 64, 80), "row": lambda r: matmul(r, 1, 128, 50), "narrow": lambda r: matmul(r, 20, 6, 5),
    "long": lambda r: matmul(r, 14, 770, 48), "stacked": stacked, "gemm": gemm, "shared": shared,
    "conv": lambda r: conv(r, 64, 32, 9), "padded": lambda r: conv(r, 8, 24, 10, pads=[1] * 4),
    "strided": lambda r: conv(r, 32, 16, 11, pads=[1] * 4, strides=[2, 2]),
    "few": lambda r: conv(r, 3, 16, 9, narrow=False), "grouped": lambda r: conv(r, 32, 32, 8, narrow=False, group=2),
    "depthwise": lambda r: conv(r, 16, 16, 8, narrow=False, group=16), "odd": odd, "left": left, "computed": computed, "behind": behind}

STABLEHLO = """"builtin.module"() ({
  "func.func"() <{function_type = (tensor<6x32xf32>) -> tensor<6x32xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<6x32xf32>):
    %w = "stablehlo.constant"() <{value = dense<1.00390625> : tensor<32x32xf32>}> : () -> tensor<32x32xf32>
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>}> : (tensor<6x32xf32>, tensor<32x32xf32>) -> tensor<6x32xf32>
    "func.return"(%y) : (tensor<6x32xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def run(args, folder, engine, x, shape):
    np.save(f"{folder}/x.npy", x)
    tools.run([os.path.join(args.bin, "pb-run"), engine, "--input", f"{folder}/x.npy", "--output", f"{folder}/y.npy"])
    return np.load(f"{folder}/y.npy").reshape(shape)


def compiled(args, folder, path, *more):
    engine = f"{folder}/m.pbe"
    tools.run([os.path.join(args.bin, "pbc"), path, f"--target={args.target}", "-o", engine, *more])
    return engine


def judge(args, folder, name, rng, runs):
    make, narrow = CASES[name](rng)
    path = f"{folder}/m.onnx"
    onnx.save(make(lambda w: w), path)
    faults = []
    engine = compiled(args, folder, path, "--precision=bf16", "--bisect")
    s2 = tools.run([os.path.join(args.bin, "pbc"), path, f"--target={args.target}", "--precision=bf16", "--emit=s2"])
    if ("xi16>" in s2) != narrow:
        faults.append("not rounded" if narrow else "rounded")
    if len(re.findall(r"arith.trunci .* : i32 to i16", s2)) != int(narrow):
        faults.append("not rounded once")
    plan = tools.run([os.path.join(args.bin, "pbc"), path, f"--target={args.target}", "--precision=bf16", "--emit=plan"])
    args.tiles += 'instruction TDPBF16PS' in plan
    if ("DPBF16PS" in plan) != narrow:
        faults.append("other instructions:\n" + plan)
    if not runs:
        return faults
    session = onnxruntime.InferenceSession(make(rounded if narrow else lambda w: w).SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    x = random(rng, *session.get_inputs()[0].shape)
    want = session.run(None, {"x": rounded(x) if narrow else x})[0]
    got = run(args, folder, engine, x, want.shape)
    far = float(np.abs(got - want).max() / np.abs(want).max())
    if not far <= CLOSE:
        faults.append(f"{far:.2g} of the largest output off")
    wide = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    if narrow and np.abs(got - wide).max() / np.abs(wide).max() <= CLOSE:
        faults.append("as near to the result in f32: the case tells nothing")
    return faults


def judge_text(args, folder, runs):
    """StableHLO: 1 + 2^-8 lies between two numbers of bf16, and goes to the even one."""
    with open(f"{folder}/m.mlir", "w") as file:
        file.write(STABLEHLO)
    engine = compiled(args, folder, f"{folder}/m.mlir", "--precision=bf16", "--bisect")
    if not runs:
        return []
    got = run(args, folder, engine, np.ones((6, 32), np.float32), (6, 32))
    return [] if (got == 32).all() else [f"{got[0, 0]}, not 32"]


def judge_infinity(args, folder, runs):
    """20 channels fill no blocks of lanes: what an infinite one makes of the lanes behind them reaches no other channel."""
    w = [np.ones((20, 8, 1, 1), np.float32), np.ones((16, 20, 1, 1), np.float32)]
    nodes = [helper.make_node("Conv", ["x", "v"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "w"], ["y"])]
    path, x = f"{folder}/m.onnx", np.ones((1, 8, 8, 8), np.float32)
    onnx.save(model(nodes, [1, 8, 8, 8], [1, 16, 8, 8], {"v": w[0], "w": w[1]}), path)
    engine = compiled(args, folder, path, "--precision=bf16", "--bisect")
    if not runs:
        return []
    x[0, 0, 0, 0] = np.inf
    got = run(args, folder, engine, x, (1, 16, 8, 8))
    return [] if (got[:, :, 0, 0] == np.inf).all() and (got[:, :, 1:] == 160).all() else [f"{got[0, 0, 0, 0]}, not inf"]


def judge_words(args, folder):
    faults = []
    path = f"{folder}/m.onnx"
    onnx.save(CASES["matmul"](np.random.default_rng(1))[0](lambda w: w), path)
    pbc = os.path.join(args.bin, "pbc")
    wrong = tools.call([pbc, path, "--target=cpu", "--precision=bf17", "-o", f"{folder}/m.pbe"])
    if wrong.returncode != 1 or "PB1004" not in wrong.stderr or "f32, bf16, f16, f8e4m3 or f8e5m2" not in wrong.stderr:
        faults.append(f"bf17: {wrong.stderr}")
    without = tools.call([pbc, path, "--target=cpu:avx512", "--precision=bf16", "-o", f"{folder}/m.pbe"])
    if without.returncode != 0 or "PB4099" not in without.stderr:
        faults.append(f"a chip without such products: {without.stderr}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="cpu:bf16")
    parser.add_argument("--every", type=int, default=1, help="take every so manyth case only")
    args = parser.parse_args()
    args.tiles = 0  # cases that took the instruction on tiles
    runs = tools.runs_here(args.bin, args.target) and tools.runs_here(os.path.dirname(os.path.realpath(f"{args.bin}/pbc")), "cpu:bf16")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed, name in list(enumerate(CASES))[:: args.every]:
            faults = judge(args, folder, name, np.random.default_rng(seed), runs)
            failed += bool(faults)
            print(f"{name}: {'; '.join(faults) or 'as rounded'}")
        for name, faults in (("stablehlo", judge_text(args, folder, runs)),
                             ("infinity", judge_infinity(args, folder, runs)), ("words", judge_words(args, folder))):
            failed += bool(faults)
            print(f"{name}: {'; '.join(faults) or 'right'}")
    if (args.tiles > 0) != (args.target == "cpu:amx"):
        failed += 1
        print(f"{args.tiles} cases took tiles")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
