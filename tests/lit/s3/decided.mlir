// What constants alone decide is a constant; what only repeats one stays a copy of it.
// RUN: %pb-opt %S/Inputs/decided.txt --target=simnpu --decided | %FileCheck %s
// RUN: %pb-opt %S/Inputs/decided.txt --target=cpu:avx512 --decided | %FileCheck %s
// CHECK: %[[SINES:[a-z0-9]+]]: memref<8x16xf32> {pb.const = 0 : i64}, %[[MASK:[a-z0-9]+]]: memref<16x16xi8> {pb.const = 1 : i64}
// CHECK-SAME: %[[FOUR:[a-z0-9]+]]: memref<4xi32> {pb.const = 2 : i64}, %[[LONG:[a-z0-9]+]]: memref<300xf32> {pb.const = 3 : i64}
// CHECK-NOT: memref.alloc
// CHECK-NOT: math.
// CHECK: affine.load %[[SINES]]
// CHECK: pb.nest = "add:9"
// CHECK: affine.load %[[MASK]]
// CHECK: pb.nest = "select:14"
// CHECK: affine.load %[[FOUR]]
// CHECK: pb.nest = "add:16"
// CHECK: affine.load %[[LONG]][%{{[a-z0-9]+}}] : memref<300xf32>
// CHECK: memref<300x20xf32>
// CHECK-NOT: affine.for
