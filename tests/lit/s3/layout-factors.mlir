// A factor that is computed is read where it lies, if vectors of it lie in short rows; one of long rows is copied into
// the order of the product first.
// RUN: %pb-opt %s --target=cpu:avx512 --layout | %FileCheck %s
// RUN: sed 's/128/160/g' %s | %pb-opt - --target=cpu:avx512 --layout | %FileCheck %s --check-prefix=LONG
// CHECK-NOT: pb.part = "copy"
// CHECK: affine.load %arg1[%{{.*}}, %{{.*}} * 16 + %{{.*}}] : memref<64x128xf32>
// LONG: pb.nest = "product", pb.part = "copy"
module attributes {pb.stage = "s2"} {
func.func @main(%x: memref<64x64xf32> {pb.input = "x"}, %w: memref<64x128xf32> {pb.input = "w"}, %y: memref<64x128xf32> {pb.output = "y"}) {
  affine.for %i0 = 0 to 64 {
    affine.for %i1 = 0 to 128 {
      %e0 = arith.constant 0.0 : f32
      affine.store %e0, %y[%i0, %i1] : memref<64x128xf32>
    }
  } {pb.nest = "product", pb.part = "init"}
  affine.for %i2 = 0 to 64 {
    affine.for %i3 = 0 to 128 {
      affine.for %i4 = 0 to 64 {
        %x0 = affine.load %x[%i2, %i4] : memref<64x64xf32>
        %w0 = affine.load %w[%i4, %i3] : memref<64x128xf32>
        %p0 = arith.mulf %x0, %w0 : f32
        %o0 = affine.load %y[%i2, %i3] : memref<64x128xf32>
        %r0 = arith.addf %o0, %p0 : f32
        affine.store %r0, %y[%i2, %i3] : memref<64x128xf32>
      }
    }
  } {pb.nest = "product", pb.part = "reduce"}
  return
}
}
