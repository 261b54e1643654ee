// Of an odd number of lines the last one is a tile's first: the image gets a line more, which is in no result, and what takes
// the sums is apart for first and second lines.
// RUN: %pb-opt %s --target=cpu:v3 --padding --winograd --check | %FileCheck %s
// CHECK: %[[X:.*]] = memref.alloc() : memref<1x64x16x16xi8>
// CHECK: %[[V:.*]] = memref.alloc() : memref<16x64x7x7xi16>
// CHECK: affine.store %{{.*}}, %[[X]][0, %{{.*}}, 15, %{{.*}}]
// CHECK: pb.part = "pad"
// CHECK: affine.store %{{.*}}, %[[X]][0, %{{.*}}, %{{.*}} + 1, %{{.*}} + 1]
// CHECK: affine.for %{{.*}} = 0 to 7 {
// CHECK: affine.store %{{.*}}, %[[Y:.*]][0, %{{.*}}, %{{.*}} * 2, %{{.*}} * 2 + %{{.*}}] : memref<1x64x13x14xi8>
// CHECK: affine.for %{{.*}} = 0 to 6 {
// CHECK: affine.store %{{.*}}, %[[Y]][0, %{{.*}}, %{{.*}} * 2 + 1, %{{.*}} * 2 + %{{.*}}] : memref<1x64x13x14xi8>
module {
func.func @main(%x: memref<1x64x13x14xi8> {pb.input = "x"}, %w: memref<64x64x3x3xi8> {pb.const = 0 : i64}, %b: memref<64xi32> {pb.const = 1 : i64}, %m: memref<64xf32> {pb.const = 2 : i64}, %y: memref<1x64x13x14xi8> {pb.output = "y"}) {
  %v0 = memref.alloc() : memref<1x64x13x14xi8>
  %v1 = memref.alloc() : memref<1x64x15x16xi8>
  %v2 = memref.alloc() : memref<1x64x13x14xi32>
  %v3 = memref.alloc() : memref<1x64x13x14xi8>
  affine.for %c = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 14 {
    %0 = affine.load %x[0, %c, %h, %v] : memref<1x64x13x14xi8>
    affine.store %0, %v0[0, %c, %h, %v] : memref<1x64x13x14xi8> } } } {pb.nest = "in", pb.part = "copy"}
  affine.for %c = 0 to 64 { affine.for %h = 0 to 2 { affine.for %v = 0 to 16 {
    %z = arith.constant 0 : i8
    affine.store %z, %v1[0, %c, %h * 14, %v] : memref<1x64x15x16xi8> } } } {pb.nest = "c", pb.part = "pad"}
  affine.for %c = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 2 {
    %z = arith.constant 0 : i8
    affine.store %z, %v1[0, %c, %h + 1, %v * 15] : memref<1x64x15x16xi8> } } } {pb.nest = "c", pb.part = "pad"}
  affine.for %c = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 14 {
    %0 = affine.load %v0[0, %c, %h, %v] : memref<1x64x13x14xi8>
    affine.store %0, %v1[0, %c, %h + 1, %v + 1] : memref<1x64x15x16xi8> } } } {pb.nest = "c", pb.part = "copy"}
  affine.for %o = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 14 {
    %z = arith.constant 0 : i32
    affine.store %z, %v2[0, %o, %h, %v] : memref<1x64x13x14xi32> } } } {pb.nest = "c", pb.part = "init"}
  affine.for %o = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 14 { affine.for %c = 0 to 64 { affine.for %r = 0 to 3 { affine.for %s = 0 to 3 {
    %0 = affine.load %v1[0, %c, %h + %r, %v + %s] : memref<1x64x15x16xi8>
    %1 = affine.load %w[%o, %c, %r, %s] : memref<64x64x3x3xi8>
    %2 = affine.load %v2[0, %o, %h, %v] : memref<1x64x13x14xi32>
    %3 = arith.extsi %0 : i8 to i32
    %4 = arith.extsi %1 : i8 to i32
    %5 = arith.muli %3, %4 : i32
    %6 = arith.addi %2, %5 : i32
    affine.store %6, %v2[0, %o, %h, %v] : memref<1x64x13x14xi32> } } } } } } {pb.nest = "c", pb.part = "reduce"}
  affine.for %o = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 14 {
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %0 = affine.load %v2[0, %o, %h, %v] : memref<1x64x13x14xi32>
    %1 = affine.load %b[%o] : memref<64xi32>
    %3 = arith.addi %0, %1 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %2 = affine.load %m[%o] : memref<64xf32>
    %5 = arith.mulf %4, %2 : f32
    %6 = math.roundeven %5 : f32
    %7 = arith.maxnumf %6, %lo : f32
    %8 = arith.minnumf %7, %hi : f32
    %9 = arith.fptosi %8 : f32 to i8
    affine.store %9, %v3[0, %o, %h, %v] : memref<1x64x13x14xi8> } } } {pb.nest = "c", pb.part = "point"}
  affine.for %c = 0 to 64 { affine.for %h = 0 to 13 { affine.for %v = 0 to 14 {
    %0 = affine.load %v3[0, %c, %h, %v] : memref<1x64x13x14xi8>
    affine.store %0, %y[0, %c, %h, %v] : memref<1x64x13x14xi8> } } } {pb.nest = "out", pb.part = "copy"}
  return
}
}
