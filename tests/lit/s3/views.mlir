// Heads are split, transposed and put side by side again by copies: the products read and write them where they lie.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views | %FileCheck %s
// CHECK: func.func @main(%[[Q:[^:]*]]: memref<32x64xf32>{{.*}}, %[[K:[^:]*]]: memref<32x64xf32>{{.*}}, %[[Y:[^:]*]]: memref<32x64xf32>
// CHECK-COUNT-1: memref.alloc()
// CHECK-NOT: memref.alloc()
// CHECK: affine.load %[[Q]][%{{.*}}, %{{.*}} * 16 + %{{.*}}]
// CHECK: affine.load %[[K]][%{{.*}}, %{{.*}} * 16 + %{{.*}}]
// CHECK: affine.load %[[K]][%{{.*}}, %{{.*}} * 16 + %{{.*}}]
// CHECK: affine.store %{{.*}}, %[[Y]][%{{.*}}, %{{.*}} * 16 + %{{.*}}]
// CHECK-NOT: pb.part = "copy"

// Units that take rows of lanes get them by the copies.
// RUN: %pb-opt %S/Inputs/heads.txt --target=simnpu --views | %FileCheck %s --check-prefix=MOVERS
// MOVERS: pb.part = "copy"

// The nests before and after compute the same.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --check > /dev/null

// Few rows: nobody would pack the second factor, whose neighbours a view would take away. It stays a copy.
// RUN: sed 's/= 0 to 32/= 0 to 16/; s/memref<32x64/memref<16x64/g; s/memref<4x32x16/memref<4x16x16/g; s/x32x/x16x/g; s/x32xf32/x16xf32/g' %S/Inputs/heads.txt | %pb-opt - --target=cpu:avx512 --views | %FileCheck %s --check-prefix=FEW
// FEW: pb.nest = "turn", pb.part = "copy"
