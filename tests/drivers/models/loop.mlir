"builtin.module"() ({
  "func.func"() <{function_type = (tensor<i32>, tensor<64xf32>) -> tensor<64xf32>, sym_name = "main"}> ({
  ^bb0(%n: tensor<i32>, %x: tensor<64xf32>):
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%zero, %x) ({
    ^bb0(%i: tensor<i32>, %y: tensor<64xf32>):
      %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %y: tensor<64xf32>):
      %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %z = "stablehlo.add"(%y, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      "stablehlo.return"(%j, %z) : (tensor<i32>, tensor<64xf32>) -> ()
    }) : (tensor<i32>, tensor<64xf32>) -> (tensor<i32>, tensor<64xf32>)
    "func.return"(%r#1) : (tensor<64xf32>) -> ()
  }) : () -> ()
}) : () -> ()
