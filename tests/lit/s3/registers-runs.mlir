// A register's lanes are eight channels of each of two groups, whose four inputs lie together: what the groups read comes
// as a run a group, in the tree as in the registers that the tree's buffers are.
// RUN: %pb-opt %S/Inputs/lane_runs.txt --target=cpu:avx512 --layout --outline --plan --tile > %t
// RUN: %FileCheck %s --check-prefix=TILE --input-file=%t
// TILE: memref.alloc() {{.*}}pb.name = "acc"} : memref<{{.*}}x16xf32, "VREG">
// TILE: affine.store %{{.*}}, %{{.*}} * 8 + %{{.*}}] : memref<{{.*}}x16xf32, "VREG">
// TILE: pb.part = "init"
// RUN: %pb-opt %t --target=cpu:avx512 --registers | %FileCheck %s
// CHECK: affine.vector_load {{.*}}, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4]
// CHECK: func.call @VFMADD(
// RUN: %pb-opt %t --target=cpu:avx512 --registers --check > /dev/null

// Where a tile's lanes lie otherwise each of its values would take a register, and there are not as many.
// RUN: sed 's/%\(arg[0-9]*\) \* 8 + %\(arg[0-9]*\)\] : memref<\([0-9x]*\)x16xf32, "VREG">/%\1 + %\2 * 2] : memref<\3x16xf32, "VREG">/' %t > %t.apart
// RUN: not %pb-opt %t.apart --target=cpu:avx512 --registers 2>&1 | %FileCheck %s --check-prefix=MANY
// MANY: k1: stage 0 has more values than a tile has registers [PB4012]
