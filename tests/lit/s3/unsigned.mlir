// Chips whose products read codes without sign have them so in all their memories: what makes a code gives 128 more, what
// reads one takes them off again, and what a sum has too much is in the bias.
// RUN: %pb-opt %s --target=%S/../../chips/tpu_v1_unsigned.td --unsigned --check | %FileCheck %s
// A chip whose products read them with sign has nothing to do, and cores flip the bit as they load.
// RUN: %pb-opt %s --target=%S/../../chips/tpu_v1.td --unsigned --check | %FileCheck %s --check-prefix=SIGNED
// RUN: %pb-opt %s --target=cpu:v3 --unsigned --check | %FileCheck %s --check-prefix=SIGNED
// SIGNED-NOT: arith.xori
// SIGNED-NOT: arith.extui
// SIGNED: return

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<1x4x6x6xf32> {pb.input = "x"}, %w: memref<5x4x3x3xi8> {pb.const = 0 : i64},
                  %b: memref<5xi32> {pb.const = 1 : i64}, %y: memref<1x5x6x6xi8> {pb.output = "y"},
                  %z: memref<1x5x6x6xf32> {pb.output = "z"}) {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant -7 : i8
    %low = arith.constant -1.28e+02 : f32
    %high = arith.constant 1.27e+02 : f32
    %scale = arith.constant 5.0e-01 : f32
    %codes = memref.alloc() : memref<1x4x6x6xi8>
    %padded = memref.alloc() : memref<1x4x8x8xi8>
    %sums = memref.alloc() : memref<1x5x6x6xi32>
    %made = memref.alloc() : memref<1x5x6x6xi8>
    %most = memref.alloc() : memref<1x5x6x6xi8>
    // Codes are rounded and clamped as they were, 128 further up.
    // CHECK: math.roundeven
    // CHECK-NEXT: arith.constant 1.280000e+02 : f32
    // CHECK-NEXT: arith.addf
    // CHECK: arith.constant 2.550000e+02 : f32
    // CHECK: arith.fptoui %{{.*}} : f32 to i8
    affine.for %c = 0 to 4 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      %0 = affine.load %x[0, %c, %h, %v] : memref<1x4x6x6xf32>
      %1 = arith.mulf %0, %scale : f32
      %2 = math.roundeven %1 : f32
      %3 = arith.maxnumf %2, %low : f32
      %4 = arith.minnumf %3, %high : f32
      %5 = arith.fptosi %4 : f32 to i8
      affine.store %5, %codes[0, %c, %h, %v] : memref<1x4x6x6xi8> } } } {pb.nest = "codes", pb.part = "point"}
    // CHECK: arith.constant 121 : i8
    affine.for %c = 0 to 4 { affine.for %h = 0 to 8 { affine.for %v = 0 to 8 {
      affine.store %zero, %padded[0, %c, %h, %v] : memref<1x4x8x8xi8> } } } {pb.nest = "conv", pb.part = "fill"}
    affine.for %c = 0 to 4 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      %0 = affine.load %codes[0, %c, %h, %v] : memref<1x4x6x6xi8>
      affine.store %0, %padded[0, %c, %h + 1, %v + 1] : memref<1x4x8x8xi8> } } } {pb.nest = "conv", pb.part = "pad"}
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      affine.store %c0, %sums[0, %k, %h, %v] : memref<1x5x6x6xi32> } } } {pb.nest = "conv", pb.part = "init"}
    // CHECK: arith.extui %{{.*}} : i8 to i32
    // CHECK-NEXT: affine.load
    // CHECK-NEXT: arith.extsi %{{.*}} : i8 to i32
    // CHECK-NEXT: arith.muli
    // CHECK: pb.nest = "conv", pb.part = "reduce"
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      affine.for %c = 0 to 4 { affine.for %r = 0 to 3 { affine.for %s = 0 to 3 {
        %0 = affine.load %padded[0, %c, %h + %r, %v + %s] : memref<1x4x8x8xi8>
        %1 = arith.extsi %0 : i8 to i32
        %2 = affine.load %w[%k, %c, %r, %s] : memref<5x4x3x3xi8>
        %3 = arith.extsi %2 : i8 to i32
        %4 = arith.muli %1, %3 : i32
        %5 = affine.load %sums[0, %k, %h, %v] : memref<1x5x6x6xi32>
        %6 = arith.addi %5, %4 : i32
        affine.store %6, %sums[0, %k, %h, %v] : memref<1x5x6x6xi32> } } } } } } {pb.nest = "conv", pb.part = "reduce"}
    // No number is added here but the bias, which is another one.
    // CHECK: affine.load %arg5[
    // CHECK-NEXT: arith.addi
    // CHECK-NOT: arith.addi
    // CHECK: arith.fptoui %{{.*}} : f32 to i8
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      %0 = affine.load %sums[0, %k, %h, %v] : memref<1x5x6x6xi32>
      %1 = affine.load %b[%k] : memref<5xi32>
      %2 = arith.addi %0, %1 : i32
      %3 = arith.sitofp %2 : i32 to f32
      %4 = arith.mulf %3, %scale : f32
      %5 = math.roundeven %4 : f32
      %6 = arith.maxnumf %5, %low : f32
      %7 = arith.minnumf %6, %high : f32
      %8 = arith.fptosi %7 : f32 to i8
      affine.store %8, %made[0, %k, %h, %v] : memref<1x5x6x6xi8> } } } {pb.nest = "conv", pb.part = "point"}
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      %least = arith.constant -128 : i8
      affine.store %least, %most[0, %k, %h, %v] : memref<1x5x6x6xi8> } } } {pb.nest = "pool", pb.part = "init"}
    // CHECK: arith.maxui
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 { affine.for %r = 0 to 6 {
      %0 = affine.load %made[0, %k, %r, %v] : memref<1x5x6x6xi8>
      %1 = affine.load %most[0, %k, %h, %v] : memref<1x5x6x6xi8>
      %2 = arith.maxsi %1, %0 : i8
      affine.store %2, %most[0, %k, %h, %v] : memref<1x5x6x6xi8> } } } } {pb.nest = "pool", pb.part = "reduce"}
    // A zero point of -7 is one of 121.
    // CHECK: arith.extui
    // CHECK-NEXT: arith.sitofp
    // CHECK-NEXT: arith.constant 1.210000e+02 : f32
    // CHECK-NEXT: arith.subf
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      %seven = arith.constant 7.0 : f32
      %0 = affine.load %most[0, %k, %h, %v] : memref<1x5x6x6xi8>
      %1 = arith.sitofp %0 : i8 to f32
      %2 = arith.addf %1, %seven : f32
      %3 = arith.mulf %2, %scale : f32
      affine.store %3, %z[0, %k, %h, %v] : memref<1x5x6x6xf32> } } } {pb.nest = "floats", pb.part = "point"}
    // What goes out has its sign: here the model's codes are i8.
    affine.for %k = 0 to 5 { affine.for %h = 0 to 6 { affine.for %v = 0 to 6 {
      %0 = affine.load %most[0, %k, %h, %v] : memref<1x5x6x6xi8>
      affine.store %0, %y[0, %k, %h, %v] : memref<1x5x6x6xi8> } } } {pb.nest = "out", pb.part = "point"}
    // CHECK: arith.xori
    // CHECK-NEXT: arith.trunci
    // CHECK-NEXT: affine.store %{{.*}}, %arg3[
    return
  }
}
