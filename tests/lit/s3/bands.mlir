// 900 x 1024 sums of two neighbours, 3.7 MB, are taken by two lines apart: bands of 60 lines, each of 62 in what lies between, of
// which the last two are made again by the next band. Stages share bands, so that nothing of it goes through memory.
// RUN: %pb-opt %s --target=cpu:avx512 --bands | %FileCheck %s
// CHECK: %[[V:.*]] = memref.alloc() : memref<[[BANDS:[0-9]+]]x[[WHOLE:[0-9]+]]x1024xf32>
// CHECK: affine.for %[[B:.*]] = 0 to [[BANDS]] {
// CHECK-NEXT: affine.for %[[Q:.*]] = 0 to [[WHOLE]] {
// CHECK: affine.load %arg0[%[[B]] * [[LINES:[0-9]+]] + %[[Q]] + 1, %{{.*}} + 1]
// CHECK: affine.store %{{.*}}, %[[V]][%[[B]], %[[Q]], %{{.*}}]
// CHECK: affine.for %[[C:.*]] = 0 to [[BANDS]] {
// CHECK-NEXT: affine.for %[[I:.*]] = 0 to [[LINES]] {
// CHECK: affine.load %[[V]][%[[C]], %[[I]] + 2, %{{.*}}]
// CHECK: affine.store %{{.*}}, %arg1[%[[C]] * [[LINES]] + %[[I]], %{{.*}}]
// RUN: %pb-opt %s --target=cpu:avx512 --bands --check > /dev/null
// RUN: %pb-opt %s --target=cpu:avx512 --bands --outline | %FileCheck %s --check-prefix=ONE
// ONE-COUNT-1: pb.kernel
// ONE-NOT: pb.kernel

// What is small stays in caches as it is.
// RUN: sed 's/1024/64/g; s/1025/65/g' %s > %t && %pb-opt %t --target=cpu:avx512 > %t.as && %pb-opt %t --target=cpu:avx512 --bands > %t.banded
// RUN: diff %t.as %t.banded
module attributes {pb.stage = "s2"} {
  func.func @main(%arg0: memref<903x1025xf32> {pb.input = "x"}, %arg1: memref<900x1024xf32> {pb.output = "y"}) {
    %v = memref.alloc() : memref<903x1024xf32>
    affine.for %i = 0 to 903 {
      affine.for %j = 0 to 1024 {
        %a = affine.load %arg0[%i, %j] : memref<903x1025xf32>
        %b = affine.load %arg0[%i, %j + 1] : memref<903x1025xf32>
        %c = arith.addf %a, %b : f32
        affine.store %c, %v[%i, %j] : memref<903x1024xf32>
      }
    } {pb.nest = "across", pb.part = "point"}
    affine.for %i = 0 to 900 {
      affine.for %j = 0 to 1024 {
        %a = affine.load %v[%i + 1, %j] : memref<903x1024xf32>
        %b = affine.load %v[%i + 3, %j] : memref<903x1024xf32>
        %c = arith.addf %a, %b : f32
        affine.store %c, %arg1[%i, %j] : memref<900x1024xf32>
      }
    } {pb.nest = "down", pb.part = "point"}
    return
  }
}
