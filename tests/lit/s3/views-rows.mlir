// Units that take whole rows of lanes and nothing else: a copy of a copy walks the original, and so does a pointwise nest
// of one tensor that lies in rows.
// RUN: %pb-opt %S/Inputs/moved_twice.txt --target=simnpu --views | %FileCheck %s
// CHECK: func.func @main(%[[X:[^:]*]]: memref<2x64x4x8xi8>{{.*}}, %[[R:[^:]*]]: memref<6x16xi8>{{.*}}, %[[Y:[^:]*]]: memref<2x192x4x8xi8>
// CHECK-NOT: memref.alloc()
// CHECK: affine.load %[[X]][%{{.*}}, %{{.*}} * 32 + %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: affine.load %[[R]][%{{.*}} * 3 + %{{.*}}, %{{.*}}]
// CHECK-NEXT: arith.sitofp

// Several dims walk the channels: that of neighbours goes by blocks and lanes, the others by whole blocks.
// RUN: %pb-opt %S/Inputs/moved_twice.txt --target=simnpu --views --layout --check | %FileCheck %s --check-prefix=BLOCKS
// BLOCKS-COUNT-3: = 0 to 16
// BLOCKS-NOT: = 0 to 32
