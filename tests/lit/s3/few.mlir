// Values of one channel are plain, and lanes are found elsewhere: a product over 32 channels has them along these and
// adds them up behind, one under a window of one channel along the row of its results.
// RUN: %pb-opt %S/Inputs/few.txt --target=cpu:avx512 --layout --lanes --check | %FileCheck %s
// CHECK: memref<1x288xf32> {pb.const
// CHECK: %[[P:.*]] = memref.alloc() : memref<1x2x6x18x16xf32>
// CHECK: %[[V:.*]] = memref.alloc() : memref<1x1x4x16xf32>
// CHECK: %[[Q:.*]] = memref.alloc() : memref<1x1x4x18xf32>
// CHECK: %[[LANES:.*]] = memref.alloc() : memref<1x4x16x16xf32>
// CHECK: affine.load %[[P]]
// CHECK: affine.store %{{.*}}, %[[LANES]][%{{.*}}, %{{.*}}, %{{.*}}, %[[LANE:.*]]]
// CHECK: affine.load %[[LANES]]
// CHECK: affine.store %{{.*}}, %[[V]]
// CHECK: pb.nest = "head", pb.part = "reduce"
// CHECK: affine.load %[[Q]][0, %{{.*}}, %{{.*}}, %{{.*}} + %{{.*}}]
