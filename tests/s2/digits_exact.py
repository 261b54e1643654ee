"""Stage S2 of the digits model, run by the JIT on some test images, equals reference.py bit for bit.

    digits_exact.py S2_RUN
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models")
sys.path.insert(0, MODELS)
from reference import Reference  # noqa: E402

IMAGES = 24  # each one compiles the model anew


def main():
    path = os.path.join(MODELS, "digits.onnx")
    images = np.load(os.path.join(MODELS, "digits_images.npy"))[:IMAGES].astype(np.float32)
    reference = Reference(onnx.load(path))
    expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in"), os.path.join(folder, "out")
        images.tofile(source)
        subprocess.run([sys.argv[1], path, source, result], check=True)
        actual = np.fromfile(result, np.float32).reshape(expected.shape)
    wrong = np.count_nonzero(actual.view(np.int32) != expected.view(np.int32))
    print(f"{expected.size} numbers, {wrong} differ, top-1 classes seen: {len(set(actual.argmax(1)))}")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
