#!/usr/bin/env bash
# The chip in another process passes the suite and runs the digits as the machine does; one that ends or does not answer is a
# fault that says so; another chip behind it is found out.
# Usage: process.sh BIN DRIVER TESTS WORK [OPTIONS of pb-target-test]
set -euo pipefail
bin=$1 driver=$2 tests=$3 work=$4 chip=$3/chips/tinynpu.td
rm -rf "$work" && mkdir -p "$work"
options=chip=$bin/toy_chip,td=$chip
"$bin/pb-target-test" "$chip" --device="$driver" --device-options="$options" ${5:-}
"$bin/pbc" "$tests/models/digits.onnx" --target="$chip" -o "$work/digits.pbe"
run() { "$bin/pb-run" "$work/digits.pbe" --input=random:1 --device=machine --compare="$driver" --compare-options="$1"; }
run "$options" > "$work/log"
grep -q "agree in every byte; the last took \([0-9]*\) and \1 cycles" "$work/log" || { cat "$work/log"; exit 1; }
must_say() { # TEXT OPTIONS
  run "$2" > "$work/log" 2>&1 && exit 1
  grep -q "$1" "$work/log" || { cat "$work/log"; exit 1; }
}
PB_TOY_CHIP=dies must_say "toy_driver.so.*the chip's process has ended" "$options"
PB_TOY_CHIP=sleeps must_say "toy_driver.so.*the chip does not answer" "$options,seconds=1"
must_say "chip=PROGRAM,td=FILE.td name the chip" "none"
must_say "absent: No such file" "chip=absent,td=$chip"
# what stays on the chip nobody outside sees: the step that is wrong shows where all tensors go through memory
"$bin/pbc" "$tests/models/digits.onnx" --target="$chip" --between=system -o "$work/digits.pbe"
sed 's/(acc_max $d, $keep, $x)/(acc_add $d, $keep, $x)/' "$chip" > "$work/other.td"
must_say "step 2, kernel k2 .* is the first that differs" "chip=$bin/toy_chip,td=$work/other.td"
# A driver without alloc_constants cannot have what lies in a memory of its own.
"$bin/pbc" "$tests/models/digits.onnx" --target="$tests/chips/tpu_v1.td" -o "$work/apart.pbe"
"$bin/pb-run" "$work/apart.pbe" --input=random:1 --device="$driver" --device-options="chip=$bin/toy_chip,td=$tests/chips/tpu_v1.td" > "$work/log" 2>&1 && exit 1
grep -q "allocates nothing in 'DRAM', in which constants lie .PB5024" "$work/log" || { cat "$work/log"; exit 1; }
# Nor one without alloc_constants_in what lies in one of several.
. "$tests/device/three_memories.sh"
three_memories "$tests/.." > "$work/three.td"
"$bin/pbc" "$tests/models/digits.onnx" --target="$work/three.td" -o "$work/three.pbe"
"$bin/pb-run" "$work/three.pbe" --input=random:1 --device="$driver" --device-options="chip=$bin/toy_chip,td=$work/three.td" > "$work/log" 2>&1 && exit 1
grep -q "allocates nothing in 'DRAM', in which constants lie .PB5024" "$work/log" || { cat "$work/log"; exit 1; }
grep -q "alloc_constants_in, of interface 3" "$work/log" || { cat "$work/log"; exit 1; }
