// Codes of int8 are turned over where they come in and leave; an input that nobody reads is not.
// RUN: %pb-opt %s --target=%S/../../chips/tpu_v1_unsigned.td --unsigned --check | %FileCheck %s
module attributes {pb.stage = "s2"} {
  func.func @main(%u: memref<4x7xi8> {pb.input = "u"}, %x: memref<4x7xi8> {pb.input = "x"}, %y: memref<4x7xi8> {pb.output = "y"}) {
    // CHECK: affine.load %arg1[
    // CHECK: arith.xori
    // CHECK: arith.maxui
    // CHECK: arith.xori
    // CHECK: affine.store %{{.*}}, %arg2[
    // CHECK-NOT: arith.xori
    affine.for %i = 0 to 4 { affine.for %j = 0 to 7 {
      %least = arith.constant 5 : i8
      %0 = affine.load %x[%i, %j] : memref<4x7xi8>
      %1 = arith.maxsi %0, %least : i8
      affine.store %1, %y[%i, %j] : memref<4x7xi8> } } {pb.nest = "clamp", pb.part = "point"}
    return
  }
}
