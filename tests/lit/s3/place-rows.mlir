// A buffer of a row and a byte takes two rows.
// RUN: %pb-opt %s --target=simnpu --place | %FileCheck %s
// CHECK: memref.alloc() {pb.address = 0 : i64} : memref<1x17xi8, "SPAD">
// CHECK: memref.alloc() {pb.address = 32 : i64} : memref<2x33xi8, "SPAD">
// CHECK: memref.alloc() {pb.address = 128 : i64} : memref<1x16xi8, "SPAD">
module attributes {pb.stage = "s3"} {
  func.func @k0(%arg0: memref<17xi8>) attributes {pb.kernel} {
    %0 = memref.alloc() : memref<1x17xi8, "SPAD">
    %1 = memref.alloc() : memref<2x33xi8, "SPAD">
    %2 = memref.alloc() : memref<1x16xi8, "SPAD">
    return
  }
}
