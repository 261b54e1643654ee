// Numbers of rows become a tensor of i32 where a command gathers rows, without the clamps that the command makes: those
// that count from the end as i32 where they come so, else as they come. A tensor of i32 that names rows stays as it is,
// and everything does where no command gathers. What is gathered by element numbers of a flat copy is gathered by rows of
// what was copied.
// RUN: %pb-opt %s --target=%chips/bf16npu_gather.td --row_numbers --check | %FileCheck %s
// RUN: %pb-opt %s --target=%chips/bf16npu.td --row_numbers --check | %FileCheck %s --check-prefix=NONE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<2x8xi64> {pb.input = "x"}, %n: memref<8xi32> {pb.input = "n"}, %t: memref<50x64xf32> {pb.const = 0 : i64},
                  %y: memref<2x8x64xf32> {pb.output = "y"}, %z: memref<8x64xf32> {pb.output = "z"}, %w: memref<8x64xf32> {pb.output = "w"},
                  %v: memref<8x32xf32> {pb.output = "v"}) {
    // CHECK-DAG: %[[WIDE:alloc.*]] = memref.alloc() : memref<16xi32>
    // CHECK-DAG: %[[NARROW:alloc.*]] = memref.alloc() : memref<8xi32>
    // CHECK: arith.minsi
    // CHECK: arith.trunci %{{.*}} : i64 to i32
    // CHECK: affine.store %{{.*}}, %[[WIDE]]
    // CHECK: pb.nest = "long.rows"
    // CHECK: affine.load %[[WIDE]]
    // CHECK: arith.minsi %{{.*}} : i32
    // CHECK-NEXT: arith.index_cast
    // CHECK: pb.nest = "long"
    // NONE: memref.alloc() : memref<3200xf32>
    // NONE-NOT: memref.alloc
    affine.for %i = 0 to 2 { affine.for %j = 0 to 8 { affine.for %c = 0 to 64 {
      %0 = affine.load %x[%i, %j] : memref<2x8xi64>
      %1 = arith.constant 0 : i64
      %2 = arith.maxsi %0, %1 : i64
      %3 = arith.constant 49 : i64
      %4 = arith.minsi %2, %3 : i64
      %5 = arith.index_cast %4 : i64 to index
      %6 = memref.load %t[%5, %c] : memref<50x64xf32>
      affine.store %6, %y[%i, %j, %c] : memref<2x8x64xf32> } } } {pb.nest = "long", pb.part = "gather"}
    // CHECK: affine.load %arg1
    // CHECK: arith.cmpi slt, %{{.*}} : i32
    // CHECK-NOT: arith.minsi
    // CHECK: affine.store %{{.*}}, %[[NARROW]]
    // CHECK: pb.nest = "from_end.rows"
    affine.for %j = 0 to 8 { affine.for %c = 0 to 64 {
      %0 = affine.load %n[%j] : memref<8xi32>
      %1 = arith.extsi %0 : i32 to i64
      %2 = arith.constant 0 : i64
      %3 = arith.cmpi slt, %1, %2 : i64
      %4 = arith.constant 50 : i64
      %5 = arith.addi %1, %4 : i64
      %6 = arith.select %3, %5, %1 : i64
      %7 = arith.maxsi %6, %2 : i64
      %8 = arith.constant 49 : i64
      %9 = arith.minsi %7, %8 : i64
      %10 = arith.index_cast %9 : i64 to index
      %11 = memref.load %t[%10, %c] : memref<50x64xf32>
      affine.store %11, %z[%j, %c] : memref<8x64xf32> } } {pb.nest = "from_end", pb.part = "gather"}
    // CHECK: pb.nest = "from_end"
    // CHECK-NOT: direct.rows
    affine.for %j = 0 to 8 { affine.for %c = 0 to 64 {
      %0 = affine.load %n[%j] : memref<8xi32>
      %1 = arith.extsi %0 : i32 to i64
      %2 = arith.constant 0 : i64
      %3 = arith.maxsi %1, %2 : i64
      %4 = arith.constant 49 : i64
      %5 = arith.minsi %3, %4 : i64
      %6 = arith.index_cast %5 : i64 to index
      %7 = memref.load %t[%6, %c] : memref<50x64xf32>
      affine.store %7, %w[%j, %c] : memref<8x64xf32> } } {pb.nest = "direct", pb.part = "gather"}
    // CHECK-NOT: pb.nest = "flat"
    // CHECK: memref.load %arg2[
    // CHECK: pb.nest = "of_flat"
    %f = memref.alloc() : memref<3200xf32>
    affine.for %c = 0 to 64 { affine.for %r = 0 to 50 {
      %0 = affine.load %t[%r, %c] : memref<50x64xf32>
      affine.store %0, %f[%r * 64 + %c] : memref<3200xf32> } } {pb.nest = "flat", pb.part = "copy"}
    affine.for %j = 0 to 8 { affine.for %c = 0 to 32 {
      %0 = affine.load %n[%j] : memref<8xi32>
      %1 = arith.extsi %0 : i32 to i64
      %2 = arith.constant 0 : i64
      %3 = arith.maxsi %1, %2 : i64
      %4 = arith.constant 49 : i64
      %5 = arith.minsi %3, %4 : i64
      %6 = arith.constant 64 : i64
      %7 = arith.muli %5, %6 : i64
      %8 = arith.index_cast %7 : i64 to index
      %9 = affine.apply affine_map<(d0) -> (d0 + 16)>(%c)
      %10 = arith.addi %9, %8 : index
      %11 = memref.load %f[%10] : memref<3200xf32>
      affine.store %11, %v[%j, %c] : memref<8x32xf32> } } {pb.nest = "of_flat", pb.part = "gather"}
    return
  }
}
