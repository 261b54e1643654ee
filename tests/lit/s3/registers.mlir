// Sums stay in registers, the bias is added there, the border is filled by the first thread, work is shared.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:avx512 --padding --layout --outline --plan --tile --registers | %FileCheck %s
// CHECK: func.func @k1(
// CHECK: %[[SHARE:.*]]:2 = call @pb_partition(
// CHECK: affine.if {{.*}}[%[[SHARE]]#0, %[[SHARE]]#1] {
// CHECK: pb.part = "fill"
// CHECK: affine.for %{{.*}} = %[[SHARE]]#0 to %[[SHARE]]#1 {
// CHECK: affine.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK: %[[W:.*]] = affine.vector_load {{.*}}, vector<16xf32>
// CHECK: %[[X:.*]] = affine.load
// CHECK: %[[ALL:.*]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK: func.call @VFMADD(%[[ALL]], %[[W]], %{{.*}})
// CHECK: affine.yield
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: affine.vector_store
// CHECK: func.func private @VFMADD({{.*}}) -> vector<16xf32> attributes {pb.instruction = "VFMADD"} {

// A plan that needs more registers than there are is refused.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:avx512 --padding --layout --outline --plan | sed 's/loop d2 step 1 over thread 6/loop d2 step 6/' > %t.mlir
// RUN: not %pb-opt %t.mlir --target=cpu:avx512 --tile 2>&1 | %FileCheck %s --check-prefix=MANY
// MANY: its plan is illegal: a tile needs more registers than there are [PB4012]

// What is to be filled at the start is a tensor of the kernel, no buffer.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:avx512 --padding --layout --outline --plan --tile > %t.tiled
// RUN: sed 's/\( *\)\(%alloc\) = memref.alloc() .* : \(memref<.*>\)$/&\n\1affine.for %%z = 0 to 2 {\n\1  %%cst = arith.constant 0.0 : f32\n\1  affine.store %%cst, \2[0, %%z, 0, 0] : \3\n\1} {pb.nest = "z", pb.part = "fill"}/' %t.tiled > %t.fill
// RUN: not %pb-opt %t.fill --target=cpu:avx512 --registers 2>&1 | %FileCheck %s --check-prefix=FILL
// FILL: z: not in value form: it fills no tensor of the kernel [PB4002]
