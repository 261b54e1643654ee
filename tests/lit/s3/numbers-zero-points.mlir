// Zero points are kept as codes, and widened where they are read: also where one is a nest's first expression.
// RUN: %pb-opt %s --target=cpu:v3 --numbers --check | %FileCheck %s
// CHECK: %[[N0:[^ ]*]]: memref<1xi8> {pb.const = 0 : i64}, %[[N1:[^ ]*]]: memref<1xi8> {pb.const = 1 : i64}
module {
func.func @main(%x: memref<512xf32> {pb.input = "x"}, %y: memref<512xf32> {pb.output = "y"}, %z: memref<512xf32> {pb.output = "z"}) {
  // CHECK: %[[CODE:.*]] = affine.load %[[N0]][0] : memref<1xi8>
  // CHECK-NEXT: %[[ZERO:.*]] = arith.sitofp %[[CODE]] : i8 to f32
  // CHECK: %[[ROUND:.*]] = math.roundeven
  // CHECK-NEXT: arith.addf %[[ROUND]], %[[ZERO]] : f32
  affine.for %i = 0 to 512 {
    %zero = arith.constant 3.0 : f32
    %0 = affine.load %x[%i] : memref<512xf32>
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zero : f32
    affine.store %2, %y[%i] : memref<512xf32> } {pb.nest = "first", pb.part = "point"}
  // CHECK: affine.load %[[N1]][0] : memref<1xi8>
  affine.for %i = 0 to 512 {
    %zero = arith.constant -7.0 : f32
    %0 = affine.load %x[%i] : memref<512xf32>
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %zero : f32
    affine.store %2, %z[%i] : memref<512xf32> } {pb.nest = "second", pb.part = "point"}
  return
}
}
