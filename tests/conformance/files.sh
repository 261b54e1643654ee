#!/usr/bin/env bash
# --junit and --emit-vectors: what stands in the files is what was run.
# Usage: files.sh PB_TARGET_TEST CHIP.td WORK DRIVER
set -euo pipefail
test=$1 chip=$2 work=$3 driver=$4
rm -rf "$work" && mkdir -p "$work"
"$test" "$chip" --filter=insn/MUL/ --junit="$work/right.xml" --emit-vectors="$work/vectors"
grep -q 'failures="0" skipped="0"' "$work/right.xml"
v=$work/vectors/insn-MUL-smallest
grep -q 'queue MX commands_MX.hex' "$v/program.txt"
for q in DM MX VX; do
  n=$(sed -n "s/^queue $q .*hex \([0-9]*\) commands.*/\1/p" "$v/program.txt")
  [ "$(wc -l < "$v/commands_$q.hex")" = "$n" ]
done
[ "$(head -n 1 "$v/commands_MX.hex" | tr -d '\n' | wc -c)" = 48 ] # 24 bytes
cmp "$v/argument_0_in.hex" "$v/argument_0_out.hex" # programs leave their inputs alone
! cmp -s "$v/argument_4_in.hex" "$v/argument_4_out.hex"
# A device that multiplies without sign.
sed 's/(mul (sext $x), (sext $wt))/(mul (sext $x), (zext $wt))/' "$chip" > "$work/other.td"
"$test" "$chip" --filter=insn/MUL/ --junit="$work/wrong.xml" --device="$driver" --device-options=td="$work/other.td" > "$work/log" && exit 1
grep -q '<failure message="[^"]*the first command that differs is MUL in queue MX' "$work/wrong.xml"
grep -q "byte [0-9]* of SUM: expected 0x.., found 0x" "$work/log"
