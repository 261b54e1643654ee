// A nest of as many loops as there can be has no room for blocks and lanes: its tensors stay plain, and a twin of what a
// convolution makes in blocks is copied for it. Where all lies in rows of lanes it is refused.
// RUN: %pb-opt %S/Inputs/twelve_loops.txt --target=cpu:avx512 --layout --check | %FileCheck %s
// RUN: not %pb-opt %S/Inputs/twelve_loops.txt --target=%chips/floatnpu.td --layout 2>&1 | %FileCheck %s --check-prefix=ROWS
// CHECK: memref.alloc() : memref<1x32x64x32xf32>
// CHECK: memref.alloc() : memref<1x32x64x32xf32>
// CHECK: memref.alloc() : memref<1x2x64x32x16xf32>
// CHECK: pb.nest = "conv", pb.part = "reduce"
// CHECK: pb.nest = "conv", pb.part = "copy"
// ROWS: twice: in rows of lanes it has 13 loops
