// An array of 16 rows by 8 columns: channels lie in rows of 16 lanes, of which a product makes 8 at a time.
// RUN: %pb-opt %S/Inputs/conv.txt --target=%S/../../chips/tinynpu_16x8.td --layout --check | %FileCheck %s
// CHECK: memref<4x288x8xi8> {pb.const
// CHECK: affine.load %{{.*}}[0, %[[C:arg[0-9]+]], %{{.*}} + %{{.*}}, %{{.*}} + %{{.*}}, %[[K:arg[0-9]+]]] : memref<1x2x16x16x16xi8>
// CHECK: affine.load %{{.*}}[%[[O:arg[0-9]+]] * 2 + %[[H:arg[0-9]+]], %[[C]] * 144 + %{{.*}} * 48 + %{{.*}} * 16 + %[[K]], %[[N:arg[0-9]+]]] : memref<4x288x8xi8>
// CHECK: affine.store %{{.*}}, %{{.*}}[0, %[[O]], %{{.*}}, %{{.*}}, %[[H]] * 8 + %[[N]]] : memref<1x2x14x14x16xi32>
// CHECK: pb.part = "reduce"

// 8 by 16: it sums 8 of them at a time.
// RUN: sed 's/defvar K = 16/defvar K = 8/; s/defvar N = 8/defvar N = 16/; s,include "tinynpu.td",include "%S/../../chips/tinynpu.td",' %S/../../chips/tinynpu_16x8.td > %t.td
// RUN: %pb-opt %S/Inputs/conv.txt --target=%t.td --layout --check | %FileCheck %s --check-prefix=ROWS
// ROWS: memref<2x288x16xi8> {pb.const
// ROWS: affine.load %{{.*}}[0, %[[C:arg[0-9]+]], %{{.*}} + %{{.*}}, %{{.*}} + %{{.*}}, %[[S:arg[0-9]+]] * 8 + %[[K:arg[0-9]+]]] : memref<1x2x16x16x16xi8>
// ROWS: affine.load %{{.*}}[%[[O:arg[0-9]+]], %[[C]] * 144 + %{{.*}} * 48 + %{{.*}} * 16 + %[[S]] * 8 + %[[K]], %[[N:arg[0-9]+]]] : memref<2x288x16xi8>
