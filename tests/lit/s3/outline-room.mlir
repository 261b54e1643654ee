// Nests behind a sum become its kernel's epilogues as long as a step has room for the tensors of all of them: the fifth
// and the sixth of these, with 13 tensors more each, are kernels of their own, and equal.
// RUN: %pb-opt %S/Inputs/many_tensors.txt --target=cpu:avx512 --outline --check | %FileCheck %s
// CHECK: pb.kernel
// CHECK: pb.nest = "sum", pb.part = "reduce"
// CHECK: pb.nest = "add3", pb.part = "point"
// CHECK: pb.kernel
// CHECK: pb.nest = "add4", pb.part = "point"
