#!/usr/bin/env bash
# What pb-tdl prints of a chip, whole: its manual, its SystemVerilog package, its facts, pinned in printed.txt.
# Usage: printed.sh BIN TESTS [--write]
set -euo pipefail
bin=$1 tests=$2 pinned=$2/tdl/printed.txt
cd "$tests" # places are printed as they were given
all() {
  local chip what
  for chip in machine/toy.td chips/tinynpu_state.td chips/floatnpu.td cpu:amx; do
    for what in doc sv print; do
      echo "==== $what $chip"
      "$bin/pb-tdl" $what "$chip"
    done
  done
}
if [ "${3:-}" = --write ]; then all > "$pinned"; else diff "$pinned" <(all); fi
