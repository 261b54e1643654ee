// A kernel that does blocks of rows and keys alone (pb.blocks: the shared loop over rows; row, rows, key, keys of each): loops for
// each, one behind the other, of which threads take as many parts; values between lie in the buffers of the first.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout --outline > %t.kernels
// RUN: sed 's/{pb.kernel, pb.stages}/{pb.kernel, pb.stages, pb.blocks = array<i64: 1, 16, 16, 0, 32, 0, 16, 16, 16>}/' %t.kernels > %t.blocks
// RUN: %pb-opt %t.blocks --target=cpu:avx512 --plan --tile > %t.tiled
// RUN: %FileCheck %s < %t.tiled
// CHECK: func.func @k1
// CHECK: %[[Q:.*]] = memref.collapse_shape %arg0
// CHECK: %[[K:.*]] = memref.collapse_shape %arg1
// CHECK: %[[BETWEEN:.*]] = memref.alloc() {{.*}}"between"} : memref<256xf32>
// CHECK: affine.for %{{.*}} = 0 to 4 {
// CHECK: affine.for %{{.*}} = 0 to 2 {
// CHECK: affine.load %[[Q]][{{.*}} + 1024]
// CHECK: affine.store %{{.*}}, %[[BETWEEN]][%{{.*}} * 16 + %{{.*}} * 32 + %{{.*}}]
// CHECK: {pb.parts = array<i64: 8, 1>}
// CHECK-NOT: "between"
// CHECK: affine.for %{{.*}} = 0 to 4 {
// CHECK: affine.for %{{.*}} = 0 to 2 {
// CHECK: affine.load %[[K]][{{.*}} + 256]
// CHECK: affine.store %{{.*}}, %[[BETWEEN]][%{{.*}} * 16 + %{{.*}}]
// CHECK: {pb.parts = array<i64: 8, 1>}

// Threads share both.
// RUN: %pb-opt %t.tiled --target=cpu:avx512 --registers | %FileCheck %s --check-prefix=VECTORS
// VECTORS: affine.for %[[ITEM:.*]] = %{{.*}}#0 to %{{.*}}#1 {
// VECTORS: affine.for %{{.*}} = #map{{.*}}(%{{.*}}) to
// VECTORS: affine.for %{{.*}} = #map{{.*}}(%{{.*}}) to

// The first block has most keys, for its values' buffers are all that there are.
// RUN: sed 's/1, 16, 16, 0, 32, 0, 16, 16, 16/1, 0, 16, 16, 16, 16, 16, 0, 32/' %t.blocks > %t.turned
// RUN: not %pb-opt %t.turned --target=cpu:avx512 --plan 2>&1 | %FileCheck %s --check-prefix=TURNED
// TURNED: no tile of the loops that its stages share fits [PB4010]
