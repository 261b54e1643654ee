// 1,024 results of a row of 4,096 by a matrix: 16 registers of 64 lanes, for 1,216 waves. In eight parts 128 waves have one each.
// RUN: %pb-opt %s --target=amdgpu:gfx942 --split_sums | %FileCheck %s
// CHECK: %[[S:.*]] = memref.alloc() : memref<8x1x1024xf32>
// CHECK: affine.store %{{.*}}, %[[S]]
// CHECK: pb.part = "init"
// CHECK: affine.for %[[J:.*]] = 0 to 1024 {
// CHECK: affine.for %[[P:.*]] = 0 to 8 {
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 512 {
// CHECK: affine.load %arg0[0, %[[P]] * 512 + %[[K]]]
// CHECK: affine.load %arg1[%[[P]] * 512 + %[[K]], %[[J]]]
// CHECK: affine.load %[[S]][%[[P]], 0, %[[J]]]
// CHECK: pb.part = "init"
// CHECK: affine.for %[[Q:.*]] = 0 to 8 {
// CHECK: affine.load %[[S]][%[[Q]], 0, %{{.*}}]
// CHECK: affine.store %{{.*}}, %[[Y:.*]][0, %{{.*}}]
// RUN: %pb-opt %s --target=amdgpu:gfx942 --split_sums --check > /dev/null

// A few threads have enough to do.
// RUN: %pb-opt %s --target=cpu:avx512 > %t.as && %pb-opt %s --target=cpu:avx512 --split_sums > %t.split && diff %t.as %t.split
// Short sums stay.
// RUN: sed 's/4096/64/g' %s > %t && %pb-opt %t --target=amdgpu:gfx942 --split_sums | %FileCheck %s --check-prefix=SHORT
// SHORT-NOT: memref<8x
module attributes {pb.stage = "s2"} {
  func.func @main(%arg0: memref<1x4096xf32> {pb.input = "x"}, %arg1: memref<4096x1024xf32> {pb.input = "w"}, %arg2: memref<1x1024xf32> {pb.output = "y"}) {
    %sums = memref.alloc() : memref<1x1024xf32>
    affine.for %j = 0 to 1024 {
      %zero = arith.constant 0.0 : f32
      affine.store %zero, %sums[0, %j] : memref<1x1024xf32>
    } {pb.nest = "dense", pb.part = "init"}
    affine.for %j = 0 to 1024 {
      affine.for %k = 0 to 4096 {
        %x = affine.load %arg0[0, %k] : memref<1x4096xf32>
        %w = affine.load %arg1[%k, %j] : memref<4096x1024xf32>
        %p = arith.mulf %x, %w : f32
        %s = affine.load %sums[0, %j] : memref<1x1024xf32>
        %t = arith.addf %s, %p : f32
        affine.store %t, %sums[0, %j] : memref<1x1024xf32>
      }
    } {pb.nest = "dense", pb.part = "reduce"}
    affine.for %j = 0 to 1024 {
      %s = affine.load %sums[0, %j] : memref<1x1024xf32>
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %s, %zero : f32
      affine.store %r, %arg2[0, %j] : memref<1x1024xf32>
    } {pb.nest = "relu", pb.part = "point"}
    return
  }
}
