// Every nest of the kernel is a call; the nest that zeroes the accumulators became the accumulate flag. Extents and
// strides are numbers at the head of the function, each once.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan --tile --map | %FileCheck %s
// CHECK: func.func @k1(
// CHECK-NOT: pb.part
// CHECK: arith.constant 0 : index
// CHECK: call @simnpu.LDS0
// CHECK-NOT: arith.constant {{.*}} : index
// CHECK: call @simnpu.WLD
// CHECK-NOT: arith.constant {{.*}} : index
// CHECK: arith.cmpi ne
// CHECK-NOT: arith.constant {{.*}} : index
// CHECK: call @simnpu.MMA
// CHECK-NOT: arith.constant {{.*}} : index
// CHECK: call @simnpu.VRQ
// CHECK: call @simnpu.STS
// CHECK: func.func private @simnpu.MMA
// CHECK-SAME: pb.instruction = "MMA"
