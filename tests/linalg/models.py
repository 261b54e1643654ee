"""ResNet-18 and a BERT of two layers as torch-mlir wrote them (data/, made by export.py), with seeded weights in blobs behind
the module: compiled for the cpu and run, against ONNX Runtime on what PyTorch exported of the same networks.

    tests/linalg/models.py --bin build/bin [--only bert] [--target cpu]"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnxruntime", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import text  # noqa: E402

DATA = Path(__file__).parent / "data"
MOST = 1e-4  # of the largest output


def drawn(random, name, shape):
    if name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    fan = int(np.prod(shape[1:])) if len(shape) > 1 else 100
    return (random.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def blobs(weights, names):
    """The section behind the module, as MLIR prints it."""
    lines = [f'      {blob}: "0x04000000{weights[name].tobytes().hex().upper()}"' for blob, name in names.items()]
    return "\n{-#\n  dialect_resources: {\n    builtin: {\n" + ",\n".join(lines) + "\n    }\n  }\n#-}\n"


def draw(name):
    """The text with its weights, the inputs, and ONNX Runtime's outputs."""
    random = np.random.default_rng(18)
    about = json.loads((DATA / f"{name}.json").read_text())
    graph = onnx.load(DATA / f"{name}.onnx")
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in graph.graph.input}
    weights = {n: drawn(random, n, shapes[n]) for n in sorted(shapes) if n not in about["inputs"]}
    if name == "bert":
        length = shapes["input0"][1]
        inputs = [random.integers(0, 500, (1, length)), random.integers(0, 2, (1, length)), (np.arange(length) < 17)[None].astype(np.int64)]
    else:
        inputs = [random.standard_normal(shapes["input0"]).astype(np.float32)]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(DATA / f"{name}.onnx"), options)
    wanted = session.run(None, {**weights, **dict(zip(about["inputs"], inputs))})
    return (DATA / f"{name}.mlir").read_text() + blobs(weights, about["weights"]), inputs, wanted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--only")
    parser.add_argument("--target", default="cpu")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = text.Bench(args.bin, folder, args.target)
        for name in [args.only] if args.only else ["resnet18", "bert"]:
            model, inputs, wanted = draw(name)
            for k, (got, want) in enumerate(zip(bench.run(model, inputs, len(wanted)), wanted)):
                away = np.abs(got.astype(np.float64) - want).max() / np.abs(want).max()
                bench.say(got.shape == want.shape and away <= MOST, f"{name}, out{k}: {away:.1e} of the largest from ONNX Runtime")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
