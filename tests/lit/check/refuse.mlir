// What cannot be run is an error, not a crash.
// RUN: split-file %s %t
// RUN: not %pb-opt %t/none.mlir --target=simnpu --check 2>&1 | %FileCheck --check-prefix=NONE %s
// RUN: not %pb-opt %t/scalar.mlir --target=simnpu --check 2>&1 | %FileCheck --check-prefix=SCALAR %s
// RUN: not %pb-opt %t/none.mlir --target=simnpu --check --seed=x 2>&1 | %FileCheck --check-prefix=SEED %s
// NONE: error: check: there is no function 'main' to run [PB4093]
// SCALAR: error: check: argument 0 of 'main' is no static memref [PB4093]
// SEED: error: no option or pass '--seed=x' [PB1002]

//--- none.mlir
module {}

//--- scalar.mlir
func.func @main(%x: i32) { return }
