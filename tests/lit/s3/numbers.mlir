// Nests of cores that differ in numbers alone read them from constants: numbers that differ, whatever they are, those that
// are equal in each of them once; then they are one kernel. A number that all have alike stays, and so does all where
// commands carry numbers.
// RUN: %pb-opt %s --target=cpu:v3 --numbers --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --numbers --outline | %FileCheck %s --check-prefix=KERNEL
// RUN: %pb-opt %s --target=cpu:v3 --numbers --outline --plan --tile --registers --check | %FileCheck %s --check-prefix=LOWERED
// RUN: %pb-opt %s --target=simnpu --numbers | %FileCheck %s --check-prefix=QUEUES
// QUEUES-NOT: affine.load %{{.*}}[0]
// KERNEL-COUNT-2: pb.kernel
// KERNEL-NOT: pb.kernel

// CHECK: {pb.output = "u"}, %[[N0:[^ ]*]]: memref<2xf32> {pb.const = 0 : i64}, %[[N1:[^ ]*]]: memref<2xf32> {pb.const = 1 : i64}
// Numbers are read in front of all loops.
// LOWERED: %[[ONE:.*]] = affine.load %{{.*}}[0] : memref<2xf32>
// LOWERED-NEXT: vector.broadcast %[[ONE]] : f32 to vector<8xf32>
// LOWERED: affine.for
module {
func.func @main(%x: memref<512xf32> {pb.input = "x"}, %y: memref<512xf32> {pb.output = "y"}, %z: memref<512xf32> {pb.output = "z"}, %u: memref<512xf32> {pb.output = "u"}) {
  // CHECK: arith.constant 5.000000e-01 : f32
  // CHECK: %[[A:.*]] = affine.load %[[N0]][0]
  // CHECK: %[[B:.*]] = affine.load %[[N0]][1]
  // CHECK: arith.mulf %{{.*}}, %[[A]]
  // CHECK: arith.addf %{{.*}}, %[[B]]
  // CHECK: arith.mulf %{{.*}}, %[[A]]
  affine.for %i = 0 to 512 {
    %half = arith.constant 0.5 : f32
    %a = arith.constant 0.25 : f32
    %b = arith.constant 0.0 : f32
    %0 = affine.load %x[%i] : memref<512xf32>
    %1 = arith.subf %0, %half : f32
    %2 = arith.mulf %1, %a : f32
    %3 = arith.addf %2, %b : f32
    %4 = arith.mulf %3, %a : f32
    affine.store %4, %y[%i] : memref<512xf32> } {pb.nest = "first", pb.part = "point"}
  // CHECK: arith.constant 5.000000e-01 : f32
  // CHECK: affine.load %[[N1]][0]
  affine.for %i = 0 to 512 {
    %half = arith.constant 0.5 : f32
    %a = arith.constant 3.5 : f32
    %b = arith.constant -7.0 : f32
    %0 = affine.load %x[%i] : memref<512xf32>
    %1 = arith.subf %0, %half : f32
    %2 = arith.mulf %1, %a : f32
    %3 = arith.addf %2, %b : f32
    %4 = arith.mulf %3, %a : f32
    affine.store %4, %z[%i] : memref<512xf32> } {pb.nest = "second", pb.part = "point"}
  // CHECK: arith.constant 2.000000e+00 : f32
  affine.for %i = 0 to 512 {
    %a = arith.constant 2.0 : f32
    %0 = affine.load %x[%i] : memref<512xf32>
    %1 = arith.mulf %0, %a : f32
    affine.store %1, %u[%i] : memref<512xf32> } {pb.nest = "alone", pb.part = "point"}
  return
}
}
