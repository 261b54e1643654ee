// Products by weights are stages on cores too: a depthwise convolution and the product behind it share rows and columns.
// Windows overlap and each turn reads all weights, so a turn takes several whole rows.
// RUN: %pb-opt %S/Inputs/depth-project.txt --target=cpu:avx512 --padding --layout --outline --plan > %t
// RUN: %FileCheck %s < %t
// CHECK: func.func @k1(
// CHECK-SAME: pb.plan = "{{.*}}  loop d0 step 7 // of 56\0A    home between, 1 copy\0A    stage { // depth
// CHECK: pb.nest = "depth", pb.part = "reduce"
// CHECK: pb.nest = "project", pb.part = "reduce"
// CHECK: func.func @k2(

// Of small images with many channels they stay apart: a line of weights would serve a row of 4 pixels.
// RUN: sed 's/56/4/g; s/58/6/g; s/x96x/x384x/g; s/96x1x/384x1x/g; s/to 96/to 384/' %S/Inputs/depth-project.txt > %t.small
// RUN: %pb-opt %t.small --target=cpu:avx512 --padding --layout --outline | %FileCheck %s --check-prefix=SMALL
// SMALL: pb.nest = "depth", pb.part = "reduce"
// SMALL-NOT: pb.stages
// SMALL: pb.nest = "project", pb.part = "reduce"
// SMALL-NOT: pb.stages

// An expansion and the depthwise convolution behind it share blocks of channels alone, each of which has weights of its
// own: tiles would be one block wide.
// RUN: %pb-opt %S/Inputs/expand-depth.txt --target=cpu:avx512 --padding --layout --outline | %FileCheck %s --check-prefix=APART
// APART: pb.nest = "expand", pb.part = "reduce"
// APART-NOT: pb.stages
// APART: pb.nest = "depth", pb.part = "reduce"
// APART-NOT: pb.stages

// RUN: %pb-opt %t --target=cpu:avx512 --tile --registers --check > /dev/null
