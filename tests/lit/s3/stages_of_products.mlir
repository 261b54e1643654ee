// The digits network: convolution and max pool are one kernel, which makes a column of what is pooled and pools it;
// another convolution, average pool and the last product are another. Nothing between them is a tensor.
// RUN: %pbc %models/digits.onnx --target=simnpu --emit=outline | %FileCheck %s
// RUN: %pbc %models/digits.onnx --target=simnpu --between=system --emit=tile | %FileCheck %s --check-prefix=TILE
// CHECK: func.func @k2(
// CHECK-SAME: pb.stages
// CHECK: pb.nest = "conv1_f", pb.part = "reduce"
// CHECK: pb.nest = "maxpool_f", pb.part = "reduce"
// CHECK: func.func @k4(
// CHECK-SAME: pb.stages
// CHECK: pb.nest = "conv3_f", pb.part = "reduce"
// CHECK: pb.nest = "pool_f", pb.part = "reduce"
// CHECK: pb.nest = "fc_f", pb.part = "reduce"
// CHECK: func.func @k5(
// TILE: func.func @k2(
// TILE-SAME: stage { // conv1_f
// TILE: affine.for
// TILE: memref.alloc() {pb.depth = 2 : i64, pb.name = "between"} : memref<{{.*}}, "SPAD">
// TILE: pb.nest = "conv1_f", pb.part = "reduce"
// TILE: pb.nest = "maxpool_f", pb.part = "reduce"
// TILE: pb.nest = "maxpool_f", pb.part = "store"
// The padded image of the first convolution is one copy through a box, in front of them.
// RUN: %pbc %models/digits.onnx --target=simnpu --emit=tile | %FileCheck %s --check-prefix=PAD
// PAD: func.func @k1(
// PAD: affine.if
// PAD: pb.nest = "conv1_f", pb.part = "load"
// PAD: pb.nest = "conv1_f", pb.part = "store"
// PAD: func.func @k2(
