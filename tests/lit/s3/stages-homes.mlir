// Where stages of one kernel keep what they hand on. What one stage alone uses stays in its registers and is nobody's
// home: the logarithm of a sum does not lie where the sum lay.
// RUN: %pb-opt %S/Inputs/log-softmax.txt --target=cpu:avx512 --views --inline --layout --math --lanes --outline --plan --tile > %t
// RUN: %FileCheck %s < %t
// CHECK: func.func @k0
// CHECK-COUNT-2: pb.name = "between"{{.*}} : memref<16xf32>
// CHECK-NOT: pb.name = "between"
// CHECK: func.func @main
// RUN: %pb-opt %t --target=cpu:avx512 --registers --check > /dev/null

// A stage makes its result where it reads for the last time, but not when it reads another place than it writes.
// RUN: %pb-opt %S/Inputs/turned-round.txt --target=cpu:avx512 --views --inline --layout --math --lanes --outline --plan --tile > %t.turned
// RUN: %FileCheck %s --check-prefix=TURNED < %t.turned
// TURNED: affine.load %[[FROM:[a-z_0-9]+]][%{{.*}} - %{{.*}} + 48]
// TURNED-NOT: affine.store %{{.*}}, %[[FROM]][
// TURNED: affine.store %{{.*}}, %[[MADE:[a-z_0-9]+]][
// TURNED: pb.nest = "f", pb.part = "point"
// TURNED: affine.load %[[MADE]][
// TURNED: affine.store %{{.*}}, %[[MADE]][
// TURNED: pb.nest = "e", pb.part = "point"
// RUN: %pb-opt %t.turned --target=cpu:avx512 --registers --check > /dev/null
