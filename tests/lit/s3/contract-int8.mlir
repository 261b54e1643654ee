// Products of int8 in groups of four: x with its sign bit flipped, sums that start from what this adds too much.
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:avx512 --halo --layout | %FileCheck %s
// RUN: %pb-opt %S/Inputs/conv.txt --target=cpu:avx512 --halo --layout --outline --plan --tile --registers | %FileCheck %s --check-prefix=CODE
// CHECK: memref<{{.*}}x16x4xi8> {pb.const
// CHECK: %[[HALF:.*]] = arith.constant -128 : i8
// CHECK: arith.xori %{{.*}}, %[[HALF]] : i8
// CHECK: arith.extui
// CODE: func.call @VPDPBUSD({{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// CODE: pb.emit = "llvm.x86.avx512.vpdpbusd.512"
