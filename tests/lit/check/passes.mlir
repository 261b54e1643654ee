// Every pass keeps the results of a padded convolution, whatever the inputs.
// RUN: %pb-opt %S/../s3/Inputs/conv.txt --target=simnpu --layout --outline --plan --tile --map --place --check --seed=7 | %FileCheck %s
// RUN: %pb-opt %S/../s3/Inputs/conv.txt --target=simnpu:8 --layout --outline --plan --tile --map --place --check | %FileCheck %s
// RUN: %pb-opt %S/../s3/Inputs/conv.txt --target=cpu --layout --outline --check | %FileCheck --check-prefix=CPU %s
// CHECK: pb.address
// CPU: pb.kernel
