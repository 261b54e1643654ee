"""DFT and STFT of real and complex numbers, of one half and of all, forwards and back, cut off and filled up, by passes and by
products, against NumPy in f64; on 1 and 7 threads the same bits.

    tests/onnx/transforms.py --bin build/bin"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
THREADS = 1, 7
CASES = [  # shape without the last dim, axis, complex, inverse, onesided, length (0: all), f64
    ((4, 1024), 1, 0, 0, 1, 0, 0), ((3, 400), 1, 0, 0, 0, 0, 0), ((20, 60), 1, 1, 0, 0, 0, 1), ((20, 60), 1, 1, 1, 0, 0, 0), ((2, 600), 1, 0, 1, 0, 0, 0),
    ((64, 17), 0, 0, 0, 1, 0, 0), ((64, 17), 0, 1, 0, 1, 0, 0), ((2, 48, 5), 1, 1, 0, 0, 40, 0), ((18, 50), 1, 0, 0, 1, 64, 0), ((18, 50), 1, 1, 1, 0, 56, 1),
    ((3, 67), 1, 1, 0, 0, 0, 0), ((2, 97), 1, 0, 0, 1, 0, 0), ((1, 2048), 1, 1, 0, 0, 0, 0), ((5, 45), 1, 0, 0, 1, 0, 0),
]  # fmt: skip


def dft(x, axis, inverse, onesided, length):
    length = length or x.shape[axis]
    y = (np.fft.ifft if inverse else np.fft.fft)(x, length, axis)
    y = y.take(range(length // 2 + 1), axis) if onesided else y
    return np.stack([y.real, y.imag], -1)


def judge(checks, what, nodes, x, constants, want, dtype):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TYPES[dtype], x.shape)], [helper.make_tensor_value_info("y", TYPES[dtype], want.shape)],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    model, engine, data, out = (str(checks.folder / name) for name in ("m.onnx", "m.pbe", "x.npy", "y.npy"))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
    tools.run([f"{checks.bin}/pbc", model, "--target=cpu", "-o", engine])
    np.save(data, x)
    made = []
    for threads in THREADS:
        tools.run([f"{checks.bin}/pb-run", engine, f"--threads={threads}", "--input", data, "--output", out])
        made.append(np.load(out))
    away = float(np.abs(made[0] - want).max() / np.abs(want).max())
    same = all(m.tobytes() == made[0].tobytes() for m in made)
    checks.say(same and away <= (1e-13 if dtype == "float64" else 2e-6), f"{what}: {away:.2g} of the largest away{'' if same else ', other bits on other threads'}")


def cases(checks):
    rng = np.random.default_rng(41)
    for shape, axis, is_complex, inverse, onesided, length, wide in CASES:
        dtype = "float64" if wide else "float32"
        x = rng.standard_normal((*shape, 1 + is_complex)).astype(dtype)
        want = dft(x[..., 0] + 1j * x[..., 1] if is_complex else x[..., 0].astype(np.float64), axis, inverse, onesided, length)
        node = helper.make_node("DFT", ["x", "n"] if length else ["x"], ["y"], axis=axis, inverse=inverse, onesided=onesided)
        constants = {"n": np.array(length)} if length else {}
        judge(checks, f"DFT of {shape} along {axis}, complex {is_complex}, inverse {inverse}, onesided {onesided}, length {length}, {dtype}", [node], x, constants, want, dtype)
    x, window = rng.standard_normal((2, 3000, 1)).astype(np.float32), np.hanning(400).astype(np.float32)
    for length, step in ((400, 160), (256, 100), (67, 50)):
        frames = np.lib.stride_tricks.sliding_window_view(x[..., 0].astype(np.float64), length, 1)[:, ::step] * window[:length]
        node = helper.make_node("STFT", ["x", "s", "w"], ["y"])
        constants = {"s": np.array(step), "w": window[:length]}
        judge(checks, f"STFT of frames of {length}", [node], x, constants, dft(frames, 2, 0, 1, 0), "float32")


if __name__ == "__main__":
    sys.exit(tools.run_checks(tools.Checks, cases))
