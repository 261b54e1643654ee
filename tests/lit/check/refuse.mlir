// What cannot be run is an error, not a crash.
// RUN: split-file %s %t
// RUN: not %pb-opt %t/none.mlir --target=simnpu --check 2>&1 | %FileCheck --check-prefix=NONE %s
// RUN: not %pb-opt %t/scalar.mlir --target=simnpu --check 2>&1 | %FileCheck --check-prefix=SCALAR %s
// RUN: not %pb-opt %t/none.mlir --target=simnpu --check --seed=x 2>&1 | %FileCheck --check-prefix=SEED %s
// RUN: not %pb-opt %t/none.mlir --target=simnpu --layout 2>&1 | %FileCheck --check-prefix=NO-LAYOUT %s
// RUN: not %pb-opt %t/none.mlir --target=simnpu --outline 2>&1 | %FileCheck --check-prefix=NO-OUTLINE %s
// RUN: not %pb-opt %t/tensor.mlir --target=simnpu --layout 2>&1 | %FileCheck --check-prefix=TENSOR %s
// NO-LAYOUT: error: layout: there is no function 'main' to run [PB4093]
// NO-OUTLINE: error: outline: there is no function 'main' to run [PB4093]
// TENSOR: error: layout: argument 0 of 'main' is no static memref [PB4093]
// NONE: error: check: there is no function 'main' to run [PB4093]
// SCALAR: error: check: argument 0 of 'main' is no static memref [PB4093]
// SEED: error: no option or pass '--seed=x' [PB1002]

//--- none.mlir
module {}

//--- scalar.mlir
func.func @main(%x: i32) { return }

//--- tensor.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
