// Operands of a product have homes in the register file, filled from the tensors inside all loops over tiles, as far as a
// step of the sum goes. Each buffer serves all tiles. The kernel says that it takes tensors by element number, and `map`
// leaves it.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:avx512 --padding --layout --outline --plan --tile > %t
// RUN: %FileCheck %s --input-file=%t
// RUN: %pb-opt %t --target=cpu:avx512 --map | %FileCheck %s
// CHECK: func.func @k1(
// CHECK-SAME: pb.by_number
// CHECK: %[[SUMS:.*]] = memref.alloc() {{.*}}pb.name = "acc"} : memref<{{.*}}, "VREG">
// CHECK: %[[X:.*]] = memref.alloc() {{.*}}pb.name = "x"} : memref<{{.*}}, "VREG">
// CHECK: %[[W:.*]] = memref.alloc() {{.*}}pb.name = "held"} : memref<{{.*}}, "VREG">
// CHECK: affine.store {{.*}}, %[[X]][
// CHECK: pb.part = "stage"
// CHECK: affine.store {{.*}}, %[[W]][
// CHECK: pb.part = "stage"
// CHECK: affine.load %[[X]][
// CHECK: affine.load %[[W]][
// CHECK: arith.mulf
// CHECK: affine.store {{.*}}, %[[SUMS]][
// CHECK: pb.part = "reduce"
// RUN: %pb-opt %t --target=cpu:avx512 --registers --check > /dev/null

// A product that takes another element than was put there does not take it from the tensor.
// RUN: sed 's/\(affine.load %alloc_[0-9]*\[%arg7, %arg8, \)%arg10\(\] : memref<6x2x8xf32, "VREG">\)/\10\2/' %t > %t.other
// RUN: not %pb-opt %t.other --target=cpu:avx512 --registers 2>&1 | %FileCheck %s --check-prefix=OTHER
// OTHER: stage {{[0-9]}} is of no form that vectors walk: {{.*}} [PB4012]
