// What the chip cannot run is an error that names the node: there is no logarithm on the vector unit.
// RUN: not %pb-opt %s --target=simnpu --layout --outline --plan 2>&1 | %FileCheck %s
// CHECK: error: logarithm: simnpu cannot run this: logarithm (point): no instruction computes this expression {{.*}} [PB4010]
func.func @main(%x: memref<1x64xf32> {pb.input = "x"}, %y: memref<1x64xf32> {pb.output = "y"}) {
  affine.for %i = 0 to 64 {
    %0 = affine.load %x[0, %i] : memref<1x64xf32>
    %1 = math.log %0 : f32
    affine.store %1, %y[0, %i] : memref<1x64xf32>
  } {pb.nest = "logarithm", pb.part = "point"}
  return
}
