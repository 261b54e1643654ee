// The tensor between the two convolutions is made inside the padded one: no copy is left, the reader is as it was.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=cpu:avx512 --padding | %FileCheck %s
// CHECK: %[[ACC:.*]] = memref.alloc() : memref<1x32x6x6xf32>
// CHECK: %[[P:.*]] = memref.alloc() : memref<1x32x8x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: affine.store %{{.*}}, %[[P]][0, %{{.*}}, %{{.*}} + 1, %{{.*}} + 1]
// CHECK: pb.part = "point"
// CHECK-COUNT-4: pb.part = "pad"
// CHECK-NOT: pb.part = "copy"
// CHECK: affine.load %[[P]][0, %{{.*}}, %{{.*}} + %{{.*}}, %{{.*}} + %{{.*}}]

// On a chip with explicit memories movers pad on the way: nothing changes.
// RUN: %pb-opt %S/Inputs/two_convs.txt --target=simnpu --padding | %FileCheck %s --check-prefix=MOVERS
// MOVERS: pb.part = "copy"
