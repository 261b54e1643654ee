// Attention on codes, on memories of its own: one kernel. Scores are an iteration's, here a head's; sums of the next head's are
// made while this one's go on: in front of the loop, behind what takes those before, and not in the last iteration. A row of the
// accumulator is left free behind each row of them, which would all begin in one of its two banks.
// RUN: %pb-opt %S/Inputs/heads-codes.txt --target=simnpu --delinearize --outline --plan > %t.plan
// RUN: %pb-opt %t.plan --target=simnpu --tile | %FileCheck %s
// CHECK: func.func @k0
// CHECK-SAME: loop d0 step 1 // of 4\0A    home between, 2 copies\0A    ahead
// CHECK: %[[SUMS:.*]] = memref.alloc() {{.*}}pb.name = "between"{{.*}} : memref<1x64x5x16xi32, "ACC">
// CHECK: pb.nest = "scores", pb.part = "reduce"
// CHECK: affine.for %{{.*}} = 0 to 3 {
// CHECK: memref.alloc() {{.*}}pb.name = "between"{{.*}} : memref<1x64x4x16xi8, "SPAD">
// CHECK: affine.load %[[SUMS]][
// CHECK: pb.nest = "scores", pb.part = "point"
// CHECK: affine.store %{{.*}}, %[[SUMS]][
// CHECK: pb.nest = "scores", pb.part = "reduce"
// CHECK: pb.nest = "largest", pb.part = "reduce"
// CHECK: pb.nest = "differences", pb.part = "point"
// CHECK: pb.nest = "values", pb.part = "reduce"
// CHECK: {pb.first = 0 : i64, pb.iterations = 4 : i64}
// CHECK-NOT: pb.nest = "scores", pb.part = "reduce"
// CHECK: pb.nest = "values", pb.part = "reduce"
// CHECK: {pb.first = 3 : i64, pb.iterations = 4 : i64}
// CHECK-NOT: pb.stages
// RUN: %pb-opt %t.plan --target=simnpu --tile --map --place --check > /dev/null

// Rows that leave a rest, without sums made ahead.
// RUN: sed 's/home between/loop d1 step 24\\0Ahome between/; s/ ahead / /' %t.plan > %t.uneven
// RUN: not %pb-opt %t.uneven --target=simnpu --tile 2>&1 | %FileCheck %s --check-prefix=STAGES
// STAGES: error: k0: its plan is illegal: it has another number of stages [PB4012]

// What is wrong with a plan is said.
// RUN: sed 's/loop d0 step 1/loop d0 step 4/' %t.plan | not %pb-opt - --target=simnpu --tile 2>&1 | %FileCheck %s --check-prefix=AHEAD
// AHEAD: error: k0: its plan is illegal: sums cannot be made ahead in a loop of one iteration [PB4012]
// RUN: sed 's/home between, 2/home between, 0/' %t.plan | not %pb-opt - --target=simnpu --tile 2>&1 | %FileCheck %s --check-prefix=COPIES
// COPIES: error: k0: no number from 1 to 64, at '0' [PB4011]

// Keys and values that stay for a head's three tiles of rows lie there once each, whoever takes them: scores that are made ahead in
// front of the loop, those inside it, and the loop's last iteration.
// RUN: sed 's/%%\([qy]\): memref<64x/%%\1: memref<192x/g; /%%[qyo]\[/s/memref<64x/memref<192x/; /%%o = /s/<64x/<192x/; s/256x/768x/g; s/0 to 256/0 to 768/; s/\* 64 + /* 192 + /g; s/%%r\([0-9]*\) = 0 to 64/%%r\1 = 0 to 192/; s/%%i7_0 = 0 to 64/%%i7_0 = 0 to 192/' %S/Inputs/heads-codes.txt > %t.long
// RUN: %pb-opt %t.long --target=simnpu --delinearize --outline --plan > %t.long.plan
// RUN: sed 's/home between/loop d1 step 64\\0Ahome between/; s/home w, 2 copies/home w, 2 copies, inside 1/g' %t.long.plan > %t.tiles
// RUN: %pb-opt %t.tiles --target=simnpu --tile | %FileCheck %s --check-prefix=ONCE
// ONCE-COUNT-2: pb.name = "w"
// ONCE-NOT: pb.name = "w"
// RUN: %pb-opt %t.tiles --target=simnpu --tile --map --place --check > /dev/null
