#!/usr/bin/env bash
# Compiles the digits network for a chip that exists as a description only and runs all 360 images on the machine
# generated from that description; every bit of the logits must be the NumPy reference's.
# Usage: check.sh BIN_FOLDER FILE.td PYTHON WORK_FOLDER
set -euo pipefail
bin=$1 chip=$2 python=$3 work=$4
models=$(cd "$(dirname "$0")/../models" && pwd)
"$python" -c 'import numpy, onnx' 2> /dev/null || { echo "chips: numpy or onnx is missing"; exit 77; }
mkdir -p "$work"
cd "$work"
"$bin/pb-tdl" check "$chip"
"$bin/pbc" "$models/digits.onnx" --target="$chip" -o digits.pbe
"$python" "$models/reference.py" "$models/digits.onnx" --input "$models/digits_images.npy" --output expected.npy
"$bin/pb-run" digits.pbe --device=machine --input="$models/digits_images.npy" --output logits.npy --stats --expect=expected.npy
"$python" - "$models/digits_labels.npy" <<'P'
import sys, numpy as np
classes = np.load("logits.npy").argmax(1)
right = int((classes == np.load(sys.argv[1])).sum())
print(f"{right} of {len(classes)} digits read right")
sys.exit(right < 0.95 * len(classes))
P
