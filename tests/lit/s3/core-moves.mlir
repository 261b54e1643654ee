// A product whose weights do not fit beside each other into a core's memory, on cores with a mover: parts of them come an iteration
// ahead, into two copies in turn; results are taken out while the next ones are made, and waited for before their copy is filled anew.
// RUN: %pb-opt %s --target=%chips/dmadsp.td --layout --outline --plan --tile > %t
// RUN: %FileCheck %s --input-file=%t
// CHECK: home moved, 2 copies // DRAM -> TCM by DMA, TCM -> DRAM by DMA
// CHECK: memref.alloc() {pb.depth = 1 : i64, pb.name = "operand"} : memref<8192xf32, "TCM">
// CHECK: pb.part = "move"
// CHECK: memref.alloc() {pb.depth = 2 : i64, pb.name = "result"} : memref<64xf32, "TCM">
// CHECK: memref.alloc() {pb.depth = 2 : i64, pb.name = "operand"} : memref<8192xf32, "TCM">
// CHECK: pb.part = "move"
// CHECK: pb.part = "reduce"
// CHECK: pb.part = "move"
// RUN: %pb-opt %t --target=%chips/dmadsp.td --registers --check | %FileCheck %s --check-prefix=CALLS
// CALLS: call @pb_core_begin() : () -> index
// CALLS: affine.if
// CALLS: call @pb_core_move(
// CALLS: affine.if
// CALLS: call @pb_core_move(
// CALLS: arith.select
// CALLS: call @pb_core_wait(
// CALLS: call @pb_core_move(
// CALLS: call @pb_core_end(
func.func @main(%x: memref<8x1024xf32> {pb.input = "x"}, %w: memref<1024x512xf32> {pb.input = "w"}, %y: memref<8x512xf32> {pb.output = "y"}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 512 {
      %zero = arith.constant 0.0 : f32
      affine.store %zero, %y[%i, %j] : memref<8x512xf32>
    }
  } {pb.nest = "product", pb.part = "init"}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 512 {
      affine.for %k = 0 to 1024 {
        %a = affine.load %x[%i, %k] : memref<8x1024xf32>
        %b = affine.load %w[%k, %j] : memref<1024x512xf32>
        %c = arith.mulf %a, %b : f32
        %d = affine.load %y[%i, %j] : memref<8x512xf32>
        %e = arith.addf %d, %c : f32
        affine.store %e, %y[%i, %j] : memref<8x512xf32>
      }
    }
  } {pb.nest = "product", pb.part = "reduce", pb.macs = 4194304 : i64}
  return
}
