// Products of f32 where commands multiply codes alone: each row of the one factor times each of the other, and sums of
// rows. Rows and columns stay two loops over one index, which delinearize makes two. A chip that lacks sums of a row's
// lanes keeps the product, and so does one whose code multiplies floats.
// RUN: %pb-opt %s --target=simnpu --reductions --check | %FileCheck %s
// RUN: %pb-opt %s --target=simnpu --reductions --layout --delinearize --check | %FileCheck %s --check-prefix=TWO
// RUN: %pb-opt %s --target=cpu:v3 --reductions --check | %FileCheck %s --check-prefix=CODE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<2x7x16xf32> {pb.input = "x"}, %w: memref<2x16x9xf32> {pb.input = "w"}, %y: memref<2x7x9xf32> {pb.output = "y"}) {
    // CHECK: affine.load %arg1[%[[H:.*]], %[[K:.*]], %[[J:.*]]] : memref<2x16x9xf32>
    // CHECK-NEXT: affine.store %{{.*}}, %[[W:.*]][%[[H]] * 9 + %[[J]], %[[K]]] : memref<18x16xf32>
    // CHECK: affine.load %{{.*}}[%[[H:.*]] * 7 + %[[I:.*]], %[[K:.*]]] : memref<14x16xf32>
    // CHECK-NEXT: affine.load %[[W]][%[[H]] * 9 + %[[J:.*]], %[[K]]] : memref<18x16xf32>
    // CHECK-NEXT: arith.mulf
    // CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[H]] * 63 + %[[I]] * 9 + %[[J]], %[[K]]] : memref<126x16xf32>
    // CHECK: arith.addf
    // CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%{{.*}}, 0] : memref<126x1xf32>
    // TWO: arith.mulf
    // TWO-NEXT: affine.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, 0, %{{.*}}] : memref<2x7x9x1x16xf32>
    // CODE: arith.mulf
    // CODE-NEXT: affine.load
    // CODE-NEXT: arith.addf
    affine.for %h = 0 to 2 { affine.for %i = 0 to 7 { affine.for %j = 0 to 9 {
      %zero = arith.constant 0.0 : f32
      affine.store %zero, %y[%h, %i, %j] : memref<2x7x9xf32> } } } {pb.nest = "matmul", pb.part = "init"}
    affine.for %h = 0 to 2 { affine.for %i = 0 to 7 { affine.for %j = 0 to 9 { affine.for %k = 0 to 16 {
      %0 = affine.load %x[%h, %i, %k] : memref<2x7x16xf32>
      %1 = affine.load %w[%h, %k, %j] : memref<2x16x9xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = affine.load %y[%h, %i, %j] : memref<2x7x9xf32>
      %4 = arith.addf %3, %2 : f32
      affine.store %4, %y[%h, %i, %j] : memref<2x7x9xf32> } } } } {pb.nest = "matmul", pb.part = "reduce"}
    return
  }
}
