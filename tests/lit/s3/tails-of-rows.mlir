// A row that is no whole number of lanes ends in a tile of its own, which a nest behind it does not follow.
// RUN: not %pb-opt %s --target=simnpu --plan 2>&1 | %FileCheck %s
// CHECK: error: a: simnpu cannot run this: a nest whose rows end inside a row of lanes, and others take it [PB4010]
func.func @k0(%x: memref<100xf32> {pb.input = ""}, %y: memref<100xf32> {pb.output = ""}) attributes {pb.kernel} {
  %t = memref.alloc() : memref<100xf32>
  affine.for %b = 0 to 100 {
    %0 = affine.load %x[%b] : memref<100xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %t[%b] : memref<100xf32>
  } {pb.nest = "a", pb.part = "point"}
  affine.for %b = 0 to 100 {
    %0 = affine.load %t[%b] : memref<100xf32>
    %1 = arith.mulf %0, %0 : f32
    affine.store %1, %y[%b] : memref<100xf32>
  } {pb.nest = "b", pb.part = "point"}
  return
}
