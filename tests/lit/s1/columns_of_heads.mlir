// Weights whose columns are two dims, heads and what is in a head, are a matrix: the result is made as one, and copied.
// RUN: %pbc %s --target=cpu --emit=s1 | %FileCheck %s
// CHECK: %[[Y:[0-9]+]]:1x4x12xf32 = nest {{.*}} // stablehlo.dot_general
// CHECK-NEXT: %[[Y]]:1x4x12xf32 = nest %0:1x4x2xf32, %{{[0-9]+}}:2x12xf32 {{.*}} // stablehlo.dot_general
// CHECK-NEXT: %{{[0-9]+}}:1x4x3x4xf32 = nest %[[Y]]:1x4x12xf32 {{.*}} // stablehlo.dot_general
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x4x2xf32>) -> (tensor<1x4x3x4xf32>), sym_name = "main"}> ({
  ^bb0(%a: tensor<1x4x2xf32>):
    %w = "stablehlo.constant"() <{value = dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 1.0, 2.0], [3.0, 4.0, 5.0, 6.0]]]> : tensor<2x3x4xf32>}> : () -> tensor<2x3x4xf32>
    %y = "stablehlo.dot_general"(%a, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x4x2xf32>, tensor<2x3x4xf32>) -> tensor<1x4x3x4xf32>
    "func.return"(%y) : (tensor<1x4x3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
