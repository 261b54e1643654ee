// Concatenations of channels on cores of 8 lanes. Parts that are whole blocks are put into blocks where they end up.
// RUN: sed "s/FIRST/16/g;s/BOTH/32/g" %S/Inputs/concat.txt > %t.whole.txt
// RUN: %pb-opt %t.whole.txt --target=cpu:v3 --layout | %FileCheck %s --check-prefix=WHOLE
// WHOLE: %[[BOTH:.*]] = memref.alloc() : memref<1x4x6x6x8xf32>
// WHOLE: affine.store %{{.*}}, %[[BOTH]][0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// WHOLE: affine.store %{{.*}}, %[[BOTH]][0, %{{.*}} + 2, %{{.*}}, %{{.*}}, %{{.*}}]
// WHOLE: pb.nest = "conv", pb.part = "init"
// WHOLE: affine.load %[[BOTH]][0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]

// A part that begins inside a block makes the tensor plain; the convolution reads a copy of it in blocks.
// RUN: sed "s/FIRST/12/g;s/BOTH/24/g" %S/Inputs/concat.txt > %t.inside.txt
// RUN: %pb-opt %t.inside.txt --target=cpu:v3 --layout | %FileCheck %s --check-prefix=INSIDE
// INSIDE: %[[BOTH:.*]] = memref.alloc() : memref<1x24x6x6xf32>
// INSIDE: %[[BLOCKS:.*]] = memref.alloc() : memref<1x3x6x6x8xf32>
// INSIDE: affine.store %{{.*}}, %[[BOTH]][0, %{{.*}} + 20, %{{.*}}, %{{.*}}]
// INSIDE: affine.load %[[BOTH]][0, %{{.*}} * 8 + %{{.*}}, %{{.*}}, %{{.*}}]
// INSIDE: affine.store %{{.*}}, %[[BLOCKS]]
// INSIDE: affine.load %[[BLOCKS]]
// INSIDE: pb.nest = "conv", pb.part = "reduce"
