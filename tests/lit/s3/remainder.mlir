// 14 rows in steps of 5, and the rows of a 3 x 3 window in steps of 2: what a band's loop leaves over is a tile of its own
// behind the loop. Its nests walk fewer rows, its buffers lie in those of the loop's tiles (pb.place), and a sum's rest
// adds to what is there.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan > %t
// RUN: sed 's/bands = array<i64: 1, [0-9]*, 0, 1, 4, 1, 5, 1, 6, 1>/bands = array<i64: 1, 5, 0, 1, 4, 1, 5, 2, 5, 1, 6, 1>/' %t > %t.edited
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
