// A function that no instruction computes becomes plain operations; a chip that has it keeps it.
// RUN: %pb-opt %S/Inputs/exp2_sum.txt --target=cpu:avx512 --math --check | %FileCheck %s
// CHECK-NOT: math.exp2
// CHECK: arith.cmpf olt
// CHECK: arith.shli
// CHECK-NOT: math.exp2
// CHECK: pb.nest = "exp"

// RUN: %pb-opt %S/Inputs/exp2_sum.txt --target=simnpu --math | %FileCheck %s --check-prefix=KEPT
// KEPT: math.exp2
