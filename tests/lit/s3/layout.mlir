// Channels go into rows of lanes, weights into blocks of [k, lanes], vectors over channels into blocks.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout | %FileCheck %s
// CHECK: func.func @main
// CHECK-SAME: memref<2x288x16xi8> {pb.const
// CHECK-SAME: memref<2x16xi32> {pb.const
// CHECK-SAME: memref<2x16xf32> {pb.const
// CHECK: memref.alloc() : memref<1x2x16x16x16xi8>
// CHECK: pb.part = "reduce"
