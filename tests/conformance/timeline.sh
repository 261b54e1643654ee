#!/usr/bin/env bash
# What a device says of its commands' times is looked at: each wrong word is found, and a command named.
# Usage: timeline.sh PB_TARGET_TEST CHIP.td DRIVER
set -euo pipefail
test=$1 chip=$2 driver=$3
"$test" "$chip" --filter=insn/MUL/ --device="$driver" --device-options=td="$chip" > /dev/null
finds() { # WHAT WORDS
  local out
  out=$("$test" "$chip" --filter=insn/MUL/ --device="$driver" --device-options=td="$chip",says="$1") && exit 1
  grep -q "the first command that differs is [A-Z]* in queue [A-Z]* (number [0-9]* there): it $2" <<< "$out" || { echo "$1: $out"; exit 1; }
}
finds number "is traced by the number of another"
finds end "is traced to end before it has begun"
finds early "is traced to begin before the program does"
finds few "has no end in the trace"
finds still "takes cycles, which the counter of those does not say"
finds idle "makes its queue busy, which the counter of that does not say"
