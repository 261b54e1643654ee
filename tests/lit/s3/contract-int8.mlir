// Products of int8 in groups of four: x with its sign bit flipped, sums that start from what this adds too much.
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:avx512 --padding --layout | %FileCheck %s
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:avx512 --check --padding --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=CODE
// CHECK: memref<{{.*}}x16x4xi8> {pb.const
// CHECK: %[[HALF:.*]] = arith.constant -128 : i8
// CHECK: arith.xori %{{.*}}, %[[HALF]] : i8
// CHECK: arith.extui
// CODE: func.call @VPDPBUSD({{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// CODE: func.func private @VPDPBUSD({{.*}}) -> vector<16xi32> attributes {pb.instruction = "VPDPBUSD"} {
// CODE: %[[SUMS:.*]] = memref.reinterpret_cast {{.*}} : memref<16xi32, "VREG"> to memref<?xi32, strided<[?], offset: ?>, "VREG">
// CODE: memref.reinterpret_cast {{.*}} : memref<64xi8, "VREG"> to memref<?x?xi8, strided<[?, ?], offset: ?>, "VREG">
// CODE: scf.for %[[LANE:.*]] =
// CODE: %[[SUM:.*]] = scf.for {{.*}} iter_args(
// CODE: memref.store %[[SUM]], %[[SUMS]][%[[LANE]]]

// Where an instruction takes elements twice as wide, and adds nothing by itself: x is stored so, weights are extended when
// they are loaded.
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:v3 --check --padding --widen --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=WIDE
// WIDE: %[[W:.*]] = arith.extsi %{{.*}} : vector<16xi8> to vector<16xi16>
// WIDE: func.call @VPMADDWD(%{{.*}}, %[[W]], %{{.*}}) : (vector<16xi16>, vector<16xi16>, vector<8xi32>) -> vector<8xi32>
// WIDE: func.func private @VPMADDWD({{.*}}) -> vector<8xi32> attributes {pb.instruction = "VPMADDWD"} {

// So is x where it is stored narrow.
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:v3 --padding --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=BOTH
// BOTH-DAG: arith.extsi %{{.*}} : vector<16xi8> to vector<16xi16>
// BOTH-DAG: vector.broadcast %{{.*}} : i16 to vector<8xi16>
// BOTH: func.call @VPMADDWD(

// The functions become the intrinsics that the description names; of one that adds nothing, an addition follows.
// Two codes for all lanes are loaded as one number.
// RUN: %pbc %models/digits.onnx --target=cpu:avx512 --emit=s4 | %FileCheck %s --check-prefix=BUSD
// BUSD: call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>
// RUN: %pbc %models/digits.onnx --target=cpu:v3 --emit=s4 | %FileCheck %s --check-prefix=MADD
// MADD: load i32, ptr %{{.*}}, align 2
// MADD: %[[PAIRS:.*]] = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %{{.*}}, <16 x i16> %{{.*}})
// MADD-NEXT: %[[SUM:.*]] = add <8 x i32> %[[PAIRS]], zeroinitializer
// MADD: add <8 x i32> %[[SUM]], %{{.*}}
