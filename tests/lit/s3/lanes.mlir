// A sum of 40 neighbours: two times 16 in lanes, 8 left over beside them, and then the 24.
// RUN: %pb-opt %S/Inputs/exp2_sum.txt --target=cpu:avx512 --lanes --check | %FileCheck %s
// CHECK: %[[T:.*]] = memref.alloc() : memref<3x24xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 3
// CHECK: affine.for %[[B:.*]] = 0 to 2
// CHECK-NEXT: affine.for %[[L:.*]] = 0 to 16
// CHECK-NEXT: affine.load %{{.*}}[%[[I]], %[[B]] * 16 + %[[L]]]
// CHECK: affine.for %{{.*}} = 0 to 8
// CHECK-NEXT: affine.load %{{.*}}[%{{.*}}, %{{.*}} + 32]
// CHECK-NEXT: math.exp2
// CHECK-NEXT: affine.store %{{.*}}, %[[T]][%{{.*}}, %{{.*}} + 16]
// CHECK: affine.for %{{.*}} = 0 to 24
// CHECK-NEXT: affine.load %[[T]]

// Another chip has no lanes of its own.
// RUN: %pb-opt %S/Inputs/exp2_sum.txt --target=simnpu --lanes | %FileCheck %s --check-prefix=QUEUES
// QUEUES-NOT: 3x24xf32

// A product of one row reads the factor whose columns lie apart where it lies, and sums it in lanes.
// RUN: %pb-opt %S/Inputs/one_row.txt --target=cpu:avx512 --views --lanes --check | %FileCheck %s --check-prefix=ROW
// ROW-NOT: pb.part = "copy"
// ROW: affine.load %arg0[%{{.*}}, %{{.*}}, %{{.*}} * 16 + %{{.*}}]
// ROW: } {pb.macs = 640 : i64, pb.nest = "scores", pb.part = "reduce"}
// ROW-NOT: pb.macs

// What only such a sum takes, whole registers and a rest, it computes: squares of 40. Those of 48 leave no rest, and a stage makes them.
// RUN: %pb-opt %S/Inputs/rest_of_products.txt --target=cpu:avx512 --lanes --check | %FileCheck %s --check-prefix=REST
// REST-NOT: "squares"
// REST: arith.mulf
// REST: } {pb.nest = "others", pb.part = "point"}
// REST: arith.mulf
// REST: } {pb.nest = "sum", pb.part = "reduce"}
// REST: arith.mulf
// REST: } {pb.nest = "sum", pb.part = "point"}
// REST-NOT: arith.mulf
