// Fourteen numbers beside a load and a store are as many as a nest may read; a sum reads what is there as well, and has one
// place less: its numbers stay.
// RUN: %pb-opt %s --target=cpu:v3 --numbers --check | %FileCheck %s
// CHECK: memref<14xf32> {pb.const = 0 : i64}, %{{[^ ]*}}: memref<14xf32> {pb.const = 1 : i64})
module {
func.func @main(%x: memref<64x8xf32> {pb.input = "x"}, %y: memref<64x8xf32> {pb.output = "y"}, %z: memref<64x8xf32> {pb.output = "z"}, %p: memref<64xf32> {pb.output = "p"}, %q: memref<64xf32> {pb.output = "q"}) {
  affine.for %i = 0 to 64 {
    affine.for %k = 0 to 8 {
      %c0 = arith.constant 0.5 : f32
      %c1 = arith.constant 1.5 : f32
      %c2 = arith.constant 2.5 : f32
      %c3 = arith.constant 3.5 : f32
      %c4 = arith.constant 4.5 : f32
      %c5 = arith.constant 5.5 : f32
      %c6 = arith.constant 6.5 : f32
      %c7 = arith.constant 7.5 : f32
      %c8 = arith.constant 8.5 : f32
      %c9 = arith.constant 9.5 : f32
      %c10 = arith.constant 10.5 : f32
      %c11 = arith.constant 11.5 : f32
      %c12 = arith.constant 12.5 : f32
      %c13 = arith.constant 13.5 : f32
      %s0 = affine.load %x[%i, %k] : memref<64x8xf32>
      %s1 = arith.addf %s0, %c0 : f32
      %s2 = arith.mulf %s1, %c1 : f32
      %s3 = arith.addf %s2, %c2 : f32
      %s4 = arith.mulf %s3, %c3 : f32
      %s5 = arith.addf %s4, %c4 : f32
      %s6 = arith.mulf %s5, %c5 : f32
      %s7 = arith.addf %s6, %c6 : f32
      %s8 = arith.mulf %s7, %c7 : f32
      %s9 = arith.addf %s8, %c8 : f32
      %s10 = arith.mulf %s9, %c9 : f32
      %s11 = arith.addf %s10, %c10 : f32
      %s12 = arith.mulf %s11, %c11 : f32
      %s13 = arith.addf %s12, %c12 : f32
      %s14 = arith.mulf %s13, %c13 : f32
      affine.store %s14, %y[%i, %k] : memref<64x8xf32>
    }
  } {pb.nest = "y", pb.part = "point"}
  affine.for %i = 0 to 64 {
    affine.for %k = 0 to 8 {
      %c0 = arith.constant 20.5 : f32
      %c1 = arith.constant 21.5 : f32
      %c2 = arith.constant 22.5 : f32
      %c3 = arith.constant 23.5 : f32
      %c4 = arith.constant 24.5 : f32
      %c5 = arith.constant 25.5 : f32
      %c6 = arith.constant 26.5 : f32
      %c7 = arith.constant 27.5 : f32
      %c8 = arith.constant 28.5 : f32
      %c9 = arith.constant 29.5 : f32
      %c10 = arith.constant 30.5 : f32
      %c11 = arith.constant 31.5 : f32
      %c12 = arith.constant 32.5 : f32
      %c13 = arith.constant 33.5 : f32
      %s0 = affine.load %x[%i, %k] : memref<64x8xf32>
      %s1 = arith.addf %s0, %c0 : f32
      %s2 = arith.mulf %s1, %c1 : f32
      %s3 = arith.addf %s2, %c2 : f32
      %s4 = arith.mulf %s3, %c3 : f32
      %s5 = arith.addf %s4, %c4 : f32
      %s6 = arith.mulf %s5, %c5 : f32
      %s7 = arith.addf %s6, %c6 : f32
      %s8 = arith.mulf %s7, %c7 : f32
      %s9 = arith.addf %s8, %c8 : f32
      %s10 = arith.mulf %s9, %c9 : f32
      %s11 = arith.addf %s10, %c10 : f32
      %s12 = arith.mulf %s11, %c11 : f32
      %s13 = arith.addf %s12, %c12 : f32
      %s14 = arith.mulf %s13, %c13 : f32
      affine.store %s14, %z[%i, %k] : memref<64x8xf32>
    }
  } {pb.nest = "z", pb.part = "point"}
  // CHECK: pb.part = "init"
  affine.for %i = 0 to 64 {
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %p[%i] : memref<64xf32>
  } {pb.nest = "p", pb.part = "init"}
  affine.for %i = 0 to 64 {
    affine.for %k = 0 to 8 {
      // CHECK: arith.constant 5.000000e-01
      %c0 = arith.constant 0.5 : f32
      %c1 = arith.constant 1.5 : f32
      %c2 = arith.constant 2.5 : f32
      %c3 = arith.constant 3.5 : f32
      %c4 = arith.constant 4.5 : f32
      %c5 = arith.constant 5.5 : f32
      %c6 = arith.constant 6.5 : f32
      %c7 = arith.constant 7.5 : f32
      %c8 = arith.constant 8.5 : f32
      %c9 = arith.constant 9.5 : f32
      %c10 = arith.constant 10.5 : f32
      %c11 = arith.constant 11.5 : f32
      %c12 = arith.constant 12.5 : f32
      %c13 = arith.constant 13.5 : f32
      %s0 = affine.load %x[%i, %k] : memref<64x8xf32>
      %s1 = arith.addf %s0, %c0 : f32
      %s2 = arith.mulf %s1, %c1 : f32
      %s3 = arith.addf %s2, %c2 : f32
      %s4 = arith.mulf %s3, %c3 : f32
      %s5 = arith.addf %s4, %c4 : f32
      %s6 = arith.mulf %s5, %c5 : f32
      %s7 = arith.addf %s6, %c6 : f32
      %s8 = arith.mulf %s7, %c7 : f32
      %s9 = arith.addf %s8, %c8 : f32
      %s10 = arith.mulf %s9, %c9 : f32
      %s11 = arith.addf %s10, %c10 : f32
      %s12 = arith.mulf %s11, %c11 : f32
      %s13 = arith.addf %s12, %c12 : f32
      %s14 = arith.mulf %s13, %c13 : f32
      %was = affine.load %p[%i] : memref<64xf32>
      %now = arith.addf %was, %s14 : f32
      affine.store %now, %p[%i] : memref<64xf32>
    }
  } {pb.nest = "p", pb.part = "reduce"}
  affine.for %i = 0 to 64 {
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %q[%i] : memref<64xf32>
  } {pb.nest = "q", pb.part = "init"}
  affine.for %i = 0 to 64 {
    affine.for %k = 0 to 8 {
      // CHECK: arith.constant 2.050000e+01
      %c0 = arith.constant 20.5 : f32
      %c1 = arith.constant 21.5 : f32
      %c2 = arith.constant 22.5 : f32
      %c3 = arith.constant 23.5 : f32
      %c4 = arith.constant 24.5 : f32
      %c5 = arith.constant 25.5 : f32
      %c6 = arith.constant 26.5 : f32
      %c7 = arith.constant 27.5 : f32
      %c8 = arith.constant 28.5 : f32
      %c9 = arith.constant 29.5 : f32
      %c10 = arith.constant 30.5 : f32
      %c11 = arith.constant 31.5 : f32
      %c12 = arith.constant 32.5 : f32
      %c13 = arith.constant 33.5 : f32
      %s0 = affine.load %x[%i, %k] : memref<64x8xf32>
      %s1 = arith.addf %s0, %c0 : f32
      %s2 = arith.mulf %s1, %c1 : f32
      %s3 = arith.addf %s2, %c2 : f32
      %s4 = arith.mulf %s3, %c3 : f32
      %s5 = arith.addf %s4, %c4 : f32
      %s6 = arith.mulf %s5, %c5 : f32
      %s7 = arith.addf %s6, %c6 : f32
      %s8 = arith.mulf %s7, %c7 : f32
      %s9 = arith.addf %s8, %c8 : f32
      %s10 = arith.mulf %s9, %c9 : f32
      %s11 = arith.addf %s10, %c10 : f32
      %s12 = arith.mulf %s11, %c11 : f32
      %s13 = arith.addf %s12, %c12 : f32
      %s14 = arith.mulf %s13, %c13 : f32
      %was = affine.load %q[%i] : memref<64xf32>
      %now = arith.addf %was, %s14 : f32
      affine.store %now, %q[%i] : memref<64xf32>
    }
  } {pb.nest = "q", pb.part = "reduce"}
  return
}
}
