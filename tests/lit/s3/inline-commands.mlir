// No command rounds without a factor: with the product in front it is what one computes.
// RUN: %pb-opt %S/Inputs/scaled_codes.txt --target=simnpu --inline | %FileCheck %s
// CHECK-NOT: memref.alloc()
// CHECK: arith.mulf
// CHECK: math.roundeven
// CHECK: pb.nest = "codes", pb.part = "point"
// RUN: %pb-opt %S/Inputs/scaled_codes.txt --target=simnpu --inline --layout --outline --plan --tile --map --check > /dev/null

// Two sums are two commands, in one nest or in two.
// RUN: sed 's/math.roundeven %0/arith.addf %0, %0/; s/arith.fptosi.*/arith.addf %4, %4 : f32/; s/memref<6x32xi8>/memref<6x32xf32>/' %S/Inputs/scaled_codes.txt | %pb-opt - --target=simnpu --inline | %FileCheck %s --check-prefix=APART
// APART: memref.alloc()
