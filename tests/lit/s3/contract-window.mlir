// Few channels under a window: the image stays in planes, the window's 7 columns are two groups of four, of which the last
// reaches over the end. Whoever makes the codes flips their signs, and the product reads them as they are.
// RUN: %pb-opt %s --target=cpu:avx512 --layout --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:avx512 --layout --outline --plan --tile --registers --check | %FileCheck %s --check-prefix=CODE
// CHECK: memref<1x18x16x4xi8> {pb.const
// CHECK: %[[CODES:.*]] = memref.alloc() : memref<1x3x10x17xi8>
// CHECK: arith.fptosi
// CHECK: %[[HALF:.*]] = arith.constant -128 : i8
// CHECK: %[[FLIPPED:.*]] = arith.xori %{{.*}}, %[[HALF]] : i8
// CHECK: affine.store %[[FLIPPED]], %[[CODES]]
// CHECK: %[[X:.*]] = affine.load %[[CODES]][0, %{{.*}}, %{{.*}} + %{{.*}}, %{{.*}} + %{{.*}} * 4 + %{{.*}}]
// CHECK: arith.extui %[[X]] : i8 to i32
// CODE: func.call @VPDPBUSD
// CODE-NOT: arith.xori {{.*}}vector<64xi8>

// One that ends with the window has nothing that the last group could read: its channels are groups.
// RUN: sed 's/x10x17x/x10x16x/g; s/to 17/to 16/' %s | %pb-opt - --target=cpu:avx512 --layout --check | %FileCheck %s --check-prefix=ENDS
// ENDS: memref<1x21x16x4xi8> {pb.const
module {
func.func @main(%x: memref<1x3x10x17xf32> {pb.input = "x"}, %w: memref<16x3x3x7xi8> {pb.const = 0 : i64}, %y: memref<1x16x8x10xi32> {pb.output = "y"}) {
  %v0 = memref.alloc() : memref<1x3x10x17xi8>
  %v1 = memref.alloc() : memref<1x16x8x10xi32>
  affine.for %c = 0 to 3 { affine.for %h = 0 to 10 { affine.for %v = 0 to 17 {
    %a = arith.constant 20.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %0 = affine.load %x[0, %c, %h, %v] : memref<1x3x10x17xf32>
    %1 = arith.mulf %0, %a : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maxnumf %2, %lo : f32
    %4 = arith.minnumf %3, %hi : f32
    %5 = arith.fptosi %4 : f32 to i8
    affine.store %5, %v0[0, %c, %h, %v] : memref<1x3x10x17xi8> } } } {pb.nest = "q", pb.part = "point"}
  affine.for %o = 0 to 16 { affine.for %h = 0 to 8 { affine.for %v = 0 to 10 {
    %z = arith.constant 0 : i32
    affine.store %z, %v1[0, %o, %h, %v] : memref<1x16x8x10xi32> } } } {pb.nest = "c", pb.part = "init"}
  affine.for %o = 0 to 16 { affine.for %h = 0 to 8 { affine.for %v = 0 to 10 { affine.for %c = 0 to 3 { affine.for %r = 0 to 3 { affine.for %s = 0 to 7 {
    %0 = affine.load %v0[0, %c, %h + %r, %v + %s] : memref<1x3x10x17xi8>
    %1 = affine.load %w[%o, %c, %r, %s] : memref<16x3x3x7xi8>
    %2 = affine.load %v1[0, %o, %h, %v] : memref<1x16x8x10xi32>
    %3 = arith.extsi %0 : i8 to i32
    %4 = arith.extsi %1 : i8 to i32
    %5 = arith.muli %3, %4 : i32
    %6 = arith.addi %2, %5 : i32
    affine.store %6, %v1[0, %o, %h, %v] : memref<1x16x8x10xi32> } } } } } } {pb.nest = "c", pb.part = "reduce"}
  affine.for %o = 0 to 16 { affine.for %h = 0 to 8 { affine.for %v = 0 to 10 {
    %0 = affine.load %v1[0, %o, %h, %v] : memref<1x16x8x10xi32>
    affine.store %0, %y[0, %o, %h, %v] : memref<1x16x8x10xi32> } } } {pb.nest = "out", pb.part = "copy"}
  return
}
}
