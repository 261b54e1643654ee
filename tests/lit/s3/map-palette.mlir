// A load of weights by codes and a palette: the codes lie outside two in a byte, the palette comes to where a command looks
// it up. In IR each code has a byte.
// RUN: %pb-opt %s --target=%chips/edge_npu_palette.td --map | %FileCheck %s
// RUN: not %pb-opt %s --target=%chips/edge_npu_flash.td --map 2>&1 | %FileCheck %s --check-prefix=NONE
// NONE: error: k0: a buffer lies in a memory that edge_npu lacks [PB4026]

// CHECK: func.func @k0(%{{.*}}: memref<64x32xi8> {pb.coded = 4 : i64, pb.const = -1 : i64, pb.memory = "ROM", pb.packed}, %{{.*}}: memref<16xi8> {pb.const = -1 : i64, pb.memory = "ROM"}
// CHECK: call @edge_npu.VALUES
// CHECK: call @edge_npu.CODED_WEIGHTS
// CHECK: call @edge_npu.OUT
// CHECK: func.func private @edge_npu.CODED_WEIGHTS(%{{.*}}: memref<?x?x?xi8, strided<[?, ?, ?], offset: ?>>, %{{.*}}: memref<?xi8, strided<[?], offset: ?>, "LUT">, %{{.*}}: memref<?x?x?xi8, strided<[?, ?, ?], offset: ?>, "SRAM">
module attributes {pb.stage = "s3"} {
  func.func @k0(%c: memref<64x32xi8> {pb.const = -1 : i64, pb.coded = 4 : i64}, %p: memref<16xi8> {pb.const = -1 : i64}, %y: memref<64x32xi8> {pb.output = ""}) attributes {pb.kernel} {
    %t = memref.alloc() {pb.name = "params"} : memref<16xi8, "LUT">
    affine.for %i = 0 to 16 {
      %0 = affine.load %p[%i] : memref<16xi8>
      affine.store %0, %t[%i] : memref<16xi8, "LUT"> } {pb.nest = "product", pb.part = "load"}
    %b = memref.alloc() {pb.name = "w"} : memref<64x32xi8, "SRAM">
    affine.for %i = 0 to 64 { affine.for %j = 0 to 32 {
      %0 = affine.load %c[%i, %j] : memref<64x32xi8>
      %1 = arith.extui %0 : i8 to i32
      %2 = arith.index_cast %1 : i32 to index
      %3 = memref.load %t[%2] : memref<16xi8, "LUT">
      affine.store %3, %b[%i, %j] : memref<64x32xi8, "SRAM"> } } {pb.nest = "product", pb.part = "load"}
    affine.for %i = 0 to 64 { affine.for %j = 0 to 32 {
      %0 = affine.load %b[%i, %j] : memref<64x32xi8, "SRAM">
      affine.store %0, %y[%i, %j] : memref<64x32xi8> } } {pb.nest = "product", pb.part = "store"}
    return
  }
}
