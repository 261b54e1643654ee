// The number of lanes is the description's: 32 lanes make one block of 32 channels.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu:32 --layout | %FileCheck %s
// CHECK: func.func @main
// CHECK-SAME: memref<1x288x32xi8> {pb.const
// CHECK: memref.alloc() : memref<1x1x16x16x32xi8>

// What is summed over planes of long rows has its lanes along them, where nothing else wants channels there: no block is made.
// RUN: %pb-opt %S/Inputs/planes_less_sums.txt --target=cpu:avx512 --layout | %FileCheck %s --check-prefix=PLANES
// PLANES-NOT: x16xf32

// Of short rows channels are the lanes.
// RUN: sed s/x50x/x20x/g %S/Inputs/planes_less_sums.txt | sed 's/0 to 50/0 to 20/' > %t
// RUN: %pb-opt %t --target=cpu:avx512 --layout | %FileCheck %s --check-prefix=BLOCKS
// BLOCKS: memref.alloc() : memref<2x2x9x20x16xf32>
