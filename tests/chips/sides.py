"""Arrays whose two sides differ, and vectors of another width: the digits on tinynpu's machine with each, to the bit, with
weights row by row and column by column.

    sides.py --bin BUILD/bin [--images 20]
"""

import argparse
import math
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402

SIDES = [(8, 16, 8), (8, 8, 4), (16, 8, 16), (4, 8, 8), (16, 4, 8), (8, 4, 16), (24, 8, 8), (12, 8, 4)]  # rows, columns, vectors
COLUMNS = [('Window<BUF, I8, ["k", "n"], "src"', 'Window<BUF, I8, ["n", "k"], "src"'),
           ('Window<WB, I8, ["k", "n"], "bank"', 'Window<WB, I8, ["n", "k"], "bank"'),
           ("let RowBytes = N; let Banks = 2; let BytesPerCycle = N;", "let RowBytes = K; let Banks = 2; let BytesPerCycle = K;")]


def description(rows, columns, vectors, by_columns):
    with open(os.path.join(HERE, "tinynpu.td"), encoding="utf-8") as file:
        text = file.read()
    for old, new in COLUMNS if by_columns else []:
        assert old in text, old
        text = text.replace(old, new)
    numbers = dict(K=rows, N=columns, V=vectors, U=math.gcd(rows, columns, vectors))
    width = 1 << (max(rows, columns, vectors) - 1).bit_length()
    text, found = re.subn(r"defvar W = .*?;", f"defvar W = {width};", text)
    assert found == 1
    return "#define SIDES\n" + "".join(f"defvar {name} = {number};\n" for name, number in numbers.items()) + text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--images", type=int, default=20)
    args = parser.parse_args()
    model = os.path.join(tools.MODELS, "digits.onnx")
    images = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:args.images]
    reference, failed = Reference(onnx.load(model)), 0
    expected = np.concatenate([reference.run({reference.inputs[0]: image[None]})[reference.outputs[0]] for image in images])
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
        target, engine = os.path.join(folder, "sides.td"), os.path.join(folder, "e.pbe")
        np.save(source, images)
        for sides in SIDES:
            for by_columns in (False, True):
                with open(target, "w", encoding="utf-8") as file:
                    file.write(description(*sides, by_columns))
                try:
                    tools.compile_model(args.bin, model, target, engine)
                    tools.run_engine(args.bin, engine, "machine", source, output)
                    wrong = np.count_nonzero(np.load(output).reshape(expected.shape) != expected)
                except tools.Failed as error:
                    wrong = str(error)
                print(f"{sides}{' by columns' if by_columns else ''}: {wrong} differ")
                failed += wrong != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
