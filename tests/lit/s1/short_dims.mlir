// Distances between all pairs: five coordinates are the last dim of the differences, which are summed away. They become
// the first one, so that points lie side by side in lanes; of the points that move along them a copy is turned round. What
// leaves the program stays as it is: the second sum is over differences that are a result.
// RUN: %pbc %s --target=cpu --emit=s1 | %FileCheck %s
// CHECK: %[[T:[0-9]+]]:5x40xf32 = nest %0:40x5xf32
// CHECK: :5x40x40xf32 = nest {{.*}} // stablehlo.subtract
// CHECK: :40x40xf32 = nest %{{[0-9]+}}:5x40x40xf32 {{.*}} // stablehlo.reduce
// CHECK: :30x20x5xf32 = nest {{.*}} // stablehlo.subtract
// CHECK: :30x20xf32 = nest %{{[0-9]+}}:30x20x5xf32 {{.*}} // stablehlo.reduce
// On a chip of queues nothing turns.
// RUN: %pbc %s --target=simnpu --emit=s1 | %FileCheck %s --check-prefix=QUEUES
// QUEUES-NOT: 5x40x40xf32
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<40x5xf32>, tensor<30x20x5xf32>) -> (tensor<40x40xf32>, tensor<30x20xf32>, tensor<30x20x5xf32>), sym_name = "main"}> ({
  ^bb0(%p: tensor<40x5xf32>, %q: tensor<30x20x5xf32>):
    %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %a = "stablehlo.broadcast_in_dim"(%p) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<40x5xf32>) -> tensor<40x40x5xf32>
    %b = "stablehlo.broadcast_in_dim"(%p) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<40x5xf32>) -> tensor<40x40x5xf32>
    %d = "stablehlo.subtract"(%a, %b) : (tensor<40x40x5xf32>, tensor<40x40x5xf32>) -> tensor<40x40x5xf32>
    %s = "stablehlo.reduce"(%d, %zero) <{dimensions = array<i64: 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<40x40x5xf32>, tensor<f32>) -> tensor<40x40xf32>
    %e = "stablehlo.subtract"(%q, %q) : (tensor<30x20x5xf32>, tensor<30x20x5xf32>) -> tensor<30x20x5xf32>
    %f = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<30x20x5xf32>, tensor<f32>) -> tensor<30x20xf32>
    "func.return"(%s, %f, %e) : (tensor<40x40xf32>, tensor<30x20xf32>, tensor<30x20x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
