// The digits network: convolution and max pool are one kernel, whose tiles make the slice of the convolution that they
// pool; a second convolution, average pool and the last product are another. Nothing between them is a tensor.
// RUN: %pbc %models/digits.onnx --target=simnpu --emit=outline | %FileCheck %s
// RUN: %pbc %models/digits.onnx --target=simnpu --emit=tile | %FileCheck %s --check-prefix=TILE
// CHECK: func.func @k6(
// CHECK: pb.nest = "conv1_f", pb.part = "reduce"
// CHECK: pb.nest = "maxpool_f", pb.part = "reduce"
// CHECK: func.func @k8(
// CHECK: pb.nest = "conv3_f", pb.part = "reduce"
// CHECK: pb.nest = "pool_f", pb.part = "reduce"
// CHECK: pb.nest = "fc_f", pb.part = "reduce"
// CHECK: func.func @k9(
// TILE: func.func @k6(
// TILE-SAME: producer = {bands
// TILE: affine.for
// TILE: memref.alloc() {pb.depth = 2 : i64, pb.name = "between"} : memref<{{.*}}, "SPAD">
// TILE: pb.nest = "conv1_f", pb.part = "reduce"
// TILE: pb.nest = "maxpool_f", pb.part = "reduce"
// TILE: pb.nest = "maxpool_f", pb.part = "store"
