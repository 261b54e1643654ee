// A constant lies outside in one way: a kernel that would bring it from the memory of constants and from the system's too
// is refused.
// RUN: not %pb-opt %s --target=%chips/tpu_v1.td --map 2>&1 | %FileCheck %s
// CHECK: error: both: one kernel reads a constant in DRAM and in HOST, and it lies in one way [PB4025]
// CHECK-NEXT: hint: a command that copies it there in the other way too

module attributes {pb.stage = "s3"} {
  func.func @k0(%w: memref<256x256xi8> {pb.const = -1 : i64}, %y: memref<256x256xi8> {pb.output = ""}) attributes {pb.kernel} {
    %tile = memref.alloc() {pb.name = "held"} : memref<256x256xi8, "FIFO">
    affine.for %i = 0 to 256 { affine.for %j = 0 to 256 {
      %0 = affine.load %w[%i, %j] : memref<256x256xi8>
      affine.store %0, %tile[%i, %j] : memref<256x256xi8, "FIFO"> } } {pb.nest = "both", pb.part = "load"}
    %rows = memref.alloc() {pb.name = "operand"} : memref<256x256xi8, "UB">
    affine.for %i = 0 to 256 { affine.for %j = 0 to 256 {
      %0 = affine.load %w[%i, %j] : memref<256x256xi8>
      affine.store %0, %rows[%i, %j] : memref<256x256xi8, "UB"> } } {pb.nest = "both", pb.part = "load"}
    affine.for %i = 0 to 256 { affine.for %j = 0 to 256 {
      %0 = affine.load %rows[%i, %j] : memref<256x256xi8, "UB">
      affine.store %0, %y[%i, %j] : memref<256x256xi8> } } {pb.nest = "both", pb.part = "store"}
    return
  }
}
