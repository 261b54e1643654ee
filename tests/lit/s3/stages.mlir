// Two products, of which the second takes what the first makes: one kernel, whose stages share heads and rows. Scores
// are as large as a turn of these.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout --outline | %FileCheck %s --check-prefix=KERNEL
// KERNEL: attributes {pb.kernel, pb.stages}
// KERNEL-NEXT: memref.alloc() : memref<4x32x32xf32>
// KERNEL: pb.nest = "scores", pb.part = "reduce"
// KERNEL: pb.nest = "values", pb.part = "reduce"
// KERNEL-NOT: pb.stages

// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout --outline --plan --tile > %t
// RUN: %FileCheck %s --check-prefix=TILE < %t
// TILE: loop d0 step 1 // of 4\0A    loop d1 step 16 // of 32\0A      home between
// TILE: affine.for %{{.*}} = 0 to 4 {
// TILE-NEXT: affine.for %{{.*}} = 0 to 2 {
// TILE-NEXT: memref.alloc() {{.*}}"between"} : memref<512xf32>
// TILE: pb.nest = "scores", pb.part = "reduce"
// TILE: pb.nest = "values", pb.part = "reduce"

// Threads share the turns; a stage's products are vectors.
// RUN: %pb-opt %t --target=cpu:avx512 --registers | %FileCheck %s --check-prefix=VECTORS
// VECTORS: func.func @k1
// VECTORS: memref.alloca() {alignment = 64 : i64} : memref<512xf32>
// VECTORS: %[[EIGHT:.*]] = arith.constant 8 : index
// VECTORS: call @pb_partition(%[[EIGHT]])
// VECTORS: call @VFMADD
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout --outline --plan --tile --registers --check > /dev/null

// A step that does not divide leaves a turn of its own, planned by itself.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout --outline --plan | sed 's/loop d1 step 16/loop d1 step 24/' > %t.uneven
// RUN: %pb-opt %t.uneven --target=cpu:avx512 --tile | %FileCheck %s --check-prefix=REST
// REST: memref.alloc() {{.*}}"between"{{.*}} : memref<768xf32>
// REST: {pb.first = 0 : i64, pb.iterations = 2 : i64}
// REST: pb.nest = "values", pb.part = "reduce"
// REST: {pb.first = 1 : i64, pb.iterations = 2 : i64}
// RUN: %pb-opt %t.uneven --target=cpu:avx512 --tile --registers --check > /dev/null

// What is wrong with a plan is said.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout --outline --plan | sed 's/loop d1 step 16/loop d2 step 16/' | not %pb-opt - --target=cpu:avx512 --tile 2>&1 | %FileCheck %s --check-prefix=LOOP
// LOOP: error: k1: no dim of what the loops walk, at 'd2' [PB4011]
