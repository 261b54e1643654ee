// Pixels of three colours, of 16 lanes: in blocks of 16 pixels, for which the scales of the colours are repeated.
// RUN: %pb-opt %s --target=cpu:avx512 --short_rows | %FileCheck %s
// CHECK: %[[R:.*]] = memref.alloc() : memref<16x3xf32>
// CHECK: affine.for %[[K:.*]] = 0 to 16 {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 3 {
// CHECK: affine.load %arg1[%[[C]]]
// CHECK: affine.store %{{.*}}, %[[R]][%[[K]], %[[C]]]
// CHECK: affine.for %[[I:.*]] = 0 to 512 {
// CHECK-NEXT: affine.for %[[B:.*]] = 0 to 32 {
// CHECK-NEXT: affine.for %[[Q:.*]] = 0 to 16 {
// CHECK-NEXT: affine.for %[[D:.*]] = 0 to 3 {
// CHECK: affine.load %arg0[%[[I]], %[[B]] * 16 + %[[Q]], %[[D]]]
// CHECK: affine.load %[[R]][%[[Q]], %[[D]]]
// CHECK: affine.store %{{.*}}, %arg2[%[[I]], %[[B]] * 16 + %[[Q]], %[[D]]]
// RUN: %pb-opt %s --target=cpu:avx512 --short_rows --check > /dev/null

// Warps of 32 lanes have longer blocks, chips without registers none, and rows that fill registers stay.
// RUN: %pb-opt %s --target=nvgpu:sm_80 --short_rows | %FileCheck %s --check-prefix=WARP
// WARP: memref.alloc() : memref<32x3xf32>
// RUN: %pb-opt %s --target=simnpu > %t.as && %pb-opt %s --target=simnpu --short_rows > %t.rows && diff %t.as %t.rows
// RUN: sed 's/3xf32/16xf32/g; s/0 to 3 /0 to 16 /' %s > %t && %pb-opt %t --target=cpu:avx512 > %t.as
// RUN: %pb-opt %t --target=cpu:avx512 --short_rows > %t.rows && diff %t.as %t.rows
module attributes {pb.stage = "s2"} {
  func.func @main(%arg0: memref<512x512x3xf32> {pb.input = "x"}, %arg1: memref<3xf32> {pb.input = "s"}, %arg2: memref<512x512x3xf32> {pb.output = "y"}) {
    affine.for %i = 0 to 512 {
      affine.for %j = 0 to 512 {
        affine.for %c = 0 to 3 {
          %x = affine.load %arg0[%i, %j, %c] : memref<512x512x3xf32>
          %s = affine.load %arg1[%c] : memref<3xf32>
          %p = arith.mulf %x, %s : f32
          affine.store %p, %arg2[%i, %j, %c] : memref<512x512x3xf32>
        }
      }
    } {pb.nest = "scale", pb.part = "point"}
    return
  }
}
