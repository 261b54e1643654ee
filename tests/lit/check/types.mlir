// Arguments of every type have room, and NaN is among the inputs: a pass that turned one maximum into the other would be
// named.
// RUN: %pb-opt %s --target=cpu --outline --check | %FileCheck %s
// CHECK-DAG: memref<5xi64>
// CHECK-DAG: memref<300xf64>
// CHECK-DAG: arith.maximumf
// CHECK-DAG: arith.maxnumf
func.func @main(%a: memref<5xi64> {pb.input = "a"}, %c: memref<5xi64> {pb.const = 0 : i64}, %d: memref<300xf64> {pb.input = "d"},
                %x: memref<300xf32> {pb.input = "x"}, %y: memref<5xi64> {pb.output = "y"}, %z: memref<300xf64> {pb.output = "z"},
                %p: memref<300xf32> {pb.output = "p"}, %q: memref<300xf32> {pb.output = "q"}) {
  affine.for %i = 0 to 5 {
    %0 = affine.load %a[%i] : memref<5xi64>
    %1 = affine.load %c[%i] : memref<5xi64>
    %2 = arith.addi %0, %1 : i64
    affine.store %2, %y[%i] : memref<5xi64>
  }
  affine.for %i = 0 to 300 {
    %0 = affine.load %d[%i] : memref<300xf64>
    affine.store %0, %z[%i] : memref<300xf64>
  }
  affine.for %i = 0 to 300 {
    %0 = affine.load %x[%i] : memref<300xf32>
    %1 = arith.constant 0.0 : f32
    %2 = arith.maximumf %0, %1 : f32
    affine.store %2, %p[%i] : memref<300xf32>
  }
  affine.for %i = 0 to 300 {
    %0 = affine.load %x[%i] : memref<300xf32>
    %1 = arith.constant 0.0 : f32
    %2 = arith.maxnumf %0, %1 : f32
    affine.store %2, %q[%i] : memref<300xf32>
  }
  return
}
