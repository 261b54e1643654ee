// A reduction over few elements that no instruction combines becomes pointwise nests, the first on the number that it
// begins with; one that an instruction knows, one over many elements and one for another target stay as they are.
// RUN: %pb-opt %s --target=simnpu --reductions --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --reductions --check | %FileCheck %s --check-prefix=CODE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<20x2xf32> {pb.input = "x"}, %c: memref<20x17xf32> {pb.input = "c"},
                  %y: memref<20xf32> {pb.output = "y"}, %z: memref<20xf32> {pb.output = "z"}) {
    // CHECK: affine.load %arg0[%{{.*}}, 0]
    // CHECK: arith.mulf
    // CHECK-NEXT: affine.store %{{.*}}, %[[FIRST:alloc.*]][
    // CHECK: affine.load %[[FIRST]]
    // CHECK: affine.load %arg0[%{{.*}}, 1]
    // CHECK: arith.mulf
    // CHECK-NEXT: affine.store %{{.*}}, %arg2[
    // CODE: pb.body
    affine.for %i = 0 to 20 {
      %one = arith.constant 1.0 : f32
      affine.store %one, %y[%i] : memref<20xf32> } {pb.nest = "product", pb.part = "init"}
    affine.for %i = 0 to 20 { affine.for %k = 0 to 2 {
      %0 = affine.load %y[%i] : memref<20xf32>
      %1 = affine.load %x[%i, %k] : memref<20x2xf32>
      %2 = arith.mulf %0, %1 : f32
      affine.store %2, %y[%i] : memref<20xf32> } } {pb.nest = "product", pb.part = "reduce", pb.body}
    // CHECK: affine.for %{{.*}} = 0 to 17
    // CHECK: arith.mulf
    // CHECK: pb.body
    affine.for %i = 0 to 20 {
      %one = arith.constant 1.0 : f32
      affine.store %one, %z[%i] : memref<20xf32> } {pb.nest = "long", pb.part = "init"}
    affine.for %i = 0 to 20 { affine.for %k = 0 to 17 {
      %0 = affine.load %z[%i] : memref<20xf32>
      %1 = affine.load %c[%i, %k] : memref<20x17xf32>
      %2 = arith.mulf %0, %1 : f32
      affine.store %2, %z[%i] : memref<20xf32> } } {pb.nest = "long", pb.part = "reduce", pb.body}
    return
  }
}
