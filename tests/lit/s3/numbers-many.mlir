// Two sums of codes with a bias of codes between them have nine numbers: more than the tensors that passes give a nest.
// RUN: %pb-opt %s --target=cpu:v3 --numbers --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --numbers --outline | %FileCheck %s --check-prefix=KERNEL
// RUN: %pb-opt %s --target=cpu:v3 --numbers --outline --plan --tile --registers --check | %FileCheck %s --check-prefix=LOWERED
// KERNEL-COUNT-1: pb.kernel
// KERNEL-NOT: pb.kernel
// LOWERED-COUNT-9: affine.load %{{.*}}[{{[0-8]}}] : memref<9xf32>
// CHECK: %[[N0:[^ ]*]]: memref<9xf32> {pb.const = 0 : i64}, %[[N1:[^ ]*]]: memref<9xf32> {pb.const = 1 : i64}
module {
func.func @main(%x: memref<512xf32> {pb.input = "x"}, %w: memref<512xf32> {pb.input = "w"}, %y: memref<512xf32> {pb.output = "y"}, %z: memref<512xf32> {pb.output = "z"}) {
  // CHECK: affine.load %[[N0]][0]
  // CHECK: affine.load %[[N0]][8]
  affine.for %i = 0 to 512 {
    %c0 = arith.constant 0.5 : f32
    %c1 = arith.constant 1.5 : f32
    %c2 = arith.constant 2.5 : f32
    %c3 = arith.constant 3.5 : f32
    %c4 = arith.constant 4.5 : f32
    %c5 = arith.constant 5.5 : f32
    %c6 = arith.constant 6.5 : f32
    %c7 = arith.constant 7.5 : f32
    %c8 = arith.constant 8.5 : f32
    %x0 = affine.load %x[%i] : memref<512xf32>
    %w0 = affine.load %w[%i] : memref<512xf32>
    %s0 = arith.addf %x0, %w0 : f32
    %s1 = arith.addf %s0, %c0 : f32
    %s2 = arith.mulf %s1, %c1 : f32
    %s3 = arith.addf %s2, %c2 : f32
    %s4 = arith.mulf %s3, %c3 : f32
    %s5 = arith.addf %s4, %c4 : f32
    %s6 = arith.mulf %s5, %c5 : f32
    %s7 = arith.addf %s6, %c6 : f32
    %s8 = arith.mulf %s7, %c7 : f32
    %s9 = arith.addf %s8, %c8 : f32
    affine.store %s9, %y[%i] : memref<512xf32> } {pb.nest = "first", pb.part = "point"}
  // CHECK: affine.load %[[N1]][0]
  // CHECK: affine.load %[[N1]][8]
  affine.for %i = 0 to 512 {
    %c0 = arith.constant 20.5 : f32
    %c1 = arith.constant 21.5 : f32
    %c2 = arith.constant 22.5 : f32
    %c3 = arith.constant 23.5 : f32
    %c4 = arith.constant 24.5 : f32
    %c5 = arith.constant 25.5 : f32
    %c6 = arith.constant 26.5 : f32
    %c7 = arith.constant 27.5 : f32
    %c8 = arith.constant 28.5 : f32
    %x0 = affine.load %x[%i] : memref<512xf32>
    %w0 = affine.load %w[%i] : memref<512xf32>
    %s0 = arith.addf %x0, %w0 : f32
    %s1 = arith.addf %s0, %c0 : f32
    %s2 = arith.mulf %s1, %c1 : f32
    %s3 = arith.addf %s2, %c2 : f32
    %s4 = arith.mulf %s3, %c3 : f32
    %s5 = arith.addf %s4, %c4 : f32
    %s6 = arith.mulf %s5, %c5 : f32
    %s7 = arith.addf %s6, %c6 : f32
    %s8 = arith.mulf %s7, %c7 : f32
    %s9 = arith.addf %s8, %c8 : f32
    affine.store %s9, %z[%i] : memref<512xf32> } {pb.nest = "second", pb.part = "point"}
  return
}
}
