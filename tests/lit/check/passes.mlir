// Every pass keeps the results of a padded convolution, whatever the inputs.
// RUN: sed -E 's/\b16\b/8/g; s/\b15\b/7/g; s/\b14\b/6/g; s/x14x14xi/x6x6xi/g; s/x16x16xi/x8x8xi/g; s/32x/16x/g; s/to 32/to 16/g' %S/../s3/Inputs/conv.txt > %t.small
// RUN: %pb-opt %t.small --target=simnpu --layout --outline --plan --tile --map --place --check --seed=7 | %FileCheck %s
// RUN: %pb-opt %t.small --target=simnpu:8 --layout --outline --plan --tile --map --place --check | %FileCheck %s
// RUN: %pb-opt %S/../s3/Inputs/conv.txt --target=cpu --layout --outline --check | %FileCheck --check-prefix=CPU %s
// CHECK: pb.address
// CPU: pb.kernel
