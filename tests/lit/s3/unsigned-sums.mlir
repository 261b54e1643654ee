// What sums of codes without sign are too large by, where no bias takes it: a number for each result beside the sums, also
// where a dim walks neither weights nor results; where results meet in one element each product takes it off itself.
// RUN: %pb-opt %s --target=%S/../../chips/tpu_v1_unsigned.td --unsigned --check | %FileCheck %s
module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<6x4x3xf32> {pb.input = "x"}, %w: memref<6x4xi8> {pb.const = 0 : i64}, %v: memref<6x3xi8> {pb.const = 1 : i64},
                  %y: memref<6xi32> {pb.output = "y"}, %z: memref<6xi32> {pb.output = "z"}, %c: memref<6x4x3xf32> {pb.output = "c"}) {
    %low = arith.constant -1.28e+02 : f32
    %high = arith.constant 1.27e+02 : f32
    %c0 = arith.constant 0 : i32
    %codes = memref.alloc() : memref<6x4x3xi8>
    %clamped = memref.alloc() : memref<6x4x3xi8>
    %sums = memref.alloc() : memref<6xi32>
    %met = memref.alloc() : memref<6xi32>
    affine.for %i = 0 to 6 { affine.for %j = 0 to 4 { affine.for %k = 0 to 3 {
      %0 = affine.load %x[%i, %j, %k] : memref<6x4x3xf32>
      %1 = math.roundeven %0 : f32
      %2 = arith.maxnumf %1, %low : f32
      %3 = arith.minnumf %2, %high : f32
      %4 = arith.fptosi %3 : f32 to i8
      affine.store %4, %codes[%i, %j, %k] : memref<6x4x3xi8> } } } {pb.nest = "codes", pb.part = "point"}
    affine.for %i = 0 to 6 {
      affine.store %c0, %sums[%i] : memref<6xi32> } {pb.nest = "sums", pb.part = "init"}
    // CHECK: arith.extui
    // CHECK-NEXT: affine.load %arg1[
    // CHECK-NEXT: arith.extsi
    // CHECK-NEXT: arith.muli
    // CHECK: pb.nest = "sums", pb.part = "reduce"
    affine.for %i = 0 to 6 { affine.for %j = 0 to 4 { affine.for %k = 0 to 3 {
      %0 = affine.load %codes[%i, %j, %k] : memref<6x4x3xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %w[%i, %j] : memref<6x4xi8>
      %3 = arith.extsi %2 : i8 to i32
      %4 = arith.muli %1, %3 : i32
      %5 = affine.load %sums[%i] : memref<6xi32>
      %6 = arith.addi %5, %4 : i32
      affine.store %6, %sums[%i] : memref<6xi32> } } } {pb.nest = "sums", pb.part = "reduce"}
    // CHECK: affine.load %arg6[%{{.*}}] : memref<6xi32>
    // CHECK: arith.addi
    affine.for %i = 0 to 6 {
      %two = arith.constant 2 : i32
      %0 = affine.load %sums[%i] : memref<6xi32>
      %1 = arith.muli %0, %two : i32
      affine.store %1, %y[%i] : memref<6xi32> } {pb.nest = "doubled", pb.part = "point"}
    affine.for %i = 0 to 6 {
      affine.store %c0, %met[%i] : memref<6xi32> } {pb.nest = "met", pb.part = "init"}
    // CHECK: arith.extui
    // CHECK-NEXT: arith.constant 128 : i32
    // CHECK-NEXT: arith.subi
    // CHECK: pb.nest = "met", pb.part = "reduce"
    affine.for %i = 0 to 4 { affine.for %k = 0 to 3 {
      %0 = affine.load %codes[%i, 1, %k] : memref<6x4x3xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %v[%i, %k] : memref<6x3xi8>
      %3 = arith.extsi %2 : i8 to i32
      %4 = arith.muli %1, %3 : i32
      %5 = affine.load %met[%i + %k] : memref<6xi32>
      %6 = arith.addi %5, %4 : i32
      affine.store %6, %met[%i + %k] : memref<6xi32> } } {pb.nest = "met", pb.part = "reduce"}
    affine.for %i = 0 to 6 {
      %0 = affine.load %met[%i] : memref<6xi32>
      affine.store %0, %z[%i] : memref<6xi32> } {pb.nest = "out", pb.part = "point"}
    // CHECK: arith.minui
    affine.for %i = 0 to 6 { affine.for %j = 0 to 4 { affine.for %k = 0 to 3 {
      %most = arith.constant 60 : i8
      %0 = affine.load %codes[%i, %j, %k] : memref<6x4x3xi8>
      %1 = arith.minsi %0, %most : i8
      affine.store %1, %clamped[%i, %j, %k] : memref<6x4x3xi8> } } } {pb.nest = "clamp", pb.part = "point"}
    affine.for %i = 0 to 6 { affine.for %j = 0 to 4 { affine.for %k = 0 to 3 {
      %0 = affine.load %clamped[%i, %j, %k] : memref<6x4x3xi8>
      %1 = arith.sitofp %0 : i8 to f32
      affine.store %1, %c[%i, %j, %k] : memref<6x4x3xf32> } } } {pb.nest = "floats", pb.part = "point"}
    return
  }
}
