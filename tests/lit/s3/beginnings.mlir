// A sum that begins with another number than 0 begins with 0, and takes that number in behind; code sums as it stands.
// RUN: %pb-opt %s --target=simnpu --reductions --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --reductions --check | %FileCheck %s --check-prefix=CODE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<20x32xf32> {pb.input = "x"}, %b: memref<20xf32> {pb.input = "b"},
                  %y: memref<20xf32> {pb.output = "y"}, %z: memref<20xf32> {pb.output = "z"}) {
    // CHECK: arith.constant 0.0
    // CHECK: pb.part = "init"
    // CHECK: arith.addf
    // CHECK: pb.part = "reduce"
    // CHECK: arith.constant 2.0
    // CHECK: arith.addf
    // CHECK-NEXT: affine.store %{{.*}}, %arg2[
    // CODE: arith.constant 2.0
    // CODE: pb.part = "init"
    // CODE: pb.part = "reduce"
    // CODE-NOT: pb.part = "point"
    affine.for %i = 0 to 20 {
      %two = arith.constant 2.0 : f32
      affine.store %two, %y[%i] : memref<20xf32> } {pb.nest = "said", pb.part = "init"}
    affine.for %i = 0 to 20 { affine.for %k = 0 to 32 {
      %0 = affine.load %x[%i, %k] : memref<20x32xf32>
      %1 = affine.load %y[%i] : memref<20xf32>
      %2 = arith.addf %1, %0 : f32
      affine.store %2, %y[%i] : memref<20xf32> } } {pb.nest = "said", pb.part = "reduce"}
    // CHECK: affine.load %arg1
    // CHECK: affine.store %{{.*}}, %[[BEGUN:alloc.*]][
    // CHECK: pb.nest = "given", pb.part = "init"
    // CHECK: arith.constant 0xFF800000
    // CHECK: arith.maximumf
    // CHECK: pb.nest = "given", pb.part = "reduce"
    // CHECK: affine.load %[[BEGUN]]
    // CHECK: arith.maximumf
    // CHECK-NEXT: affine.store %{{.*}}, %arg3[
    affine.for %i = 0 to 20 {
      %0 = affine.load %b[%i] : memref<20xf32>
      affine.store %0, %z[%i] : memref<20xf32> } {pb.nest = "given", pb.part = "init"}
    affine.for %i = 0 to 20 { affine.for %k = 0 to 32 {
      %0 = affine.load %x[%i, %k] : memref<20x32xf32>
      %1 = affine.load %z[%i] : memref<20xf32>
      %2 = arith.maximumf %1, %0 : f32
      affine.store %2, %z[%i] : memref<20xf32> } } {pb.nest = "given", pb.part = "reduce"}
    return
  }
}
