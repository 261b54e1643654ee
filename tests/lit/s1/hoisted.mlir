// What each turn would compute alike is computed in front of the loop: the matrix, which the loop carries and never
// changes, is turned round once, and scaled once. What grows stays, and is made where it is read: the vector along rows.
// RUN: %pbc %s --target=cpu --emit=s1 | %FileCheck %s
// CHECK: nest %0:8x16xf32{{.*}}// stablehlo.transpose
// CHECK-NEXT: // stablehlo.multiply
// CHECK-NOT: move %0
// CHECK: loop
// CHECK: // stablehlo.broadcast_in_dim
// CHECK-NOT: // stablehlo.transpose
// CHECK-NOT: // stablehlo.multiply
// CHECK: again
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x16xf32>, tensor<16xf32>, tensor<i32>) -> tensor<16x8xf32>, sym_name = "main"}> ({
  ^bb0(%a: tensor<8x16xf32>, %v: tensor<16xf32>, %n: tensor<i32>):
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %first = "stablehlo.constant"() <{value = dense<0.0> : tensor<16x8xf32>}> : () -> tensor<16x8xf32>
    %r:4 = "stablehlo.while"(%a, %v, %zero, %first) ({
    ^bb0(%a0: tensor<8x16xf32>, %v0: tensor<16xf32>, %k: tensor<i32>, %x: tensor<16x8xf32>):
      %more = "stablehlo.compare"(%k, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%more) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a0: tensor<8x16xf32>, %v0: tensor<16xf32>, %k: tensor<i32>, %x: tensor<16x8xf32>):
      %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.add"(%k, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %t = "stablehlo.transpose"(%a0) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
      %s = "stablehlo.multiply"(%t, %t) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
      %b = "stablehlo.broadcast_in_dim"(%v0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x8xf32>
      %y = "stablehlo.add"(%x, %s) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
      %z = "stablehlo.maximum"(%y, %b) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
      "stablehlo.return"(%a0, %v0, %next, %z) : (tensor<8x16xf32>, tensor<16xf32>, tensor<i32>, tensor<16x8xf32>) -> ()
    }) : (tensor<8x16xf32>, tensor<16xf32>, tensor<i32>, tensor<16x8xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<i32>, tensor<16x8xf32>)
    "func.return"(%r#3) : (tensor<16x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
