// The attribute pb.splat says that all 16 factors are the same number, which is not true of this constant: the vector
// instruction that `map` takes uses all of them where the nest uses the first. The check finds that, and who did it.
// RUN: not %pb-opt %s --target=simnpu --plan --tile --map --place --check 2>&1 | %FileCheck %s
// RUN: not %pb-opt %s --target=simnpu --plan --tile --map --check --seed=99 2>&1 | %FileCheck %s
// RUN: %pb-opt %s --target=simnpu --plan --tile --check | %FileCheck --check-prefix=BEFORE %s
// RUN: %pb-opt %s --target=simnpu --plan --tile --map | %FileCheck --check-prefix=BEFORE %s
// CHECK-NOT: func.func
// CHECK: error: map: this pass changed a result (byte {{[0-9]+}} of the outputs is the first) [PB4092]
// CHECK-NOT: func.func
// BEFORE: func.func @main
module {
  func.func @k0(%x: memref<64xf32> {pb.input = ""}, %m: memref<16xf32> {pb.const = -1 : i64, pb.splat}, %y: memref<64xi8> {pb.output = ""}) attributes {pb.kernel} {
    affine.for %i = 0 to 64 {
      %0 = affine.load %x[%i] : memref<64xf32>
      %1 = affine.load %m[0] : memref<16xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = math.roundeven %2 : f32
      %least = arith.constant -1.280000e+02 : f32
      %4 = arith.maxnumf %3, %least : f32
      %most = arith.constant 1.270000e+02 : f32
      %5 = arith.minnumf %4, %most : f32
      %6 = arith.fptosi %5 : f32 to i8
      affine.store %6, %y[%i] : memref<64xi8>
    } {pb.nest = "q", pb.part = "point"}
    return
  }
  func.func @main(%x: memref<64xf32> {pb.input = "x"}, %m: memref<16xf32> {pb.const = 0 : i64}, %y: memref<64xi8> {pb.output = "y"}) {
    call @k0(%x, %m, %y) {pb.origin = "q", pb.macs = 0 : i64} : (memref<64xf32>, memref<16xf32>, memref<64xi8>) -> ()
    return
  }
}
