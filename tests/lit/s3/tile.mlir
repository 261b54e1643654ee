// The pad is gone: the load reads through a box. Weights pass the scratchpad on their way into the array.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan --tile | %FileCheck %s
// CHECK: func.func @k1(
// CHECK-NOT: pb.part = "pad"
// CHECK: memref.alloc() {pb.depth = 1 : i64, pb.name = "params"} : memref<{{.*}}, "ACC">
// CHECK: affine.if
// CHECK: pb.part = "load"
// CHECK: memref.alloc() {pb.depth = 4 : i64, pb.name = "held"{{.*}}} : memref<{{.*}}, "WREG">
// CHECK: pb.part = "stage"
// CHECK: pb.part = "reduce"
// CHECK: pb.part = "point"
// CHECK: pb.part = "store"
