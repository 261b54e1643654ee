// The number of lanes is the description's: 32 lanes make one block of 32 channels.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu:32 --layout | %FileCheck %s
// CHECK: func.func @main
// CHECK-SAME: memref<1x288x32xi8> {pb.const
// CHECK: memref.alloc() : memref<1x1x16x16x32xi8>
