// A code that is stored as 16 bits and read again as a number: where its bounds are of 16 bits it is clamped before it is
// rounded, and the number is the sum that was not cut.
// RUN: %pb-opt %s --target=cpu:v3 --layout --outline --plan --tile --registers --check | %FileCheck %s
// CHECK: arith.cmpf ogt
// CHECK: math.roundeven
// CHECK: %[[WHOLE:.*]] = arith.fptosi {{.*}} : vector<8xf32> to vector<8xi32>
// CHECK: arith.sitofp %[[WHOLE]] : vector<8xi32> to vector<8xf32>

// Of bounds past them 16 bits are cut off before the code is a number again.
// RUN: sed 's/255.0/65000.0/' %s | %pb-opt - --target=cpu:v3 --layout --outline --plan --tile --registers --check | %FileCheck %s --check-prefix=CUT
// CUT: arith.fptosi
// CUT: %[[CODE:.*]] = arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
// CUT: arith.sitofp %[[CODE]] : vector<8xi16> to vector<8xf32>
module {
func.func @main(%x: memref<4x64xf32> {pb.input = "x"}, %y: memref<4x64xf32> {pb.output = "y"}) {
  affine.for %r = 0 to 4 { affine.for %c = 0 to 64 {
    %lo = arith.constant 0.0 : f32
    %hi = arith.constant 255.0 : f32
    %0 = affine.load %x[%r, %c] : memref<4x64xf32>
    %1 = math.roundeven %0 : f32
    %2 = arith.maxnumf %1, %lo : f32
    %3 = arith.minnumf %2, %hi : f32
    %4 = arith.fptosi %3 : f32 to i32
    %5 = arith.trunci %4 : i32 to i16
    %6 = arith.sitofp %5 : i16 to f32
    affine.store %6, %y[%r, %c] : memref<4x64xf32> } } {pb.nest = "q", pb.part = "point"}
  return
}
}
