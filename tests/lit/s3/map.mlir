// Every nest of the kernel is a call; the nest that zeroes the accumulators became the accumulate flag.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan --tile --map | %FileCheck %s
// CHECK: func.func private @simnpu.MMA
// CHECK-SAME: pb.instruction = "MMA"
// CHECK: func.func @k1(
// CHECK-NOT: pb.part
// CHECK: call @simnpu.LDS0
// CHECK: call @simnpu.WLD
// CHECK: arith.cmpi ne
// CHECK: call @simnpu.MMA
// CHECK: call @simnpu.VRQ
// CHECK: call @simnpu.STS
