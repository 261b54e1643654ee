#!/usr/bin/env bash
# Instructions for nothing: a second one that does what another does at more cycles is named, one at fewer has the first named,
# and of a chip without such none is; what no kernel of the suite has a use for is listed. pbc --explain says it of a model.
# Usage: idle.sh BIN TESTS FOLDER
set -euo pipefail
bin=$1 chip=$2/chips/floatnpu.td work=$3
mkdir -p "$work"
# A second POOL, after the first, of so many more cycles of latency.
second() {
  awk -v more="$1" '{ print } /^def POOL : Vec<22> \{/ { on = 1 } on { text = text $0 "\n" } on && /^}/ {
    on = 0; sub("def POOL : Vec<22> {", "def POOL2 : Vec<63> {\n  let Latency = " more ";", text); printf "%s", text }' "$chip"
}
says() {
  "$bin/pb-target-test" "$1" --coverage --random=1 > "$work/said" || true
  grep '^  idle: [A-Z]' "$work/said" || true
}
expect() { [ "$2" = "$3" ] || { echo "$1: '$2', not '$3'"; exit 1; }; }
expect "floatnpu" "$(says "$chip")" ""
second 99 > "$work/dearer.td"
expect "a dearer one" "$(says "$work/dearer.td")" "  idle: POOL2 does what POOL does, which never takes more cycles"
second 0 > "$work/cheaper.td"
expect "a cheaper one" "$(says "$work/cheaper.td" | wc -l)" 1
expect "simnpu" "$(says simnpu)" ""
grep -q '^  idle: none of [0-9]* kernels and networks runs as .*VXORB' "$work/said"
"$bin/pbc" "$2/models/digits.onnx" --target=simnpu --explain > "$work/said"
grep -q '^no step runs as: .*VXORB' "$work/said"
! grep '^no step runs as: ' "$work/said" | grep -qw 'MMA\|LDS0\|VRQ'
