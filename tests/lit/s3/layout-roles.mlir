// What lies along the lanes is told by roles: the results' columns, which are the last dim here, and not the second one
// because a convolution's are. Cores make rows of them, in place; units that take rows of lanes get rows of two dims.
// RUN: %pb-opt %s --target=cpu:avx512 --layout --check | %FileCheck %s
// RUN: %pb-opt %s --target=%S/../../chips/floatnpu.td --layout --check | %FileCheck %s --check-prefix=ROWS
// CHECK-NOT: memref.alloc() : memref<1x1x6x32x16xf32>
// CHECK-DAG: memref.alloc() : memref<1x1x6x32xf32>
// CHECK-DAG: memref.alloc() : memref<1x1x6x48xf32>
// CHECK: pb.nest = "product", pb.part = "reduce"
// ROWS: memref.alloc() : memref<6x12x4xf32>
// ROWS: pb.nest = "product", pb.part = "reduce"
func.func @main(%x: memref<1x1x6x32xf32> {pb.input = "x"}, %w: memref<32x48xf32> {pb.const = 0 : i64}, %y: memref<1x1x6x48xf32> {pb.output = "y"}) {
  %t = memref.alloc() : memref<1x1x6x32xf32>
  %s = memref.alloc() : memref<1x1x6x48xf32>
  affine.for %i = 0 to 6 {
    affine.for %k = 0 to 32 {
      %0 = affine.load %x[0, 0, %i, %k] : memref<1x1x6x32xf32>
      %1 = arith.addf %0, %0 : f32
      affine.store %1, %t[0, 0, %i, %k] : memref<1x1x6x32xf32>
    }
  } {pb.nest = "twice", pb.part = "point"}
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 48 {
      %zero = arith.constant 0.0 : f32
      affine.store %zero, %s[0, 0, %i, %j] : memref<1x1x6x48xf32>
    }
  } {pb.nest = "product", pb.part = "init"}
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 48 {
      affine.for %k = 0 to 32 {
        %0 = affine.load %t[0, 0, %i, %k] : memref<1x1x6x32xf32>
        %1 = affine.load %w[%k, %j] : memref<32x48xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = affine.load %s[0, 0, %i, %j] : memref<1x1x6x48xf32>
        %4 = arith.addf %3, %2 : f32
        affine.store %4, %s[0, 0, %i, %j] : memref<1x1x6x48xf32>
      }
    }
  } {pb.nest = "product", pb.part = "reduce"}
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 48 {
      %0 = affine.load %s[0, 0, %i, %j] : memref<1x1x6x48xf32>
      %1 = arith.addf %0, %0 : f32
      affine.store %1, %y[0, 0, %i, %j] : memref<1x1x6x48xf32>
    }
  } {pb.nest = "out", pb.part = "point"}
  return
}
