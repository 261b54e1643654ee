// What a pointwise nest reads otherwise than its other tensors lie comes by a copy that walks as the nest does, and its
// result leaves the same way: units take rows of lanes alone, movers any strides. Where code runs nothing is moved.
// RUN: %pb-opt %s --target=simnpu --align --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --align --check | %FileCheck %s --check-prefix=CODE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<20x20xf32> {pb.input = "x"}, %b: memref<1x20xf32> {pb.input = "b"}, %s: memref<3xi32> {pb.input = "s"},
                  %y: memref<20x20xf32> {pb.output = "y"}, %z: memref<20x20xf32> {pb.output = "z"}, %t: memref<3xi32> {pb.output = "t"}) {
    // A row that repeats comes once: commands repeat it. All tensors of the nest have rows of their own.
    // CHECK: affine.load %arg0[%{{.*}}, %{{.*}}] : memref<20x20xf32>
    // CHECK-NEXT: affine.store %{{.*}}, %[[X:alloc.*]][%{{.*}}, %{{.*}}] : memref<20x20xf32>
    // CHECK: affine.load %arg1[0, %{{.*}}] : memref<1x20xf32>
    // CHECK-NEXT: affine.store %{{.*}}, %[[B:alloc.*]][0, %{{.*}}] : memref<1x20xf32>
    // CHECK: affine.load %[[X]]
    // CHECK: affine.load %[[B]]
    // CHECK: affine.store %{{.*}}, %[[SUM:alloc.*]][%{{.*}}, %{{.*}}] : memref<20x20xf32>
    // CHECK: affine.load %[[SUM]]
    // CHECK-NEXT: affine.store %{{.*}}, %arg3[
    // CODE-NOT: memref.alloc
    affine.for %i = 0 to 20 { affine.for %j = 0 to 20 {
      %0 = affine.load %x[%i, %j] : memref<20x20xf32>
      %1 = affine.load %b[0, %j] : memref<1x20xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %y[%i, %j] : memref<20x20xf32> } } {pb.nest = "add", pb.part = "point"}
    // Tensors that lie alike stay.
    // CHECK: affine.load %arg0[
    // CHECK-NEXT: affine.load %arg0[
    // CHECK-NEXT: arith.mulf
    // CHECK-NEXT: affine.store %{{.*}}, %arg4[
    affine.for %i = 0 to 20 { affine.for %j = 0 to 20 {
      %0 = affine.load %x[%i, %j] : memref<20x20xf32>
      %1 = affine.load %x[%i, %j] : memref<20x20xf32>
      %2 = arith.mulf %0, %1 : f32
      affine.store %2, %z[%i, %j] : memref<20x20xf32> } } {pb.nest = "square", pb.part = "point"}
    // One dim is no row of lanes yet.
    // CHECK: affine.load %arg2[%{{.*}}] : memref<3xi32>
    // CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : memref<1x3xi32>
    affine.for %i = 0 to 3 {
      %0 = affine.load %s[%i] : memref<3xi32>
      %1 = arith.addi %0, %0 : i32
      affine.store %1, %t[%i] : memref<3xi32> } {pb.nest = "double", pb.part = "point"}
    return
  }
}
