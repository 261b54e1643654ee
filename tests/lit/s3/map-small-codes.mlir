// Weights of 4 bits that lie two in a byte on the chip: a buffer that says so is filled by a copy of such, and a command
// makes bytes of them with the sign that it says. In IR each code has a byte; in memory buffers take half of that.
// RUN: %pb-opt %s --target=%chips/edge_npu_packed.td --map | %FileCheck %s
// RUN: %pb-opt %s --target=%chips/edge_npu_packed.td --map --place | %FileCheck %s --check-prefix=PLACE

// CHECK: func.func @k0(%{{.*}}: memref<64x32xi8> {pb.codes = 2 : i64, pb.const = -1 : i64, pb.memory = "ROM", pb.packed}
// CHECK: memref.alloc() {pb.name = "w", pb.packed = 2 : i64} : memref<1x64x32xi8, "SRAM">
// CHECK: call @edge_npu.PACKED_WEIGHTS
// CHECK: call @edge_npu.UNSIGNED_TILE
// CHECK: func.func private @edge_npu.PACKED_WEIGHTS(%{{.*}}: memref<?x?x?xi8, strided<[?, ?, ?], offset: ?>>, %{{.*}}: memref<?x?x?xi8, strided<[?, ?, ?], offset: ?>, "SRAM">
// CHECK: func.func private @edge_npu.UNSIGNED_TILE(%{{.*}}: memref<?x?xi8, strided<[?, ?], offset: ?>, "SRAM">
// PLACE: pb.address = 0 : i64, pb.name = "w", pb.packed = 2 : i64
// PLACE: pb.address = 1024 : i64, pb.name = "behind"
module attributes {pb.stage = "s3"} {
  func.func @k0(%w: memref<64x32xi8> {pb.const = -1 : i64, pb.codes = 2 : i64}, %x: memref<64x32xi8> {pb.input = ""}, %y: memref<64x32xi8> {pb.output = ""}) attributes {pb.kernel} {
    %b = memref.alloc() {pb.name = "w", pb.packed = 2 : i64} : memref<64x32xi8, "SRAM">
    %c = memref.alloc() {pb.name = "behind"} : memref<64x32xi8, "SRAM">
    affine.for %i = 0 to 64 { affine.for %j = 0 to 32 {
      %0 = affine.load %w[%i, %j] : memref<64x32xi8>
      affine.store %0, %b[%i, %j] : memref<64x32xi8, "SRAM"> } } {pb.nest = "product", pb.part = "load"}
    affine.for %t = 0 to 2 {
      %held = memref.alloc() {pb.name = "held"} : memref<32x32xi8, "WREG">
      affine.for %i = 0 to 32 { affine.for %j = 0 to 32 {
        %0 = affine.load %b[%i + %t * 32, %j] : memref<64x32xi8, "SRAM">
        affine.store %0, %held[%i, %j] : memref<32x32xi8, "WREG"> } } {pb.nest = "product", pb.part = "stage"}
    }
    affine.for %i = 0 to 64 { affine.for %j = 0 to 32 {
      %0 = affine.load %x[%i, %j] : memref<64x32xi8>
      affine.store %0, %c[%i, %j] : memref<64x32xi8, "SRAM"> } } {pb.nest = "product", pb.part = "load"}
    affine.for %i = 0 to 64 { affine.for %j = 0 to 32 {
      %0 = affine.load %c[%i, %j] : memref<64x32xi8, "SRAM">
      affine.store %0, %y[%i, %j] : memref<64x32xi8> } } {pb.nest = "product", pb.part = "store"}
    return
  }
}
