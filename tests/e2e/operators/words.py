"""An input of i64 on a chip that has words alone: numbers up to what the engine says are counted as the cpu counts them, one past it
is refused with its place.

    words.py --bin BUILD/bin
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from regressions import CASES, DEVICES  # noqa: E402


class Engines:
    def __init__(self, folder, binaries, name):
        self.folder, self.binaries = folder, binaries
        self.model = os.path.join(folder, "m.onnx")
        onnx.save(CASES[name]().model, self.model)
        for target in DEVICES:
            tools.run([os.path.join(binaries, "pbc"), self.model, f"--target={target}", "-o", os.path.join(folder, f"{target}.pbe")])

    def run(self, target, name, numbers):
        """What pb-run left, and its output if it went well."""
        given, output = (os.path.join(self.folder, file) for file in ("x.npy", "y.npy"))
        np.save(given, np.array(numbers, np.int64).reshape(1, -1))
        told = tools.call([os.path.join(self.binaries, "pb-run"), os.path.join(self.folder, f"{target}.pbe"), f"--device={DEVICES[target]}",
                           f"--input={name}={given}", f"--output={output}"], 120)
        return told, None if told.returncode else np.load(output)


def problems(engines):
    for numbers in ([1] * 12 + [0] * 4, [0] * 16, [3, -3] * 8):
        (_, ours), (_, cpus) = (engines.run(target, "mask", numbers) for target in DEVICES)
        if ours is None or cpus is None or not np.array_equal(ours, cpus):
            yield f"{numbers}: {ours} on simnpu, {cpus} on the cpu"
    for far in (2**33, -(2**62), 2**31):
        told, made = engines.run("simnpu", "mask", [1] * 5 + [far] + [0] * 10)
        if made is not None or told.returncode != 1 or not all(text in told.stderr for text in ("[PB5054]", "mask", f"element 5 is {far}")):
            yield f"{far} is not refused: exit code {told.returncode}, {told.stderr.strip()[-300:]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = list(problems(Engines(folder, args.bin, "places_of_an_alibi")))
    print("\n".join(found) if found else "6 inputs: as they should be")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
