"""An engine of open rows whose input is codes without a sign, handed to library_shapes.

    tests/library/shapes.py --bin build/bin
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"])]
    graph = helper.make_graph(nodes, "codes", [helper.make_tensor_value_info("x", TensorProto.UINT8, ["n", 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
                              [numpy_helper.from_array(np.float32(2), "s"), numpy_helper.from_array(np.uint8(3), "z")])
    with tempfile.TemporaryDirectory() as folder:
        model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
        tools.run([os.path.join(args.bin, "pbc"), model, "--target=cpu", "--dim", "n=?", "-o", engine])
        return subprocess.run([os.path.join(args.bin, "library_shapes"), engine], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
