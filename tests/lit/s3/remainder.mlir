// 14 rows in steps of 5, and the rows of a 3 x 3 window in steps of 2: what a loop leaves over is a tile of its own
// behind the loop. Its nests walk fewer rows, its buffers lie in those of the loop's tiles (pb.place), and a sum's rest
// adds to what is there.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan > %t
// RUN: sed 's/loop d1 step [0-9]*/loop d1 step 5/; s/loop d5 step 1/loop d5 step 2\\0Aloop d5 step 1/' %t > %t.edited
// RUN: %pb-opt %t.edited --target=simnpu --tile --map --check | %FileCheck %s --check-prefix=RUNS
// RUN: %pb-opt %t.edited --target=simnpu --tile | %FileCheck %s
// RUNS: func.func @k1(
// CHECK: func.func @k1(
// CHECK: affine.for %{{.*}} = 0 to 2 {
// CHECK: memref.alloc() {pb.depth = 2 : i64, pb.name = "x", pb.place = [[X:[0-9]+]] : i64} : memref<1x2x7x16x16xi8, "SPAD">
// CHECK: pb.part = "reduce"
// CHECK: pb.part = "add"
// CHECK: pb.part = "store"
// CHECK: {pb.first = 0 : i64, pb.iterations = 3 : i64}
// CHECK: affine.for %{{.*}} = 0 to 1 {
// CHECK: memref.alloc() {pb.depth = 2 : i64, pb.name = "x", pb.place = [[X]] : i64} : memref<1x2x7x16x16xi8, "SPAD">
// CHECK: pb.part = "reduce"
// CHECK: pb.part = "add"
// CHECK: pb.part = "store"
