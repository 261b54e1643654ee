// Four neighbouring pixels of 64 channels stand in a row of 256 lanes: convolutions become ones over blocks of pixels, borders
// are whole blocks, numbers by channel repeat; the last convolution, whose columns step by four, leaves a pixel a row.
// RUN: %pb-opt %s --target=%chips/tpu_v1.td --pixels --check | %FileCheck %s
// Where 64 channels fill rows of lanes, and where code runs, nothing changes.
// RUN: %pb-opt %s --target=simnpu --pixels --check | %FileCheck %s --check-prefix=SAME
// RUN: %pb-opt %s --target=cpu:v3 --pixels --check | %FileCheck %s --check-prefix=SAME
// SAME-NOT: 256

module attributes {pb.stage = "s2"} {
  // CHECK-DAG: memref<64x256x1x1xi8> {pb.const
  // CHECK-DAG: memref<256xi32> {pb.const
  // CHECK-DAG: memref<256x256x3x3xi8> {pb.const
  func.func @main(%x: memref<1x8x6x96xi8> {pb.input = "x"}, %w: memref<64x8x1x1xi8> {pb.const = 0 : i64}, %v: memref<64x64x3x3xi8> {pb.const = 1 : i64},
                  %u: memref<64x64x1x1xi8> {pb.const = 2 : i64}, %b: memref<64xi32> {pb.const = 3 : i64}, %y: memref<1x64x6x24xi32> {pb.output = "y"}) {
    %s = memref.alloc() : memref<1x64x6x96xi32>
    %c = memref.alloc() : memref<1x64x6x96xi8>
    %p = memref.alloc() : memref<1x64x8x98xi8>
    %t = memref.alloc() : memref<1x64x6x96xi32>
    %d = memref.alloc() : memref<1x64x6x96xi8>
    %zero = arith.constant 0 : i32
    // Of one pixel a row: a window of as many columns as pixels.
    // CHECK: %[[S:.*]] = memref.alloc() : memref<1x256x6x24xi32>
    // CHECK: affine.load %arg0[0, %{{.*}}, %{{.*}}, %{{.*}} * 4 + %{{.*}}] : memref<1x8x6x96xi8>
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 {
      affine.store %zero, %s[0, %o, %h, %i] : memref<1x64x6x96xi32> } } } {pb.nest = "in", pb.part = "init"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 { affine.for %k = 0 to 8 {
      %0 = affine.load %x[0, %k, %h, %i] : memref<1x8x6x96xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %w[%o, %k, 0, 0] : memref<64x8x1x1xi8>
      %3 = arith.extsi %2 : i8 to i32
      %4 = arith.muli %1, %3 : i32
      %5 = affine.load %s[0, %o, %h, %i] : memref<1x64x6x96xi32>
      %6 = arith.addi %5, %4 : i32
      affine.store %6, %s[0, %o, %h, %i] : memref<1x64x6x96xi32> } } } } {pb.nest = "in", pb.part = "reduce"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 {
      %0 = affine.load %s[0, %o, %h, %i] : memref<1x64x6x96xi32>
      %1 = affine.load %b[%o] : memref<64xi32>
      %2 = arith.addi %0, %1 : i32
      %3 = arith.trunci %2 : i32 to i8
      affine.store %3, %c[0, %o, %h, %i] : memref<1x64x6x96xi8> } } } {pb.nest = "in", pb.part = "point"}
    // CHECK: affine.store %{{.*}}, %[[P:.*]][0, %{{.*}}, %{{.*}} + 1, %{{.*}} + 1] : memref<1x256x8x26xi8>
    affine.for %o = 0 to 64 { affine.for %h = 0 to 2 { affine.for %i = 0 to 98 {
      %n = arith.constant -3 : i8
      affine.store %n, %p[0, %o, %h * 7, %i] : memref<1x64x8x98xi8> } } } {pb.nest = "c", pb.part = "pad"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 2 {
      %n = arith.constant -3 : i8
      affine.store %n, %p[0, %o, %h + 1, %i * 97] : memref<1x64x8x98xi8> } } } {pb.nest = "c", pb.part = "pad"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 {
      %0 = affine.load %c[0, %o, %h, %i] : memref<1x64x6x96xi8>
      affine.store %0, %p[0, %o, %h + 1, %i + 1] : memref<1x64x8x98xi8> } } } {pb.nest = "c", pb.part = "copy"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 {
      affine.store %zero, %t[0, %o, %h, %i] : memref<1x64x6x96xi32> } } } {pb.nest = "c", pb.part = "init"}
    // CHECK: affine.load %[[P]][0, %{{.*}}, %{{.*}} + %{{.*}}, %{{.*}} + %{{.*}}] : memref<1x256x8x26xi8>
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 {
      affine.for %k = 0 to 64 { affine.for %r = 0 to 3 { affine.for %q = 0 to 3 {
        %0 = affine.load %p[0, %k, %h + %r, %i + %q] : memref<1x64x8x98xi8>
        %1 = arith.extsi %0 : i8 to i32
        %2 = affine.load %v[%o, %k, %r, %q] : memref<64x64x3x3xi8>
        %3 = arith.extsi %2 : i8 to i32
        %4 = arith.muli %1, %3 : i32
        %5 = affine.load %t[0, %o, %h, %i] : memref<1x64x6x96xi32>
        %6 = arith.addi %5, %4 : i32
        affine.store %6, %t[0, %o, %h, %i] : memref<1x64x6x96xi32> } } } } } } {pb.nest = "c", pb.part = "reduce"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 96 {
      %0 = affine.load %t[0, %o, %h, %i] : memref<1x64x6x96xi32>
      %1 = arith.trunci %0 : i32 to i8
      affine.store %1, %d[0, %o, %h, %i] : memref<1x64x6x96xi8> } } } {pb.nest = "c", pb.part = "point"}
    // CHECK: affine.load %{{.*}}[0, %{{.*}}, %{{.*}}, %{{.*}}] : memref<1x256x6x24xi8>
    // CHECK: affine.store %{{.*}}, %{{.*}} : memref<1x64x6x24xi32>
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 24 {
      affine.store %zero, %y[0, %o, %h, %i] : memref<1x64x6x24xi32> } } } {pb.nest = "out", pb.part = "init"}
    affine.for %o = 0 to 64 { affine.for %h = 0 to 6 { affine.for %i = 0 to 24 { affine.for %k = 0 to 64 {
      %0 = affine.load %d[0, %k, %h, %i * 4] : memref<1x64x6x96xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %u[%o, %k, 0, 0] : memref<64x64x1x1xi8>
      %3 = arith.extsi %2 : i8 to i32
      %4 = arith.muli %1, %3 : i32
      %5 = affine.load %y[0, %o, %h, %i] : memref<1x64x6x24xi32>
      %6 = arith.addi %5, %4 : i32
      affine.store %6, %y[0, %o, %h, %i] : memref<1x64x6x24xi32> } } } } {pb.nest = "out", pb.part = "reduce"}
    return
  }
}
