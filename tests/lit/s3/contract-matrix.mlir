// Products of int8 on a second register file, of matrices: channels stand together, rows are 14 pixels of one line, two
// tiles of them share two of weights, the sums are carried by the loops and leave by way of memory; codes are clamped before they
// are rounded and converted.
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:amx --padding --layout | %FileCheck %s
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:amx --check --padding --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=CODE
// CHECK: memref<2x72x16x4xi8> {pb.const
// CHECK: memref.alloc() : memref<1x1x14x14x32xi8>
// CHECK: arith.extsi
// CHECK-NOT: arith.xori
// CHECK-NOT: arith.extui
// CODE: pb.contraction = "TDPBSSD"
// CODE: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<256xi32>
// CODE: func.call @TILEZERO_14_16() : () -> vector<256xi32>
// CODE: affine.for {{.*}} = 0 to 3 iter_args(
// CODE: %[[W:.*]] = func.call @TILELOADD_8_64_of_9216_by_64(
// CODE: %[[X:.*]] = func.call @TILELOADD_14_32_of_8192_by_32(
// CODE: func.call @TDPBSSD_14_16_8_4(%{{.*}}, %[[X]], %[[W]]) : (vector<256xi32>, vector<1024xi8>, vector<1024xi8>) -> vector<256xi32>
// CODE: func.call @TDPBSSD_14_16_8_4(%{{.*}}, %[[X]],
// CODE: func.call @TILESTORED_14_16_of_256_by_16(%[[SUMS]],
// CODE: affine.for %[[ROW:.*]] = 0 to 7 {
// CODE: affine.vector_load %[[SUMS]][%[[ROW]] * 32] : memref<256xi32>, vector<16xi32>
// CODE: arith.addi {{.*}} : vector<16xi32>
// CODE: %[[MOST:.*]] = arith.cmpf ogt, {{.*}} : vector<16xf32>
// CODE: arith.select %[[MOST]]
// CODE: %[[WHOLE:.*]] = math.roundeven {{.*}} : vector<16xf32>
// CODE: arith.fptosi %[[WHOLE]] : vector<16xf32> to vector<16xi32>
// CODE: arith.trunci {{.*}} : vector<16xi32> to vector<16xi8>
// CODE: func.func private @TDPBSSD_14_16_8_4({{.*}}) -> vector<256xi32> attributes {pb.extents = array<i64: 14, 16, 8, 4>, pb.instruction = "TDPBSSD"} {

// A plan of more tiles than there are registers for, and one that splits a matrix, are refused.
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:amx --padding --layout --outline --plan > %t.mlir
// RUN: sed 's/loop d1 step 2 over thread 4 \(.*home result, 1 copy.*TDPBSSD\)/loop d1 step 4 \1/' %t.mlir > %t.many.mlir
// RUN: not %pb-opt %t.many.mlir --target=cpu:amx --tile 2>&1 | %FileCheck %s --check-prefix=MANY
// MANY: its plan is illegal: a tile needs more registers than there are [PB4012]
// RUN: sed 's/\/\/ instruction TDPBSSD/loop d6 step 4 \/\//' %t.mlir > %t.split.mlir
// RUN: not %pb-opt %t.split.mlir --target=cpu:amx --tile 2>&1 | %FileCheck %s --check-prefix=SPLIT
// SPLIT: its plan is illegal: a matrix is cut [PB4012]
