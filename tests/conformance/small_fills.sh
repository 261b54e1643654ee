#!/usr/bin/env bash
# Memories whose loads move little: programs fill what they work on, by as few commands as can be.
# Usage: small_fills.sh PB_TARGET_TEST SIMNPU.td WORK
set -euo pipefail
test=$1 chip=$2 work=$3
rm -rf "$work" && mkdir -p "$work"
loads() { # CHIP CASE: commands of L0 in its program
  "$test" "$1" --filter="$2" --emit-vectors="$work/vectors" > "$work/log"
  sed -n 's/^queue L0 .*hex \([0-9]*\) commands.*/\1/p' "$work/vectors/${2//\//-}/program.txt"
}
few() { # COUNT MOST WHAT
  [ "$1" -le "$2" ] || { echo "$3: $1 commands, more than $2"; exit 1; }
}
# Words at steps of a byte would lie over each other: then the other dims say where they go, thousands in a command.
sed '/^class LoadA</,/^}/s/"lj", "elem"/"lj", "1"/' "$chip" > "$work/steps.td"
[ "$(diff "$chip" "$work/steps.td" | grep -c '^>')" = 1 ]
few "$(loads "$work/steps.td" insn/VADD/random)" 100 "loads at steps of a byte"
# Eight bytes a command: of what an instruction does not work on, parts are enough.
sed '/^class LoadA</,/^}/s/let Dims = .*/let Dims = [Dim<"i", 1, "ni">, Dim<"j", 1, "nj">, Dim<"b", 2, "nb">];/' "$chip" > "$work/small.td"
[ "$(diff "$chip" "$work/small.td" | grep -c '^>')" = 1 ]
few "$(loads "$work/small.td" insn/STS/largest-b)" 5000 "loads of eight bytes"
