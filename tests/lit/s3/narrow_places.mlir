// Rows are looked up by numbers of 32 bits, with a sign and without, that were widened to be kept inside, and by numbers of 64 bits.
// RUN: %pb-opt %s --target=cpu:avx512 --narrow_places | %FileCheck %s
// CHECK: %[[X:.*]] = affine.load %arg0
// CHECK: %[[AT0:.*]] = arith.maxsi %[[X]], %{{.*}} : i32
// CHECK: %[[IN:.*]] = arith.minsi %[[AT0]], %{{.*}} : i32
// CHECK: arith.index_cast %[[IN]] : i32 to index
// CHECK: %[[U:.*]] = affine.load %arg0
// CHECK: arith.minui %[[U]], %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: affine.load %arg3
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i64
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// RUN: %pb-opt %s --target=cpu:avx512 --narrow_places --check > /dev/null

// Of a table of more rows than 32 bits count, with a sign, only numbers of which 32 bits are all with one stay below.
// RUN: sed 's/1000x/3000000000x/g; s/constant 999/constant 2999999999/' %s > %t
// RUN: %pb-opt %t --target=cpu:avx512 --narrow_places | %FileCheck %s --check-prefix=LONG
// LONG: arith.minui %{{.*}}, %{{.*}} : i32
// LONG-NOT: arith.trunci
// LONG: arith.minsi %{{.*}}, %{{.*}} : i64
// LONG: arith.index_cast %{{.*}} : i64 to index
// LONG: arith.minsi %{{.*}}, %{{.*}} : i64
// LONG: arith.index_cast %{{.*}} : i64 to index
module attributes {pb.stage = "s2"} {
  func.func @main(%arg0: memref<64xi32> {pb.input = "n"}, %arg1: memref<1000x8xf32> {pb.input = "t"}, %arg2: memref<64x8xf32> {pb.output = "y"}, %arg3: memref<64xi64> {pb.input = "m"}, %arg4: memref<64x8xf32> {pb.output = "z"}, %arg5: memref<64x8xf32> {pb.output = "w"}) {
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 8 {
        %n = affine.load %arg0[%i] : memref<64xi32>
        %wide = arith.extsi %n : i32 to i64
        %zero = arith.constant 0 : i64
        %from = arith.maxsi %wide, %zero : i64
        %last = arith.constant 999 : i64
        %in = arith.minsi %from, %last : i64
        %at = arith.index_cast %in : i64 to index
        %v = memref.load %arg1[%at, %j] : memref<1000x8xf32>
        affine.store %v, %arg2[%i, %j] : memref<64x8xf32>
      }
    } {pb.nest = "rows", pb.part = "gather"}
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 8 {
        %n = affine.load %arg0[%i] : memref<64xi32>
        %wide = arith.extui %n : i32 to i64
        %last = arith.constant 999 : i64
        %in = arith.minsi %wide, %last : i64
        %at = arith.index_cast %in : i64 to index
        %v = memref.load %arg1[%at, %j] : memref<1000x8xf32>
        affine.store %v, %arg4[%i, %j] : memref<64x8xf32>
      }
    } {pb.nest = "counted", pb.part = "gather"}
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 8 {
        %n = affine.load %arg3[%i] : memref<64xi64>
        %zero = arith.constant 0 : i64
        %from = arith.maxsi %n, %zero : i64
        %last = arith.constant 999 : i64
        %in = arith.minsi %from, %last : i64
        %at = arith.index_cast %in : i64 to index
        %v = memref.load %arg1[%at, %j] : memref<1000x8xf32>
        affine.store %v, %arg5[%i, %j] : memref<64x8xf32>
      }
    } {pb.nest = "long", pb.part = "gather"}
    return
  }
}
