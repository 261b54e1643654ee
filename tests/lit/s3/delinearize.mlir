// Scores lie as rows of head * 64 + row; what works on rows walks them by one dim. Both become two.
// RUN: %pb-opt %S/Inputs/heads-codes.txt --target=simnpu --delinearize | %FileCheck %s
// CHECK-DAG: memref.alloc() : memref<4x64x4x16xi32>
// CHECK-DAG: %[[C:.*]] = memref.alloc() : memref<4x64x4x16xi8>
// CHECK-DAG: %[[M:.*]] = memref.alloc() : memref<4x64x1x16xi32>
// CHECK: pb.nest = "scores", pb.part = "point"
// CHECK: pb.nest = "largest", pb.part = "init"
// CHECK-NEXT: affine.for %[[B:.*]] = 0 to 4 {
// CHECK-NEXT: affine.for %[[H:.*]] = 0 to 4 {
// CHECK-NEXT: affine.for %[[R:.*]] = 0 to 64 {
// CHECK: affine.load %[[C]][%[[H]], %[[R]], %[[B]], %{{.*}}] : memref<4x64x4x16xi8>
// CHECK: affine.store %{{.*}}, %[[M]][%[[H]], %[[R]], 0, %{{.*}}] : memref<4x64x1x16xi32>
// CHECK: pb.nest = "largest", pb.part = "reduce"
// RUN: %pb-opt %S/Inputs/heads-codes.txt --target=simnpu --delinearize --check > /dev/null

// Tensors without heads stay as they are.
// RUN: %pb-opt %S/Inputs/heads.txt --target=cpu:avx512 --views --layout > %t
// RUN: %pb-opt %t --target=cpu:avx512 --delinearize > %t.after
// RUN: diff %t %t.after
