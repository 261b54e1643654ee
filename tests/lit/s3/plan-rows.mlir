// What a product makes is added to each of five rows, which are none of its loops: registers do not follow it there.
// RUN: %pb-opt %s --target=cpu:v3 --plan 2> /dev/null | %FileCheck %s
// CHECK-NOT: pb.plan
// CHECK: pb.scalar = "a nest that takes its result walks it otherwise"

func.func @k0(%x: memref<1x64xf32> {pb.input = ""}, %w: memref<4x64x8xf32> {pb.const = -1 : i64}, %z: memref<5x32xf32> {pb.input = ""}, %y: memref<5x32xf32> {pb.output = ""}) attributes {pb.kernel} {
  %t = memref.alloc() : memref<1x32xf32>
  affine.for %b = 0 to 4 {
    affine.for %n = 0 to 8 {
      %cst = arith.constant 0.0 : f32
      affine.store %cst, %t[0, %b * 8 + %n] : memref<1x32xf32>
    }
  } {pb.nest = "product", pb.part = "init"}
  affine.for %b = 0 to 4 {
    affine.for %n = 0 to 8 {
      affine.for %k = 0 to 64 {
        %0 = affine.load %x[0, %k] : memref<1x64xf32>
        %1 = affine.load %w[%b, %k, %n] : memref<4x64x8xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = affine.load %t[0, %b * 8 + %n] : memref<1x32xf32>
        %4 = arith.addf %3, %2 : f32
        affine.store %4, %t[0, %b * 8 + %n] : memref<1x32xf32>
      }
    }
  } {pb.macs = 2048 : i64, pb.nest = "product", pb.part = "reduce"}
  affine.for %m = 0 to 5 {
    affine.for %b = 0 to 4 {
      affine.for %n = 0 to 8 {
        %0 = affine.load %z[%m, %b * 8 + %n] : memref<5x32xf32>
        %1 = affine.load %t[0, %b * 8 + %n] : memref<1x32xf32>
        %2 = arith.addf %0, %1 : f32
        affine.store %2, %y[%m, %b * 8 + %n] : memref<5x32xf32>
      }
    }
  } {pb.nest = "sum", pb.part = "point"}
  return
}
