#!/usr/bin/env bash
# A new target of each class: made by the installed pb-target-new, built and tested as a project of its own against the
# installed package, with nothing written outside of its folder. As a folder of targets/ the SDK configures it too.
# Usage: target.sh CMAKE BUILD WORK SOURCE
set -euo pipefail
cmake=$1 build=$2 work=$3 source=$4
rm -rf "$work" && mkdir -p "$work/mine" "$work/builds"
"$cmake" --install "$build" --prefix "$work/sdk" > "$work/install.log"
export PATH=$work/sdk/bin:$PATH
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
touch "$work/stamp"
cd "$work/mine"
for class in npu cpu gpu; do
  pb-target-new "my$class" --class=$class
  "$cmake" -S "my$class" -B "$work/builds/$class" -DCMAKE_PREFIX_PATH="$work/sdk" > "$work/$class.log"
  "$cmake" --build "$work/builds/$class" >> "$work/$class.log" || { cat "$work/$class.log"; exit 1; }
  ctest --test-dir "$work/builds/$class" --output-on-failure
done
PB_TARGET_PATH=$work/mine pbc "$work/sdk/share/pb/tests/models/digits.onnx" --target=mynpu -o "$work/builds/digits.pbe"
pb-run "$work/builds/digits.pbe" --input="$source/tests/models/digits_images.npy" \
  --expect="$work/sdk/share/pb/tests/models/operators/digits_out.npy" --stats
touched=$(find "$work/sdk" "$source/targets" "$source/tdl" -newer "$work/stamp" -type f)
[ -z "$touched" ] || { echo "touched: $touched"; exit 1; }
others=$(find "$work/mine" -mindepth 1 -maxdepth 1 ! -name mynpu ! -name mycpu ! -name mygpu)
[ -z "$others" ] || { echo "beside the folders: $others"; exit 1; }
times > "$work/times"
read -r user system < <(tail -n 1 "$work/times")
echo "user $user, system $system"
seconds=$(echo "$user" | sed 's/m.*//')
[ "$seconds" -lt 1 ] || { echo "more than a minute of processor time"; exit 1; }

# Any name: words of TableGen, of the language, and of what the description itself has.
mkdir "$work/odd"
for name in int class def add MMA F32 DRAM Chip N _; do
  for class in npu cpu gpu; do
    pb-target-new $name --class=$class --out "$work/odd" > "$work/odd.log"
    pb-tdl check "$work/odd/$name/$name.td" >> "$work/odd.log" 2>&1 || { cat "$work/odd.log"; exit 1; }
    rm -r "$work/odd/$name"
  done
done

# Refused, with the reason.
pb-target-new x --class=dsp 2> "$work/error" && exit 1
grep -q "there is no class 'dsp' of targets.*PB1017" "$work/error"
pb-target-new mynpu --class=npu 2> "$work/error" && exit 1
grep -q "mynpu: error: it is there already.*PB1018" "$work/error"
pb-target-new a-b --class=npu 2> "$work/error" && exit 1
grep -q "'a-b' is no name for a target.*PB1016" "$work/error"

# In the tree: configured with the SDK, its driver built, its tests known. The SDK's other parts are links.
mkdir -p "$work/tree/targets"
for part in "$source"/*; do
  case $(basename "$part") in targets | build* | *.log) ;; *) ln -s "$part" "$work/tree/" ;; esac
done
for part in "$source"/targets/*; do ln -s "$part" "$work/tree/targets/"; done
pb-target-new intree --class=npu --out "$work/tree/targets"
"$cmake" -S "$work/tree" -B "$work/tree-build" -DPB_RTL=OFF > "$work/tree.log" 2>&1 || { cat "$work/tree.log"; exit 1; }
"$cmake" --build "$work/tree-build" --target intree_driver >> "$work/tree.log" || { cat "$work/tree.log"; exit 1; }
[ -f "$work/tree-build/lib/intree_driver.so" ]
ctest --test-dir "$work/tree-build" -N > "$work/tests"
grep -q intree_conformance "$work/tests"
