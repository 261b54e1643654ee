#!/usr/bin/env bash
# pb-tdl diff: each kind of change by its line and its exit code; and an engine of the old description runs on a machine of
# the new one just when that is said.
# Usage: diff.sh BIN DRIVER TESTS WORK
set -euo pipefail
bin=$1 driver=$2 tests=$3 work=$4
rm -rf "$work" && mkdir -p "$work"
cd "$work"
cp "$tests/chips/tinynpu.td" old.td
"$bin/pbc" "$tests/models/digits.onnx" --target=old.td -o old.pbe
fail() { cat log; echo "$1" >&2; exit 1; }
diff_says() { # EXIT-CODE LINE SED...
  local code=$1 line=$2; shift 2
  cp old.td new.td
  for edit in "$@"; do sed -i "$edit" new.td; done
  cmp -s old.td new.td && [ "$#" -gt 0 ] && { echo "nothing was edited by $*"; exit 1; }
  local got=0
  "$bin/pb-tdl" diff old.td new.td > log 2>&1 || got=$?
  [ "$got" = "$code" ] || fail "exit code $got, not $code: $*"
  grep -q -- "$line" log || fail "no line '$line': $*"
}
runs() { "$bin/pb-run" old.pbe --input=random:3 --device=machine --compare="$driver" --compare-options=td="$work/new.td" > run 2>&1; }
still_runs() { diff_says 0 "$@"; grep -q "engines of revision 1 run on revision 1" log || fail "not said to run"; runs || { cat run; fail "does not run"; }; }
is_void() { diff_says 1 "$@"; grep -q "engines of revision 1 are void.*\|PB3140" log || fail "not said to be void"; ! runs || fail "runs all the same"; }
diff_says 0 "the descriptions are the same"
diff_says 0 "the descriptions are the same" 's|^// An 8x8|// An  8x8|'
still_runs "^plan   EXT.BytesPerCycle: 8 -> 16" 's/let BytesPerCycle = 8; let Latency = 60/let BytesPerCycle = 16; let Latency = 60/'
still_runs "^plan   DM.Tokens: 15 -> 31" 's/defvar Count = 15;/defvar Count = 31;/'
still_runs "^plan   REQ.Cycles: (times \$m, 2) -> (plus (plus" '/def REQ/,/^}/s/let Semantics/let Cycles = (plus (plus $m, 2), 7); let Semantics/'
still_runs "^text   GETB.Summary: " 's/load a box of bytes/loads a box of bytes/'
still_runs "^text   Chip.Summary: " 's/Test chip: an 8x8/A test chip: an 8x8/'
still_runs '^codes  sum: a new Formula' '$a def : Formula<"sum"> { let Operands = (ins Element<I32>:$sum, ByChannel<I32>:$bias, Imm<I8>:$shift); let Value = (sat8 (shr (add $sum, $bias), (sext $shift))); }'
still_runs "^plan   ZMEM: a new Memory$" '$a def ZMEM : Memory { let Bytes = 65536; let RowBytes = 8; let BytesPerCycle = 8; }'
is_void "^void   AMEM: a new Memory, and others get other numbers" '$a def AMEM : Memory { let Bytes = 65536; let RowBytes = 8; let BytesPerCycle = 8; }'
is_void "^void   MUL.Semantics: (acc_add .*(sext .wt))) -> .*(zext .wt)))" 's/(mul (sext $x), (sext $wt))/(mul (sext $x), (zext $wt))/'
is_void "^void   REQ.Inst: .*hi{0}" 's/let Inst{77-70} = hi;/let Inst{77-70} = lo;/; s/let Inst{69-62} = lo;/let Inst{69-62} = hi;/'
is_void "^void   Tokens.Queues: \[DM, MX, VX\] -> \[MX, DM, VX\]" 's/let Queues = \[DM, MX, VX\]/let Queues = [MX, DM, VX]/'
is_void "^void   SUMC: this Instruction is gone" 's/def SUMC/def SUMS/' '/def SUMS/,/^}/s/(sext $x)/(sub (i32c 0), (sext $x))/'
diff_says 1 "^void   BUF.Bytes: 32768 -> 16384" 's/let Bytes = !mul(4096, U);/let Bytes = !mul(2048, U);/'
sed -i '1i #define SEMAPHORES' old.td
diff_says 0 "^plan   SUMS.Most: 3 -> 7" 's/Semaphore<\[MX\], \[VX\], 3>/Semaphore<[MX], [VX], 7>/'
diff_says 1 "^void   SUMS.Most: 3 -> 2" 's/Semaphore<\[MX\], \[VX\], 3>/Semaphore<[MX], [VX], 2>/'
diff_says 1 "^void   FREE.Givers: .*MX, VX.* -> .*DM, MX, VX" 's/Semaphore<\[MX, VX\], \[DM\], 3>/Semaphore<[DM, MX, VX], [DM], 3>/'
# those without names are told apart by who gives and takes them
sed -i -e '/^def [A-Z]* : Semaphore</d' -e 's/let Semaphores = \[OPERANDS, LOADED, SUMS, FREE, CODES\]/let Semaphores = [Semaphore<[DM, VX], [MX], 3>, Semaphore<[DM], [MX, VX], 2>, Semaphore<[MX], [VX], 3>, Semaphore<[MX, VX], [DM], 3>, Semaphore<[VX], [DM], 3>]/' old.td
grep -q '= \[Semaphore<' old.td || { echo "no semaphore without a name"; exit 1; }
diff_says 0 "^text   Chip.Summary: " 's/Test chip: an 8x8/A test chip: an 8x8/'
grep -q "^0 changes make engines void, 0 change codes, 0 plans, 1 neither" log || fail "a Summary changes more than itself"
diff_says 0 "^plan   semaphore of \[MX\] to \[VX\].Most: 3 -> 7" 's/Semaphore<\[MX\], \[VX\], 3>/Semaphore<[MX], [VX], 7>/'
sed -i 1d old.td
diff_says 0 "engines of revision 1 are void" 's/let Revision = 1;/let Revision = 2;/' 's/(mul (sext $x), (sext $wt))/(mul (sext $x), (zext $wt))/'
"$bin/pb-tdl" diff old.td > log 2>&1 && fail "one description"
grep -q "two descriptions are compared, not 1.*PB1002" log || fail "one description"
