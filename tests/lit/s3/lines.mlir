// What goes element by element to or from the images of a convolution over one dim is such an image too, whatever ranks
// the model gives it, with the numbers of each channel that reductions leave; copies that only rename it go. What takes
// numbers of the columns stays as it is, unless they are all one. Where code runs nothing changes.
// RUN: %pb-opt %s --target=simnpu --lines --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --lines --check | %FileCheck %s --check-prefix=CODE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<1x16x1x32xi8> {pb.input = "x"}, %w: memref<24x16x1x3xi8> {pb.const = 0 : i64},
                  %k: memref<24xf32> {pb.const = 1 : i64}, %y: memref<1x24x1x30xf32> {pb.output = "y"}, %z: memref<24x30xf32> {pb.output = "z"}) {
    // CHECK-DAG: %[[SUMS:alloc.*]] = memref.alloc() : memref<1x24x1x30xi32>
    // CHECK-DAG: %[[LINES:alloc.*]] = memref.alloc() : memref<1x24x1x30xf32>
    // CHECK-DAG: %[[NUMBERS:alloc.*]] = memref.alloc() : memref<1x24x1x1xf32>
    // CHECK-NOT: memref.alloc
    // CODE: memref.alloc() : memref<24x30xf32>
    %s = memref.alloc() : memref<1x24x1x30xi32>
    %t = memref.alloc() : memref<24x30xf32>
    %m = memref.alloc() : memref<1x24xf32>
    %r = memref.alloc() : memref<1x24x1x30xf32>
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 {
      %0 = arith.constant 0 : i32
      affine.store %0, %s[0, %o, 0, %i] : memref<1x24x1x30xi32> } } {pb.nest = "conv", pb.part = "init"}
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 { affine.for %c = 0 to 16 { affine.for %j = 0 to 3 {
      %0 = affine.load %x[0, %c, 0, %i + %j] : memref<1x16x1x32xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %w[%o, %c, 0, %j] : memref<24x16x1x3xi8>
      %3 = arith.extsi %2 : i8 to i32
      %4 = arith.muli %1, %3 : i32
      %5 = affine.load %s[0, %o, 0, %i] : memref<1x24x1x30xi32>
      %6 = arith.addi %5, %4 : i32
      affine.store %6, %s[0, %o, 0, %i] : memref<1x24x1x30xi32> } } } } {pb.nest = "conv", pb.part = "reduce"}
    // CHECK: affine.load %arg2[%{{.*}}] : memref<24xf32>
    // CHECK: affine.store %{{.*}}, %[[LINES]][0, %{{.*}}, 0, %{{.*}}] : memref<1x24x1x30xf32>
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 {
      %0 = affine.load %s[0, %o, 0, %i] : memref<1x24x1x30xi32>
      %1 = arith.sitofp %0 : i32 to f32
      %2 = affine.load %k[%o] : memref<24xf32>
      %3 = arith.mulf %1, %2 : f32
      affine.store %3, %t[%o, %i] : memref<24x30xf32> } } {pb.nest = "scaled", pb.part = "point"}
    // CHECK: affine.store %{{.*}}, %[[NUMBERS]][0, %{{.*}}, 0, 0] : memref<1x24x1x1xf32>
    affine.for %o = 0 to 24 {
      %0 = arith.constant 0.0 : f32
      affine.store %0, %m[0, %o] : memref<1x24xf32> } {pb.nest = "sum", pb.part = "init"}
    // CHECK: affine.load %[[LINES]][0, %{{.*}}, 0, %{{.*}}] : memref<1x24x1x30xf32>
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 {
      %0 = affine.load %t[%o, %i] : memref<24x30xf32>
      %1 = affine.load %m[0, %o] : memref<1x24xf32>
      %2 = arith.addf %1, %0 : f32
      affine.store %2, %m[0, %o] : memref<1x24xf32> } } {pb.nest = "sum", pb.part = "reduce"}
    // CHECK-NOT: "renamed"
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 {
      %0 = affine.load %t[%o, %i] : memref<24x30xf32>
      affine.store %0, %r[0, %o, 0, %i] : memref<1x24x1x30xf32> } } {pb.nest = "renamed", pb.part = "copy"}
    // CHECK: affine.load %[[LINES]][0, %{{.*}}, 0, %{{.*}}] : memref<1x24x1x30xf32>
    // CHECK: affine.load %[[NUMBERS]][0, %{{.*}}, 0, 0] : memref<1x24x1x1xf32>
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 {
      %0 = affine.load %r[0, %o, 0, %i] : memref<1x24x1x30xf32>
      %1 = affine.load %m[0, %o] : memref<1x24xf32>
      %2 = arith.subf %0, %1 : f32
      affine.store %2, %y[0, %o, 0, %i] : memref<1x24x1x30xf32> } } {pb.nest = "less", pb.part = "point"}
    // The model's own stay.
    // CHECK: affine.store %{{.*}}, %arg4[%{{.*}}, %{{.*}}] : memref<24x30xf32>
    affine.for %o = 0 to 24 { affine.for %i = 0 to 30 {
      %0 = affine.load %t[%o, %i] : memref<24x30xf32>
      %1 = arith.mulf %0, %0 : f32
      affine.store %1, %z[%o, %i] : memref<24x30xf32> } } {pb.nest = "square", pb.part = "point"}
    return
  }
}
