#!/usr/bin/env bash
# Installs into a folder, moves that, and uses it: a target out of the tree is compiled for and run, and a project that knows
# nothing but find_package(pb) builds a driver, a program that runs an engine on the machine, and one that compiles.
# Usage: install.sh CMAKE BUILD WORK TESTS
set -euo pipefail
cmake=$1 build=$2 work=$3 tests=$4
rm -rf "$work" && mkdir -p "$work/targets/mynpu"
"$cmake" --install "$build" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/moved"
bin=$work/moved/bin

# Only this installation's pb.td has the class, so only this one can have been read.
echo 'class OfThisInstallation;' >> "$work/moved/share/pb/tdl/pb.td"
sed 's/^include "pb.td"/&\ndef : OfThisInstallation;/' "$tests/chips/tinynpu.td" > "$work/targets/mynpu/mynpu.td"
"$bin/pb-tdl" check mynpu --target-dir="$work/targets"
PB_TARGET_PATH=$work/absent:$work/targets "$bin/pb-tdl" check mynpu
"$bin/pbc" "$work/moved/share/pb/tests/models/digits.onnx" --target=mynpu --target-dir="$work/targets" -o "$work/digits.pbe"
"$bin/pb-run" "$work/digits.pbe" --input="$tests/models/digits_images.npy" --output="$work/on_machine.npy"
"$bin/pbc" "$tests/models/digits.onnx" --target=cpu -o "$work/cpu.pbe"
"$bin/pb-run" "$work/cpu.pbe" --input="$tests/models/digits_images.npy" --expect="$work/on_machine.npy"

# A name that is nowhere: where it was looked for.
"$bin/pb-tdl" check nosuch --target-dir="$work/absent" 2> "$work/error" && exit 1
grep -q "no nosuch/nosuch.td or nosuch.td in $work/absent (no such folder), .*moved/share/pb/targets.*PB1010" "$work/error" || {
  cat "$work/error"
  exit 1
}

unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
"$cmake" -S "$tests/install/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/moved" > "$work/consumer.log"
"$cmake" --build "$work/consumer" >> "$work/consumer.log" || { cat "$work/consumer.log"; exit 1; }
"$work/consumer/run" "$work/digits.pbe"
"$work/consumer/compile"
PB_TARGET_PATH=$work/targets "$work/consumer/compile" "$work/moved/share/pb/tests/models/digits.onnx" mynpu
"$bin/pb-run" "$work/digits.pbe" --device="$work/consumer/driver.so" --input=random:1 2> "$work/error" && exit 1
grep -q "driver.so': opening: this driver drives nothing" "$work/error" || { cat "$work/error"; exit 1; }
