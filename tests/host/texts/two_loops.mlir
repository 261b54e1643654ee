"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<i32>, tensor<9xf32>) -> (tensor<9xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<9xf32>):
    %0 = "stablehlo.abs"(%arg1) : (tensor<9xf32>) -> tensor<9xf32>
    %1 = "stablehlo.while"(%0) ({
    ^bb0(%arg13: tensor<9xf32>):
      %21 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %22 = "stablehlo.reduce"(%arg13, %21) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
        %25 = "stablehlo.maximum"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%25) : (tensor<f32>) -> ()
      }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
      %23 = "stablehlo.constant"() <{value = dense<1.000000e+02> : tensor<f32>}> : () -> tensor<f32>
      %24 = "stablehlo.compare"(%22, %23) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%24) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<9xf32>):
      %15 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<9xf32>
      %17 = "stablehlo.multiply"(%arg12, %16) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
      %18 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<9xf32>
      %20 = "stablehlo.add"(%17, %19) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
      "stablehlo.return"(%20) : (tensor<9xf32>) -> ()
    }) : (tensor<9xf32>) -> tensor<9xf32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3:4 = "stablehlo.while"(%1, %2, %arg0, %1) ({
    ^bb0(%arg8: tensor<9xf32>, %arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<9xf32>):
      %14 = "stablehlo.compare"(%arg9, %arg10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%14) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg4: tensor<9xf32>, %arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<9xf32>):
      %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %9 = "stablehlo.add"(%arg5, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %10 = "stablehlo.constant"() <{value = dense<1.250000e-01> : tensor<f32>}> : () -> tensor<f32>
      %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<9xf32>
      %12 = "stablehlo.multiply"(%arg4, %11) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
      %13 = "stablehlo.subtract"(%arg7, %12) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
      "stablehlo.return"(%arg4, %9, %arg6, %13) : (tensor<9xf32>, tensor<i32>, tensor<i32>, tensor<9xf32>) -> ()
    }) : (tensor<9xf32>, tensor<i32>, tensor<i32>, tensor<9xf32>) -> (tensor<9xf32>, tensor<i32>, tensor<i32>, tensor<9xf32>)
    %4 = "stablehlo.add"(%1, %3#3) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%3#3, %5) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %7 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%4, %6) : (tensor<9xf32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
