// Two convolutions whose results are the even and the odd columns of a tensor are stored there, and stay two kernels.
// RUN: %pb-opt %S/Inputs/phases.txt --target=cpu:avx512 --views | %FileCheck %s
// CHECK-NOT: memref.alloc
// CHECK: affine.store %{{.*}}, %[[Z:.*]][0, %{{.*}}, %{{.*}}, %{{.*}} * 2]
// CHECK: pb.part = "reduce"
// CHECK: affine.store %{{.*}}, %[[Z]][0, %{{.*}}, %{{.*}}, %{{.*}} * 2 + 1]
// CHECK: pb.part = "reduce"
// CHECK-NOT: pb.part = "copy"
// RUN: %pb-opt %S/Inputs/phases.txt --target=cpu:avx512 --views --layout --outline | %FileCheck %s --check-prefix=KERNELS
// KERNELS: call @k1(%[[Z:.*]], %[[X:.*]], %{{.*}})
// KERNELS: call @k2(%[[Z]], %[[X]], %{{.*}})

// Columns that both make hold what is copied last: the one that is made first stays a copy.
// RUN: sed 's/ \* 2 + 1/ + 4/; s/ \* 2/ + 1/' %S/Inputs/phases.txt | %pb-opt - --target=cpu:avx512 --views | %FileCheck %s --check-prefix=MEET
// MEET: affine.store %{{.*}}, %[[Z:.*]][0, %{{.*}}, %{{.*}}, %{{.*}} + 4]
// MEET: pb.part = "reduce"
// MEET: affine.store %{{.*}}, %[[Z]][0, %{{.*}}, %{{.*}}, %{{.*}} + 1]
// MEET-NEXT: }
// MEET: pb.part = "copy"
