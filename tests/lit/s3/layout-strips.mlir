// Strips of an image's rows that a mover brings through a box: no padded image is made for them, nor are they fewer lines
// than there are from window to window because the image ends inside the last strip.
// RUN: %pb-opt %s --target=%chips/tpu_v1.td --layout --check | %FileCheck %s
// CHECK-NOT: affine.store {{.*}}134x134
// CHECK: memref.alloc() : memref<67x64x256xi8>
// CHECK-NOT: affine.store {{.*}}134x134
// CHECK: affine.if
// CHECK-NEXT: affine.load %arg0[0, %{{.*}}, %{{.*}} + %{{.*}} * 2 - 3, %{{.*}} * 2 + %{{.*}} - 3] : memref<1x3x128x128xi8>
// CHECK-NOT: affine.store {{.*}}134x134

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<1x3x128x128xi8> {pb.input = "x"}, %w: memref<64x3x7x7xi8> {pb.const = 0 : i64}, %y: memref<1x64x64x64xi32> {pb.output = "y"}) {
    %p = memref.alloc() : memref<1x3x134x134xi8>
    affine.for %k = 0 to 3 { affine.for %h = 0 to 3 { affine.for %i = 0 to 134 {
      %n = arith.constant -3 : i8
      affine.store %n, %p[0, %k, %h, %i] : memref<1x3x134x134xi8> } } } {pb.nest = "c", pb.part = "pad"}
    affine.for %k = 0 to 3 { affine.for %h = 0 to 3 { affine.for %i = 0 to 134 {
      %n = arith.constant -3 : i8
      affine.store %n, %p[0, %k, %h + 131, %i] : memref<1x3x134x134xi8> } } } {pb.nest = "c", pb.part = "pad"}
    affine.for %k = 0 to 3 { affine.for %h = 0 to 128 { affine.for %i = 0 to 3 {
      %n = arith.constant -3 : i8
      affine.store %n, %p[0, %k, %h + 3, %i] : memref<1x3x134x134xi8> } } } {pb.nest = "c", pb.part = "pad"}
    affine.for %k = 0 to 3 { affine.for %h = 0 to 128 { affine.for %i = 0 to 3 {
      %n = arith.constant -3 : i8
      affine.store %n, %p[0, %k, %h + 3, %i + 131] : memref<1x3x134x134xi8> } } } {pb.nest = "c", pb.part = "pad"}
    affine.for %k = 0 to 3 { affine.for %h = 0 to 128 { affine.for %i = 0 to 128 {
      %0 = affine.load %x[0, %k, %h, %i] : memref<1x3x128x128xi8>
      affine.store %0, %p[0, %k, %h + 3, %i + 3] : memref<1x3x134x134xi8> } } } {pb.nest = "c", pb.part = "copy"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 64 { affine.for %i = 0 to 64 {
      %zero = arith.constant 0 : i32
      affine.store %zero, %y[0, %o, %h, %i] : memref<1x64x64x64xi32> } } } {pb.nest = "c", pb.part = "init"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 64 { affine.for %i = 0 to 64 {
      affine.for %k = 0 to 3 { affine.for %r = 0 to 7 { affine.for %q = 0 to 7 {
        %0 = affine.load %p[0, %k, %h * 2 + %r, %i * 2 + %q] : memref<1x3x134x134xi8>
        %1 = arith.extsi %0 : i8 to i32
        %2 = affine.load %w[%o, %k, %r, %q] : memref<64x3x7x7xi8>
        %3 = arith.extsi %2 : i8 to i32
        %4 = arith.muli %1, %3 : i32
        %5 = affine.load %y[0, %o, %h, %i] : memref<1x64x64x64xi32>
        %6 = arith.addi %5, %4 : i32
        affine.store %6, %y[0, %o, %h, %i] : memref<1x64x64x64xi32> } } } } } } {pb.nest = "c", pb.part = "reduce"}
    return
  }
}
