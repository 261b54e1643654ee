#!/usr/bin/env bash
# Compiles the digits network for a chip that exists as a description only and runs the images (all, or the first N) on
# the machine generated from that description; every bit of the logits must be the NumPy reference's,
# and its cycles within 10% of those predicted.
# Usage: check.sh BIN_FOLDER FILE.td PYTHON WORK_FOLDER [N]
set -euo pipefail
bin=$1 chip=$2 python=$3 work=$4 images=${5:-360}
models=$(cd "$(dirname "$0")/../models" && pwd)
"$python" -c 'import numpy, onnx' 2> /dev/null || { echo "chips: numpy or onnx is missing"; exit 77; }
mkdir -p "$work"
cd "$work"
"$bin/pb-tdl" check "$chip"
"$bin/pbc" "$models/digits.onnx" --target="$chip" -o digits.pbe
"$python" -c 'import sys, numpy as np; np.save("images.npy", np.load(sys.argv[1])[:int(sys.argv[2])])' "$models/digits_images.npy" "$images"
"$python" "$models/reference.py" "$models/digits.onnx" --input images.npy --output expected.npy
"$bin/pb-run" digits.pbe --device=machine --input=images.npy --output logits.npy --stats=stats.json --expect=expected.npy
"$python" - "$models/digits_labels.npy" <<'P'
import json, sys, numpy as np
steps = [s for s in json.load(open("stats.json"))["steps"] if s["cycles"]]
cycles, predicted = (sum(s[k] for s in steps) for k in ("cycles", "predicted_cycles"))
print(f"{cycles} cycles, {predicted} predicted, {100 * (predicted / cycles - 1):+.1f}%")
if abs(predicted / cycles - 1) > 0.1:
    sys.exit("the prediction is more than 10% off")
classes = np.load("logits.npy").argmax(1)
right = int((classes == np.load(sys.argv[1])[:len(classes)]).sum())
print(f"{right} of {len(classes)} digits read right")
sys.exit(right < 0.95 * len(classes))
P
