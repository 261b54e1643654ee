// A load of weights of which two of four are not 0: their places lie outside as codes of 4 bits, two in a byte, beside the
// two; the command counts the four that it puts them among. What walks the four is no dim of a copy.
// RUN: %pb-opt %s --target=%chips/edge_npu_sparse.td --map | %FileCheck %s
// RUN: not %pb-opt %s --target=%chips/edge_npu_flash.td --map 2>&1 | %FileCheck %s --check-prefix=NONE

// CHECK: func.func @k0(%{{.*}}: memref<16x32xi8> {pb.coded = 4 : i64, pb.const = -1 : i64, pb.memory = "ROM", pb.packed}, %{{.*}}: memref<16x32xi8> {pb.const = -1 : i64, pb.memory = "ROM"}, %{{.*}}: memref<16x32xi8> {pb.const = -1 : i64, pb.memory = "ROM"}
// CHECK: call @edge_npu.SPARSE_WEIGHTS(%{{.*}}, %c16{{[_0-9]*}}, %c32{{[_0-9]*}}) {pb.nest = "product"}
// CHECK: call @edge_npu.OUT
// CHECK: func.func private @edge_npu.SPARSE_WEIGHTS
// CHECK: arith.index_cast %{{.*}} : index to i32
// NONE: error: product: edge_npu cannot run its part 'load': no instruction computes this expression
module attributes {pb.stage = "s3"} {
  func.func @k0(%p: memref<16x32xi8> {pb.const = -1 : i64, pb.coded = 4 : i64}, %f: memref<16x32xi8> {pb.const = -1 : i64}, %s: memref<16x32xi8> {pb.const = -1 : i64}, %y: memref<64x32xi8> {pb.output = ""}) attributes {pb.kernel} {
    %b = memref.alloc() {pb.name = "w"} : memref<64x32xi8, "SRAM">
    affine.for %i = 0 to 16 { affine.for %r = 0 to 4 { affine.for %j = 0 to 32 {
      %0 = affine.load %p[%i, %j] : memref<16x32xi8>
      %1 = arith.extui %0 : i8 to i32
      %c3 = arith.constant 3 : i32
      %2 = arith.andi %1, %c3 : i32
      %3 = arith.index_cast %r : index to i64
      %4 = arith.trunci %3 : i64 to i32
      %5 = arith.cmpi eq, %2, %4 : i32
      %c2 = arith.constant 2 : i32
      %6 = arith.shrui %1, %c2 : i32
      %7 = arith.cmpi eq, %6, %4 : i32
      %8 = affine.load %f[%i, %j] : memref<16x32xi8>
      %9 = affine.load %s[%i, %j] : memref<16x32xi8>
      %c0 = arith.constant 0 : i8
      %10 = arith.select %7, %9, %c0 : i8
      %11 = arith.select %5, %8, %10 : i8
      affine.store %11, %b[%i * 4 + %r, %j] : memref<64x32xi8, "SRAM"> } } } {pb.nest = "product", pb.part = "load"}
    affine.for %i = 0 to 64 { affine.for %j = 0 to 32 {
      %0 = affine.load %b[%i, %j] : memref<64x32xi8, "SRAM">
      affine.store %0, %y[%i, %j] : memref<64x32xi8> } } {pb.nest = "product", pb.part = "store"}
    return
  }
}
