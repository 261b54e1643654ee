// The plan stands on the kernel; the convolution is bound by the matrix queue.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan | %FileCheck %s
// CHECK: func.func @k1(
// CHECK-SAME: pb.plan = {bands = array<i64:
// CHECK-SAME: bound = "MX"
// CHECK-SAME: cycles = {{[0-9]+}} : i64
