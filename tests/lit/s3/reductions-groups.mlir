// A convolution of each channel over one pixel, three results of each: products alone, whose rows are channels as a group's
// and those in it. The products stay rows, and a copy makes an image of them: one that lanes of rows wrote themselves
// would be written once for each lane.
// RUN: %pb-opt %s --target=simnpu:8 --reductions --check | %FileCheck %s

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<1x16x1x1xf32> {pb.input = "x"}, %w: memref<48x1x1x1xf32> {pb.input = "w"}, %z: memref<1x48x1x1xf32> {pb.output = "z"}) {
    // CHECK: arith.mulf
    // CHECK-NEXT: affine.store %{{.*}}, %[[T:.*]][%[[G:.*]] * 3 + %[[J:.*]], %[[K:.*]]] : memref<48x1xf32>
    // CHECK: affine.load %[[T]][%[[G:.*]] * 3 + %[[J:.*]], %[[K:.*]]] : memref<48x1xf32>
    // CHECK: arith.addf
    // CHECK-NEXT: affine.store %{{.*}}, %[[S:.*]][%[[G]] * 3 + %[[J]], %[[K]]] : memref<48x1xf32>
    // CHECK: affine.load %[[S]][
    // CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[0, %{{.*}} * 3 + %{{.*}}, 0, 0] : memref<1x48x1x1xf32>
    %y = memref.alloc() : memref<1x48x1x1xf32>
    affine.for %g = 0 to 16 { affine.for %j = 0 to 3 {
      %zero = arith.constant 0.0 : f32
      affine.store %zero, %y[0, %g * 3 + %j, 0, 0] : memref<1x48x1x1xf32> } } {pb.nest = "conv", pb.part = "init"}
    affine.for %g = 0 to 16 { affine.for %j = 0 to 3 { affine.for %k = 0 to 1 {
      %0 = affine.load %x[0, %g, %k, 0] : memref<1x16x1x1xf32>
      %1 = affine.load %w[%g * 3 + %j, 0, %k, 0] : memref<48x1x1x1xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = affine.load %y[0, %g * 3 + %j, 0, 0] : memref<1x48x1x1xf32>
      %4 = arith.addf %3, %2 : f32
      affine.store %4, %y[0, %g * 3 + %j, 0, 0] : memref<1x48x1x1xf32> } } } {pb.nest = "conv", pb.part = "reduce"}
    affine.for %c = 0 to 48 {
      %0 = affine.load %y[0, %c, 0, 0] : memref<1x48x1x1xf32>
      %1 = arith.mulf %0, %0 : f32
      affine.store %1, %z[0, %c, 0, 0] : memref<1x48x1x1xf32> } {pb.nest = "mul", pb.part = "point"}
    return
  }
}
