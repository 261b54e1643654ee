// Loops that no plan takes: the one that walks neighbours becomes the innermost, and threads share columns, of the kernel's
// own tensor too, of which each has one.
// RUN: %pb-opt %s --target=cpu:avx512 --registers | %FileCheck %s
// CHECK-LABEL: func.func @columns
// CHECK: %[[SHARE:.*]]:2 = call @pb_partition(%c40)
// CHECK: affine.for %[[J:.*]] = #map(%[[SHARE]]#0) to #map(%[[SHARE]]#1)
// CHECK: affine.for %[[I:.*]] = 0 to 30
// CHECK-NEXT: affine.for %[[J:.*]] = #map(%[[SHARE]]#0) to #map(%[[SHARE]]#1)
// CHECK-NEXT: affine.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-LABEL: func.func @rows
// CHECK: affine.for %[[I:.*]] = #map(%{{.*}}#0) to
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to 40
// CHECK-NEXT: affine.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-LABEL: func.func @few
// CHECK: affine.for %[[J:.*]] = #map(%{{.*}}#0) to
// CHECK-NEXT: affine.for %[[I:.*]] = 0 to 30
// A product of f64 whose columns lie in blocks: the sum goes on around a block's lanes.
// CHECK-LABEL: func.func @product
// CHECK: affine.for %[[B:.*]] = 0 to 2
// CHECK-NEXT: affine.for %[[I:.*]] = #map(%{{.*}}#0) to
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 5
// CHECK-NEXT: affine.for %[[L:.*]] = 0 to 16
// CHECK-NEXT: affine.load %{{.*}}[%[[I]], %[[K]]]
// CHECK-NEXT: affine.load %{{.*}}[%[[B]], %[[K]], %[[L]]]
// What reads the lane before, which a turn before has made, stays as it is.
// CHECK-LABEL: func.func @before
// CHECK: affine.for %[[L:.*]] = 0 to 16
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 5
module attributes {pb.stage = "s3"} {
  func.func @columns(%x: memref<30x40xi8> {pb.input = ""}, %y: memref<40xi8> {pb.output = ""}) attributes {pb.kernel, pb.scalar = "a test"} {
    %t = memref.alloc() : memref<40xi8>
    affine.for %j = 0 to 40 {
      %c0 = arith.constant 0 : i8
      affine.store %c0, %t[%j] : memref<40xi8>
    } {pb.nest = "any", pb.part = "init"}
    affine.for %j = 0 to 40 {
      affine.for %i = 0 to 30 {
        %0 = affine.load %x[%i, %j] : memref<30x40xi8>
        %1 = affine.load %t[%j] : memref<40xi8>
        %2 = arith.ori %1, %0 : i8
        affine.store %2, %t[%j] : memref<40xi8>
      }
    } {pb.body, pb.nest = "any", pb.part = "reduce"}
    affine.for %j = 0 to 40 {
      %0 = affine.load %t[%j] : memref<40xi8>
      affine.store %0, %y[%j] : memref<40xi8>
    } {pb.nest = "any", pb.part = "point"}
    memref.dealloc %t : memref<40xi8>
    return
  }
  func.func @rows(%x: memref<30x40xi8> {pb.input = ""}, %y: memref<30xi8> {pb.output = ""}) attributes {pb.kernel, pb.scalar = "a test"} {
    affine.for %i = 0 to 30 {
      affine.for %j = 0 to 40 {
        %0 = affine.load %x[%i, %j] : memref<30x40xi8>
        %1 = affine.load %y[%i] : memref<30xi8>
        %2 = arith.ori %1, %0 : i8
        affine.store %2, %y[%i] : memref<30xi8>
      }
    } {pb.body, pb.nest = "any", pb.part = "reduce"}
    return
  }
  func.func @few(%x: memref<30x4xi8> {pb.input = ""}, %y: memref<4xi8> {pb.output = ""}) attributes {pb.kernel, pb.scalar = "a test"} {
    affine.for %j = 0 to 4 {
      affine.for %i = 0 to 30 {
        %0 = affine.load %x[%i, %j] : memref<30x4xi8>
        %1 = affine.load %y[%j] : memref<4xi8>
        %2 = arith.ori %1, %0 : i8
        affine.store %2, %y[%j] : memref<4xi8>
      }
    } {pb.body, pb.nest = "any", pb.part = "reduce"}
    return
  }
  func.func @product(%x: memref<7x5xf64> {pb.input = ""}, %w: memref<2x5x16xf64> {pb.input = ""}, %y: memref<7x32xf64> {pb.output = ""}) attributes {pb.kernel, pb.scalar = "a test"} {
    affine.for %b = 0 to 2 {
      affine.for %i = 0 to 7 {
        affine.for %l = 0 to 16 {
          affine.for %k = 0 to 5 {
            %0 = affine.load %x[%i, %k] : memref<7x5xf64>
            %1 = affine.load %w[%b, %k, %l] : memref<2x5x16xf64>
            %2 = arith.mulf %0, %1 : f64
            %3 = affine.load %y[%i, %b * 16 + %l] : memref<7x32xf64>
            %4 = arith.addf %3, %2 : f64
            affine.store %4, %y[%i, %b * 16 + %l] : memref<7x32xf64>
          }
        }
      }
    } {pb.nest = "product", pb.part = "reduce"}
    return
  }
  func.func @before(%w: memref<5x16xf64> {pb.input = ""}, %y: memref<33xf64> {pb.output = ""}) attributes {pb.kernel, pb.scalar = "a test"} {
    affine.for %l = 0 to 16 {
      affine.for %k = 0 to 5 {
        %1 = affine.load %w[%k, %l] : memref<5x16xf64>
        %3 = affine.load %y[%l] : memref<33xf64>
        %4 = arith.addf %3, %1 : f64
        affine.store %4, %y[%l + 1] : memref<33xf64>
      }
    } {pb.nest = "before", pb.part = "reduce"}
    return
  }
}
