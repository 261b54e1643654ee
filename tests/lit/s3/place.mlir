// Buffers of one memory lie one behind the other, each from a row on.
// RUN: %pb-opt %S/Inputs/conv.txt --target=simnpu --layout --outline --plan --tile --map --place | %FileCheck %s
// CHECK: func.func @k1(
// CHECK: memref.alloc() {pb.address = 0 : i64{{.*}}"SPAD">
// CHECK: memref.alloc() {pb.address = {{[1-9][0-9]*}} : i64{{.*}}"SPAD">
