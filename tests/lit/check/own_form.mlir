// What MLIR says of a piece of StableHLO's own form, and the compiler of an operation, is said of the place in the text.
// RUN: not %pbc %s --target=cpu -o %t 2>&1 | %FileCheck %s
// RUN: sed 's/f3>/f32>/' %s > %t.mlir
// RUN: not %pbc %t.mlir --target=cpu -o %t 2>&1 | %FileCheck %s --check-prefix=OPERATOR
// RUN: sed 's/f3>/f32>/; s/-> tensor<f32>$/-> tensor<2xf32>/' %s > %t.mlir
// RUN: not %pbc %t.mlir --target=cpu -o %t 2>&1 | %FileCheck %s --check-prefix=TYPE
// CHECK: own_form.mlir:[[@LINE+9]]:53: error: expected non-function type [PB2001]
// OPERATOR: own_form.mlir.tmp.mlir:[[@LINE+9]]:10: error: operator 'stablehlo.rng' is not read [PB2111]
// TYPE: own_form.mlir.tmp.mlir:[[@LINE+5]]:37: error: use of value '%0' expects different type {{.*}} [PB2001]
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %n: tensor<1xi64>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %s = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<4xf32>
    %3 = stablehlo.add %arg0, %2 :         tensor<4xf3>
    %4 = stablehlo.rng %s, %s, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}
