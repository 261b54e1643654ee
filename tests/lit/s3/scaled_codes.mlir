// A product of codes that a program scales is one of the codes.
// RUN: %pb-opt %S/Inputs/quantised_product.txt --target=cpu:avx512 --scaled_codes | %FileCheck %s
// CHECK: %[[A:.*]] = memref.alloc() : memref<3x16xi32>
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli
// CHECK: affine.store %{{.*}}, %[[A]]
// CHECK: pb.nest = "dot_general:10", pb.part = "reduce"
// CHECK: affine.load %[[A]]
// CHECK-NEXT: arith.sitofp
// CHECK: arith.constant 1.250000e-01 : f32
// CHECK-NEXT: arith.mulf
// CHECK: pb.nest = "dot_general:10", pb.part = "point"

// A chip that multiplies floats alone leaves it.
// RUN: %pb-opt %S/Inputs/quantised_product.txt --target=%S/../../chips/floatnpu.td --scaled_codes | %FileCheck %s --check-prefix=FLOATS
// FLOATS-NOT: arith.muli

// What rounds its sums to codes is what units do: the bias among the sums, Relu as the least code.
// RUN: %pb-opt %S/Inputs/quantised_product.txt --target=simnpu --scaled_codes --views --quantisers | %FileCheck %s --check-prefix=CODES
// CODES: pb.nest = "dot_general:10", pb.part = "reduce"
// CODES-NEXT: affine.for
// CODES-NEXT: affine.for
// CODES-NEXT: affine.load %{{.*}} : memref<3x16xi32>
// CODES-NEXT: affine.load %{{.*}} : memref<1xi32>
// CODES-NEXT: arith.addi
// CODES-NEXT: arith.sitofp
// CODES-NEXT: affine.load %{{.*}} : memref<1xf32>
// CODES-NEXT: arith.mulf
// CODES-NEXT: math.roundeven
// CODES: arith.maxnumf %{{.*}}, %{{.*}} : f32
// CODES: arith.fptosi %{{.*}} : f32 to i8
// CODES: pb.nest = "convert:30", pb.part = "point"
// CODES-NOT: pb.part
