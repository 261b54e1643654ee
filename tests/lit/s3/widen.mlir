// Codes that products take are stored as wide as the cores multiply them. What makes them extends them once; who takes
// them otherwise gets the 8 bits, or extends from 16. Weights, and codes that no product takes, stay as they are.
// RUN: %pb-opt %s --target=cpu:v3 --widen --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:avx512 --widen | %FileCheck %s --check-prefix=NARROW
// RUN: %pb-opt %s --target=simnpu --widen | %FileCheck %s --check-prefix=NARROW
// NARROW-NOT: i16

module {
func.func @main(%x: memref<16x32xf32> {pb.input = "x"}, %w: memref<32x8xi8> {pb.const = 0 : i64}, %y: memref<16x8xi32> {pb.output = "y"}, %u: memref<16x16xi32> {pb.output = "u"}, %z: memref<16x16xi8> {pb.output = "z"}, %f: memref<16x32xf32> {pb.output = "f"}, %t: memref<16x32xi8> {pb.output = "t"}) {
  %a = memref.alloc() : memref<16x32xi8>
  %b = memref.alloc() : memref<16x32xi8>
  // CHECK: %[[A:.*]] = memref.alloc() : memref<16x32xi16>
  // CHECK: %[[B:.*]] = memref.alloc() : memref<16x32xi16>
  // CHECK: %[[I:.*]] = arith.fptosi %{{.*}} : f32 to i32
  // CHECK: %[[H:.*]] = arith.trunci %[[I]] : i32 to i16
  // CHECK: affine.store %[[H]], %[[A]]
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 {
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %0 = affine.load %x[%i, %j] : memref<16x32xf32>
    %1 = math.roundeven %0 : f32
    %2 = arith.maxnumf %1, %lo : f32
    %3 = arith.minnumf %2, %hi : f32
    %4 = arith.fptosi %3 : f32 to i8
    affine.store %4, %a[%i, %j] : memref<16x32xi8> } } {pb.nest = "codes", pb.part = "point"}
  // CHECK: arith.constant -128 : i16
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 {
    %0 = arith.constant -128 : i8
    affine.store %0, %b[%i, %j] : memref<16x32xi8> } } {pb.nest = "pool", pb.part = "init"}
  // CHECK: arith.maxsi %{{.*}}, %{{.*}} : i16
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 { affine.for %k = 0 to 2 {
    %0 = affine.load %a[%i, %j] : memref<16x32xi8>
    %1 = affine.load %b[%i, %j] : memref<16x32xi8>
    %2 = arith.maxsi %1, %0 : i8
    affine.store %2, %b[%i, %j] : memref<16x32xi8> } } } {pb.nest = "pool", pb.part = "reduce"}
  affine.for %i = 0 to 16 { affine.for %j = 0 to 8 {
    %0 = arith.constant 0 : i32
    affine.store %0, %y[%i, %j] : memref<16x8xi32> } } {pb.nest = "product", pb.part = "init"}
  // CHECK: arith.extsi %{{.*}} : i16 to i32
  // CHECK: arith.extsi %{{.*}} : i8 to i32
  affine.for %i = 0 to 16 { affine.for %j = 0 to 8 { affine.for %k = 0 to 32 {
    %0 = affine.load %b[%i, %k] : memref<16x32xi8>
    %1 = affine.load %w[%k, %j] : memref<32x8xi8>
    %2 = arith.extsi %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = affine.load %y[%i, %j] : memref<16x8xi32>
    %6 = arith.addi %5, %4 : i32
    affine.store %6, %y[%i, %j] : memref<16x8xi32> } } } {pb.nest = "product", pb.part = "reduce"}
  affine.for %i = 0 to 16 { affine.for %j = 0 to 16 {
    %0 = arith.constant 0 : i32
    affine.store %0, %u[%i, %j] : memref<16x16xi32> } } {pb.nest = "computed", pb.part = "init"}
  // CHECK-COUNT-2: arith.extsi %{{.*}} : i16 to i32
  affine.for %i = 0 to 16 { affine.for %j = 0 to 16 { affine.for %k = 0 to 32 {
    %0 = affine.load %a[%i, %k] : memref<16x32xi8>
    %1 = affine.load %b[%j, %k] : memref<16x32xi8>
    %2 = arith.extsi %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = affine.load %u[%i, %j] : memref<16x16xi32>
    %6 = arith.addi %5, %4 : i32
    affine.store %6, %u[%i, %j] : memref<16x16xi32> } } } {pb.nest = "computed", pb.part = "reduce"}
  affine.for %i = 0 to 16 { affine.for %j = 0 to 16 {
    %0 = arith.constant 7 : i8
    affine.store %0, %z[%i, %j] : memref<16x16xi8> } } {pb.nest = "whole", pb.part = "point"}
  // CHECK: %[[N:.*]] = arith.trunci %{{.*}} : i16 to i8
  // CHECK: affine.store %[[N]]
  affine.for %i = 0 to 16 { affine.for %j = 0 to 16 {
    %0 = affine.load %b[%i, %j + 16] : memref<16x32xi8>
    affine.store %0, %z[%i, %j] : memref<16x16xi8> } } {pb.nest = "part", pb.part = "copy"}
  // CHECK: arith.sitofp %{{.*}} : i16 to f32
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 {
    %0 = affine.load %b[%i, %j] : memref<16x32xi8>
    %1 = arith.sitofp %0 : i8 to f32
    affine.store %1, %f[%i, %j] : memref<16x32xf32> } } {pb.nest = "floats", pb.part = "point"}
  // CHECK: arith.trunci %{{.*}} : i16 to i8
  // CHECK: arith.xori %{{.*}} : i8
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 {
    %m = arith.constant -128 : i8
    %0 = affine.load %b[%i, %j] : memref<16x32xi8>
    %1 = arith.xori %0, %m : i8
    affine.store %1, %t[%i, %j] : memref<16x32xi8> } } {pb.nest = "flipped", pb.part = "point"}
  return
}
}
