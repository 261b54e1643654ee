// Weights that the caches near a core do not hold are brought there a block ahead, line by line, while all rows are
// multiplied by the block in front.
// RUN: %pb-opt %s --target=cpu:v3 --layout --outline --plan --tile --registers > %t
// RUN: %FileCheck %s --input-file=%t
// RUN: %pb-opt %t --target=cpu:v3 --check > /dev/null
// CHECK: affine.for %[[K:.*]] = 0 to 1024 {{.*}} iter_args(
// CHECK: affine.vector_load {{.*}} + %[[K]] * 8] {pb.prefetch = 16384 : i64} : memref<1048576xf32>, vector<8xf32>
// CHECK: affine.vector_load {{.*}} + %[[K]] * 8 + 8192] {pb.prefetch = 16384 : i64} : memref<1048576xf32>, vector<8xf32>
// CHECK: affine.vector_load {{.*}} + %[[K]] * 8 + 8] : memref<1048576xf32>, vector<8xf32>
// CHECK: affine.vector_load {{.*}} + %[[K]] * 8 + 16] {pb.prefetch = 16384 : i64} : memref<1048576xf32>, vector<8xf32>

// Weights that they hold, and those of which one row takes everything once, stay where they are until they are read.
// RUN: sed 's/1024x1024/1024x128/; s/64x1024xf32> {pb.output/64x128xf32> {pb.output/; s/, %j\] : memref<64x1024xf32>/, %j] : memref<64x128xf32>/; s/%j = 0 to 1024/%j = 0 to 128/; s/%w\(.*\)memref<1024x1024xf32>/%w\1memref<1024x128xf32>/' %s | %pb-opt - --target=cpu:v3 --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=NONE
// RUN: sed 's/64x1024/1x1024/g; s/0 to 64/0 to 1/' %s | %pb-opt - --target=cpu:v3 --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=NONE
// NONE: func.call @VFMADD
// NONE-NOT: pb.prefetch
module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<64x1024xf32> {pb.input = "x"}, %w: memref<1024x1024xf32> {pb.const = 0 : i64}, %y: memref<64x1024xf32> {pb.output = "y"}) attributes {pb.program} {
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 1024 {
        %zero = arith.constant 0.0 : f32
        affine.store %zero, %y[%i, %j] : memref<64x1024xf32>
      }
    } {pb.nest = "y", pb.part = "init"}
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 1024 {
        affine.for %k = 0 to 1024 {
          %a = affine.load %x[%i, %k] : memref<64x1024xf32>
          %b = affine.load %w[%k, %j] : memref<1024x1024xf32>
          %product = arith.mulf %a, %b : f32
          %so_far = affine.load %y[%i, %j] : memref<64x1024xf32>
          %sum = arith.addf %so_far, %product : f32
          affine.store %sum, %y[%i, %j] : memref<64x1024xf32>
        }
      }
    } {pb.nest = "y", pb.part = "reduce"}
    return
  }
}
