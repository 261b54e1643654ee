#!/usr/bin/env bash
# pb-run --device=A --compare=B: they agree, or the first step that differs is named.
# Usage: compare.sh BIN TESTS WORK DRIVER
set -euo pipefail
bin=$1 tests=$2 work=$3 driver=$4 chip=$2/chips/tinynpu.td
rm -rf "$work" && mkdir -p "$work"
"$bin/pbc" "$tests/models/digits.onnx" --target="$chip" -o "$work/digits.pbe"
run() { "$bin/pb-run" "$work/digits.pbe" --input=random:1 "$@"; }
run --device=machine --compare=machine --compare-options=seed=7 > "$work/log"
grep -q "1 samples, 7 steps each: machine and machine agree in every byte; the last took [0-9]* and [0-9]* cycles" "$work/log" || { cat "$work/log"; exit 1; }
run --compare="$driver" --compare-options=td="$chip" > "$work/log"
grep -q "machine and .*other_machine.so agree in every byte" "$work/log"
# The larger is the first. What stays on the chip nobody outside sees.
"$bin/pbc" "$tests/models/digits.onnx" --target="$chip" --between=system -o "$work/digits.pbe"
sed 's/(acc_max $d, $keep, $x)/(acc_add $d, $keep, $x)/' "$chip" > "$work/other.td"
run --compare="$driver" --compare-options=td="$work/other.td" > "$work/log" 2>&1 && exit 1
grep -q "sample 0: step 2, kernel k2 of 'conv1_f + maxpool_f', is the first that differs: byte [0-9]* of argument [0-9]*: machine has 0x.., .*other_machine.so has 0x.. .PB5061" "$work/log" || { cat "$work/log"; exit 1; }
