"""Models whose weights lie in files of their own, with seeded places of those files: up, away, through links, at other offsets. Each is
refused with a code, or its engine has what lies in the model's folder, and never what lies outside.

    escapes.py --bin BUILD/bin [--count 200] [--seed 1]
"""

import argparse
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import mutants  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

SIZE = 64
SECRET = np.full(2 * SIZE, 1234.5, np.float32)
PARTS = ["weights.bin", "weights.bin", "sub/weights.bin", "..", ".", "", "weights.bin", "secret.bin", "sub", "sub/weights.bin", "link.bin", "linked", "hard.bin", "model.onnx", "inside", "..\\", "%2e%2e",
         "weights.bin\0", "~", "/proc/self/environ", "/dev/zero", "/dev/stdin", "fifo"]


def furnish(root):
    """The model's folder in a folder that holds a secret, and ways from the one to the other."""
    inside = os.path.join(root, "inside")
    os.makedirs(os.path.join(inside, "sub"))
    weights = np.arange(2 * SIZE, dtype=np.float32)
    for path in ("weights.bin", "sub/weights.bin"):
        weights.tofile(os.path.join(inside, path))
    secret = os.path.join(root, "secret.bin")
    SECRET.tofile(secret)
    os.symlink(secret, os.path.join(inside, "link.bin"))
    os.symlink(root, os.path.join(inside, "linked"))
    os.link(secret, os.path.join(inside, "hard.bin"))
    os.mkfifo(os.path.join(inside, "fifo"))
    return inside


def model(rng, root):
    """Its bytes; a place is drawn from parts, mostly of few."""
    place = "/".join(rng.choice(PARTS) for _ in range(rng.choice([1, 1, 2, 3, 5])))
    place = rng.choice([place, place, place, os.path.join(root, "secret.bin"), "file://" + place])
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[SIZE], data_location=TensorProto.EXTERNAL)
    entries = {"location": place, "length": str(SIZE * 4)}
    if rng.random() < 0.3:
        entries["offset"] = str(rng.choice([0, 4, 128, SIZE * 4, SIZE * 4 + 4, -4, 1 << 40, "x"]))
    if rng.random() < 0.3:
        entries["length"] = str(rng.choice([SIZE * 4, 0, 4, -1, 1 << 62]))
    for key, value in entries.items():
        w.external_data.add(key=key, value=value)
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [SIZE])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [SIZE])])
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    whole.graph.initializer.append(w)
    return whole.SerializeToString(), entries


def judge(bin_dir, inside, entries):
    engine = os.path.join(inside, "..", "x.pbe")
    code, printed = mutants.run([os.path.join(bin_dir, "pbc"), os.path.join(inside, "model.onnx"), "--target=cpu", "-o", engine])
    if mutants.refused(code, printed):
        return "refused"
    if code != 0:
        return f"wrong: pbc: exit code {code}: {printed[-200:]}"
    with open(engine, "rb") as file:
        data = file.read()
    if SECRET[:4].tobytes() in data:
        return "wrong: the engine has what lies outside of the model's folder"
    first = int(entries.get("offset", 0)) // 4
    return "right" if np.arange(first, first + SIZE, dtype=np.float32)[SIZE // 2:].tobytes() in data else "wrong: the weights are others"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts = {"refused": 0, "right": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as root:
        inside = furnish(root)
        for k in range(args.count):
            data, entries = model(random.Random(args.seed * 1000003 + k), root)
            with open(os.path.join(inside, "model.onnx"), "wb") as file:
                file.write(data)
            found = judge(args.bin, inside, entries)
            counts[found.split(":")[0]] += 1
            if found.startswith("wrong"):
                print(f"FAILED {k}, {entries}: {found}", flush=True)
    for what, count in counts.items():
        print(f"{count:6} place {what}")
    return int(counts["wrong"] > 0 or (args.count >= 100 and not counts["right"]))


if __name__ == "__main__":
    sys.exit(main())
