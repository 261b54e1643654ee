// Four nests are one, which takes the product's result alone and so is its epilogue.
// RUN: %pb-opt %S/Inputs/gelu.txt --target=cpu:avx512 --inline | %FileCheck %s
// CHECK-COUNT-1: memref.alloc()
// CHECK-NOT: memref.alloc()
// CHECK: pb.nest = "product", pb.part = "reduce"
// CHECK: %[[A:.*]] = affine.load
// CHECK: %[[S:.*]] = arith.mulf %[[A]], %{{.*}}
// CHECK: %[[E:.*]] = math.erf %[[S]]
// CHECK: %[[O:.*]] = arith.addf %[[E]], %{{.*}}
// CHECK: arith.mulf %[[A]], %[[O]]
// CHECK: pb.nest = "gelu", pb.part = "point"
// CHECK-NOT: pb.part
// RUN: %pb-opt %S/Inputs/gelu.txt --target=cpu:avx512 --inline --check > /dev/null

// Elsewhere a nest is an instruction or two.
// RUN: %pb-opt %S/Inputs/gelu.txt --target=simnpu --inline | %FileCheck %s --check-prefix=APART
// APART: pb.nest = "scale"
// APART: pb.nest = "erf"

// An epilogue so long is not written out for each point of the tile: loops take the values from memory.
// RUN: %pb-opt %S/Inputs/gelu.txt --target=cpu:avx512 --inline --layout --math --outline --plan --tile --registers | %FileCheck %s --check-prefix=LOOPS
// LOOPS: %[[V:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// LOOPS: call @VFMADD(
// LOOPS: affine.vector_store %{{.*}}, %[[V]][0]
// LOOPS: affine.for
// LOOPS-NEXT: affine.for
// LOOPS-NEXT: affine.vector_load %[[V]][%{{.*}} * {{.*}}
// RUN: %pb-opt %S/Inputs/gelu.txt --target=cpu:avx512 --inline --layout --math --outline --plan --tile --registers --check > /dev/null
