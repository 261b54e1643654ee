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

// A sum over rows too: the rest of 6 is summed over them in lanes of its own, and the lanes begin as it.
// RUN: %pb-opt %S/Inputs/sum_of_rows.txt --target=cpu:avx512 --lanes --check | %FileCheck %s --check-prefix=ROWS
// ROWS: %[[T:.*]] = memref.alloc() : memref<2x16xf32>
// ROWS: %[[R:.*]] = memref.alloc() : memref<2x6xf32>
// ROWS: %[[P:.*]] = memref.alloc() : memref<2x16xf32>
// ROWS: affine.load %arg0[%{{.*}}, %{{.*}}, %{{.*}} + 64]
// ROWS: affine.store %{{.*}}, %[[R]][
// ROWS: affine.for %{{.*}} = 0 to 10
// ROWS: affine.store %{{.*}}, %[[P]][%{{.*}}, %{{.*}} + 6]
// ROWS: affine.load %[[R]][
// ROWS-NEXT: affine.store %{{.*}}, %[[P]][
// ROWS: affine.load %[[P]][
// ROWS-NEXT: affine.store %{{.*}}, %[[T]][
// ROWS: } {pb.nest = "sum", pb.part = "init"}
// ROWS: affine.for %{{.*}} = 0 to 30
// ROWS-NEXT: affine.for %[[B:.*]] = 0 to 4
// ROWS-NEXT: affine.for %[[L:.*]] = 0 to 16
// ROWS-NEXT: affine.load %arg0[%{{.*}}, %{{.*}}, %[[B]] * 16 + %[[L]]]
// ROWS: affine.for %{{.*}} = 0 to 16
// ROWS-NEXT: affine.load %[[T]]

// A sum of all goes on in four registers.
// RUN: sed -e 's/2x/1x/g' -e 's/<2xf32>/<1xf32>/g' -e 's/%i = 0 to 2/%i = 0 to 1/' %S/Inputs/sum_of_rows.txt > %t
// RUN: %pb-opt %t --target=cpu:avx512 --lanes --check | %FileCheck %s --check-prefix=ALL
// ALL: memref.alloc() : memref<1x64xf32>
// ALL: affine.for %[[L:.*]] = 0 to 64

// So is a sum of f64, whose loops are plain: the code generator has the lanes.
// RUN: sed 's/f32/f64/g' %S/Inputs/exp2_sum.txt > %t.f64
// RUN: %pb-opt %t.f64 --target=cpu:avx512 --lanes --check | %FileCheck %s --check-prefix=DOUBLE
// DOUBLE: memref.alloc() : memref<3x24xf64>
