// A copy of codes that turns rows and columns, where commands multiply codes: products with ones on a diagonal, a tile of 16 x 16
// each, and codes of their sums. Codes that go by neighbours on both sides stay a copy, as does what a core copies itself.
// RUN: %pb-opt %s --target=simnpu --transposes --check | %FileCheck %s
// RUN: %pb-opt %s --target=simnpu --check --transposes --outline --plan --tile --map | %FileCheck %s --check-prefix=COMMANDS
// RUN: %pb-opt %s --target=cpu:avx512 --transposes | %FileCheck %s --check-prefix=SAME
// SAME-NOT: arith.muli
// CHECK: memref<16x16xi8> {pb.const
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<96x64x16xi32>
// CHECK: affine.store %{{.*}}, %[[SUMS]][%{{.*}}, %{{.*}} * 16 + %{{.*}}, %{{.*}}] : memref<96x64x16xi32>
// CHECK: affine.load %{{.*}}[%{{.*}} * 16 + %{{.*}}, %{{.*}} * 16 + %{{.*}}] : memref<1536x64xi8>
// CHECK: arith.muli
// CHECK: pb.part = "reduce"
// CHECK: arith.fptosi
// CHECK: pb.part = "point"
// CHECK: affine.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<96x64x16xi8>
// CHECK-NEXT: affine.store
// COMMANDS: func.call @simnpu.WLDT
// COMMANDS: func.call @simnpu.VRQ
module {
  func.func @main(%x: memref<1536x64xi8> {pb.input = "x"}, %y: memref<64x96x16xi8> {pb.output = "y"}) {
    %t = memref.alloc() : memref<96x64x16xi8>
    affine.for %b = 0 to 96 {
      affine.for %r = 0 to 64 {
        affine.for %c = 0 to 16 {
          %0 = affine.load %x[%b * 16 + %c, %r] : memref<1536x64xi8>
          affine.store %0, %t[%b, %r, %c] : memref<96x64x16xi8>
        }
      }
    } {pb.nest = "turned", pb.part = "copy"}
    affine.for %b = 0 to 96 {
      affine.for %r = 0 to 64 {
        affine.for %c = 0 to 16 {
          %0 = affine.load %t[%b, %r, %c] : memref<96x64x16xi8>
          affine.store %0, %y[%r, %b, %c] : memref<64x96x16xi8>
        }
      }
    } {pb.nest = "rows", pb.part = "copy"}
    return
  }
}
