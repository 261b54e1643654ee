// Pad, convolution and requantisation are one kernel; the copies at both ends are kernels of their own.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline | %FileCheck %s
// CHECK: func.func @k0(
// CHECK: func.func @k1(
// CHECK: pb.part = "pad"
// CHECK: pb.part = "init"
// CHECK: pb.part = "reduce"
// CHECK: pb.part = "point"
// CHECK: func.func @k2(
// CHECK: func.func @main
// CHECK: call @k0
// CHECK: call @k1
// CHECK-SAME: pb.origin = "c"
// CHECK: call @k2
// CHECK-NOT: call @k
