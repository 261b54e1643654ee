#!/usr/bin/env bash
# A driver that crashes ends the suite with the case, the signal and a command, and the results are written.
# Usage: crash.sh PB_TARGET_TEST CHIP.td DRIVER
set -euo pipefail
test=$1 chip=$2 driver=$3
junit=$(mktemp)
trap 'rm -f "$junit"' EXIT
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # nobody closes a driver that has crashed
code=0
out=$("$test" "$chip" --filter=insn/ --device="$driver" --device-options=td="$chip",says=crash --junit="$junit") || code=$?
fail() { echo "$1: exit code $code: $out"; exit 1; }
[ $code = 1 ] || fail "a crash is a failure"
grep -q "^FAILED   insn/GETB/" <<< "$out" || fail "the case is not named"
grep -q "crashed (Segmentation fault) in a program of [0-9]* commands, the last before the chip is drained is GETB " <<< "$out" || fail "no command is named"
grep -q "has crashed: the cases behind that one were not run" <<< "$out" || fail "what was left out is not said"
grep -q " 1 failed" <<< "$out" || fail "one case failed"
grep -q 'failures="1"' "$junit" || fail "the results are not written"
