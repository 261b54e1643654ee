// One number for each row (the largest code) stands in all 16 lanes of a row of its own; what works with it reads it lane by
// lane. Blocks of lanes come before the rows.
// RUN: %pb-opt %s --target=simnpu --layout | %FileCheck %s
// CHECK: %[[MOST:.*]] = memref.alloc() : memref<24x1x16xi32>
// CHECK: pb.nest = "softmax", pb.part = "init"
// CHECK: affine.for %[[B:.*]] = 0 to 2 {
// CHECK: affine.for %[[R:.*]] = 0 to 24 {
// CHECK: affine.for %[[N:.*]] = 0 to 16 {
// CHECK: affine.for %[[L:.*]] = 0 to 16 {
// CHECK: affine.load %{{.*}}[%[[R]], %[[B]], %[[N]]] : memref<24x2x16xi8>
// CHECK: affine.store %{{.*}}, %[[MOST]][%[[R]], 0, %[[L]]] : memref<24x1x16xi32>
// CHECK: pb.nest = "softmax", pb.part = "reduce"
// CHECK: affine.load %[[MOST]][%[[ROW:.*]], 0, %[[LANE:.*]]] : memref<24x1x16xi32>
// CHECK: affine.store %{{.*}}[%[[ROW]], %{{.*}}, %[[LANE]]]
func.func @main(%x: memref<24x32xf32> {pb.input = "x"}, %y: memref<24x32xi8> {pb.output = "y"}) {
  %c = memref.alloc() : memref<24x32xi8>
  %most = memref.alloc() : memref<24x1xi32>
  affine.for %i = 0 to 24 {
    affine.for %j = 0 to 32 {
      %0 = affine.load %x[%i, %j] : memref<24x32xf32>
      %1 = math.roundeven %0 : f32
      %2 = arith.fptosi %1 : f32 to i8
      affine.store %2, %c[%i, %j] : memref<24x32xi8>
    }
  } {pb.nest = "codes", pb.part = "point"}
  affine.for %i = 0 to 24 {
    %0 = arith.constant -2147483648 : i32
    affine.store %0, %most[%i, 0] : memref<24x1xi32>
  } {pb.nest = "softmax", pb.part = "init"}
  affine.for %i = 0 to 24 {
    affine.for %j = 0 to 32 {
      %0 = affine.load %c[%i, %j] : memref<24x32xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %most[%i, 0] : memref<24x1xi32>
      %3 = arith.maxsi %2, %1 : i32
      affine.store %3, %most[%i, 0] : memref<24x1xi32>
    }
  } {pb.nest = "softmax", pb.part = "reduce"}
  affine.for %i = 0 to 24 {
    affine.for %j = 0 to 32 {
      %0 = affine.load %c[%i, %j] : memref<24x32xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %most[%i, 0] : memref<24x1xi32>
      %3 = arith.subi %1, %2 : i32
      %4 = arith.constant 127 : i32
      %5 = arith.addi %3, %4 : i32
      %6 = arith.trunci %5 : i32 to i8
      affine.store %6, %y[%i, %j] : memref<24x32xi8>
    }
  } {pb.nest = "softmax", pb.part = "point"}
  return
}
