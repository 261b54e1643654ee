// Instructions that add up begin at 0: sums that begin elsewhere are refused, not begun at 0 all the same.
// RUN: not %pb-opt %s --target=simnpu --plan 2>&1 | %FileCheck %s
// CHECK: error: rows: its sums do not begin with the operation's neutral value [PB4007]

func.func @k0(%x: memref<16x64xi8> {pb.input = ""}, %y: memref<16xi32> {pb.output = ""}) attributes {pb.kernel} {
  affine.for %b = 0 to 16 {
    %cst = arith.constant 5 : i32
    affine.store %cst, %y[%b] : memref<16xi32>
  } {pb.nest = "rows", pb.part = "init"}
  affine.for %b = 0 to 16 {
    affine.for %k = 0 to 64 {
      %0 = affine.load %x[%b, %k] : memref<16x64xi8>
      %1 = arith.extsi %0 : i8 to i32
      %3 = affine.load %y[%b] : memref<16xi32>
      %4 = arith.addi %3, %1 : i32
      affine.store %4, %y[%b] : memref<16xi32>
    }
  } {pb.nest = "rows", pb.part = "reduce"}
  return
}
