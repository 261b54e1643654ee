#!/usr/bin/env bash
# Where pb-run --device=rtl looks for a chip's library: the folders of PB_DEVICE_PATH in order, by target and variant.
# Usage: rtl_path.sh BIN TESTS WORK DRIVER
set -euo pipefail
bin=$1 tests=$2 work=$3 driver=$4 chip=$2/../targets/simnpu/simnpu.td
rm -rf "$work" && mkdir -p "$work"/{first,second,empty,wrong,bin}
"$bin/pbc" "$tests/models/digits.onnx" --target=simnpu -o "$work/plain.pbe"
"$bin/pbc" "$tests/models/digits.onnx" --target=simnpu:8 -o "$work/eight.pbe"
cp "$bin/pb-run" "$work/bin/pb-run" # whose own folder has no library beside it
run() { # FOLDERS ENGINE VARIANT: its output
  PB_DEVICE_PATH=$1 "$work/bin/pb-run" "$work/$2.pbe" --input=random:1 --device=rtl --device-options=td="$chip" 2>&1 || true
}
expect() { # WORDS FOLDERS ENGINE
  run "$2" "$3" > "$work/log"
  grep -q "$1" "$work/log" || { echo "not '$1' for $2 $3:"; cat "$work/log"; exit 1; }
}
none="no RTL of 'simnpu' was found .PB5024"
expect "$none" "" plain
expect "$none" "$work/empty:$work/absent" plain
cp "$driver" "$work/second/libsimnpu_rtl.so"
expect "logits: 1x10xf32" "$work/second" plain
expect "logits: 1x10xf32" "$work/empty::$work/second" plain
expect "no RTL of 'simnpu:8' was found .PB5024" "$work/second" eight # of a variant only its own
cp "$driver" "$work/second/libsimnpu_rtl_default.so"
rm "$work/second/libsimnpu_rtl.so"
expect "logits: 1x10xf32" "$work/second" plain
# The first folder counts, whatever lies in it.
echo "no library" > "$work/first/libsimnpu_rtl_default.so"
expect "first/libsimnpu_rtl_default.so: error: cannot load the device" "$work/first:$work/second" plain
expect "logits: 1x10xf32" "$work/second:$work/first" plain
# Beside pb-run: as built, as installed, in a target's folder.
for folder in lib lib/pb targets/simnpu; do
  mkdir -p "$work/$folder"
  cp "$driver" "$work/$folder/libsimnpu_rtl.so"
  expect "logits: 1x10xf32" "" plain
  rm "$work/$folder/libsimnpu_rtl.so"
  expect "$none" "" plain
done
