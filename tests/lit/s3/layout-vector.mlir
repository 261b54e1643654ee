// Channels in blocks of a register's lanes, weights in the order of the loops, copies at the edges of the graph.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:avx512 --padding --layout | %FileCheck %s
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:v3 --padding --layout | %FileCheck %s --check-prefix=HALF
// CHECK: memref<2x16x16xf32> {pb.const
// CHECK-SAME: memref<2x16xf32> {pb.const
// CHECK-SAME: memref<2x288x16xf32> {pb.const
// CHECK: memref.alloc() : memref<1x2x8x8x16xf32>
// CHECK: pb.nest = "a", pb.part = "copy"
// CHECK: pb.nest = "a", pb.part = "init"
// CHECK: pb.nest = "b", pb.part = "reduce"
// CHECK: pb.nest = "b", pb.part = "copy"
// HALF: memref<4x16x8xf32> {pb.const
// HALF: memref.alloc() : memref<1x4x8x8x8xf32>
