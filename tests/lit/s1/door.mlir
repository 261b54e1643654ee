// What each value of a StableHLO text is made of; results are the last values, in the order of the function's.
// RUN: %pbc %s --target=cpu --emit=s1 | %FileCheck %s
// CHECK: %0:4x8xf32 = input "arg0"
// CHECK-NEXT: %1:8xf32 = input "arg1"
// CHECK-NEXT: %[[C:[0-9]+]]:4x8xf32 = nest %1:8xf32 {{.*}} // stablehlo.broadcast_in_dim
// CHECK-NEXT: %[[D:[0-9]+]]:4x8xf32 = nest %0:4x8xf32, %[[C]]:4x8xf32 {{.*}} // stablehlo.add
// CHECK-NEXT: %{{[0-9]+}}:4x8xf32 = nest %[[D]]:4x8xf32 {{.*}} // stablehlo.tanh
// CHECK-NEXT: %{{[0-9]+}}:8xf32 = nest %1:8xf32 {{.*}} // stablehlo.negate
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>), sym_name = "main"}> ({
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8xf32>):
    %c = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32>
    %d = "stablehlo.add"(%a, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %e = "stablehlo.tanh"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %f = "stablehlo.negate"(%b) : (tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%f, %e) : (tensor<8xf32>, tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
