// The plan stands on the kernel; the convolution is bound by the matrix queue.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan | %FileCheck %s
// CHECK: func.func @k1(
// CHECK-SAME: pb.bound = "MX", pb.contraction = "MMA", pb.cycles = [[CYCLES:[0-9]+]] : i64
// CHECK-SAME: pb.plan = "  // [[CYCLES]] cycles, bound by MX\0A  loop d1 step
// CHECK-SAME: home w, {{.*}}instruction MMA, tile d0 1
