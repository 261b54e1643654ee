#!/usr/bin/env bash
# The Python package as a wheel lays it out: libpb and what it needs beside it, in a folder that was moved.
# Usage: python.sh CMAKE BUILD WORK SOURCE PYTHON
set -euo pipefail
cmake=$1 build=$2 work=$3 source=$4 python=$5
"$python" -c 'import numpy' 2> /dev/null || { echo "skipped: $python has no numpy"; exit 77; }
rm -rf "$work" && mkdir -p "$work/first"
"$cmake" --install "$build" --component python --prefix "$work/first/polyblocks" > "$work/install.log"
cp "$source"/python/polyblocks/*.py "$work/first/polyblocks/"
cp -r "$source/python/polyblocks/aten" "$work/first/polyblocks/"
mv "$work/first" "$work/moved"
unset PB_LIBRARY
POLYBLOCKS_CACHE= PYTHONPATH="$work/moved" "$python" - "$source/tests/models" "$work/moved" << 'END'
import sys

import numpy as np
import polyblocks
from polyblocks.library import library

models, package = sys.argv[1:]
for target, least in (("cpu", 0.9), ("simnpu", 0.9)):
    engine = polyblocks.compile(f"{models}/digits.onnx", target=target)
    images, labels = np.load(f"{models}/digits_images.npy"), np.load(f"{models}/digits_labels.npy")
    info = engine.inputs[0]
    count = info.shape[0]
    found = [engine(images[k : k + count].reshape(info.shape).astype(info.dtype)) for k in range(0, len(images) - count + 1, count)]
    right = np.mean(np.concatenate(found).argmax(1) == labels[: len(found) * count])
    print(f"{target}: {100 * right:.1f}% of the digits right")
    assert right >= least
assert library().path.startswith(package), library().path
END
