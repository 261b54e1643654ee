"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<i32>, tensor<5xf32>) -> tensor<5xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<5xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1:3 = "stablehlo.while"(%0, %arg0, %arg1) ({
    ^bb0(%arg11: tensor<i32>, %arg12: tensor<i32>, %arg13: tensor<5xf32>):
      %18 = "stablehlo.compare"(%arg11, %arg12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%18) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<5xf32>):
      %2 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %3 = "stablehlo.add"(%arg2, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %5:3 = "stablehlo.while"(%4, %arg2, %arg4) ({
      ^bb0(%arg8: tensor<i32>, %arg9: tensor<i32>, %arg10: tensor<5xf32>):
        %17 = "stablehlo.compare"(%arg8, %arg9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%17) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<5xf32>):
        %9 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %10 = "stablehlo.add"(%arg5, %9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %11 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
        %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
        %13 = "stablehlo.multiply"(%arg7, %12) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
        %14 = "stablehlo.convert"(%arg5) : (tensor<i32>) -> tensor<f32>
        %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
        %16 = "stablehlo.add"(%13, %15) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
        "stablehlo.return"(%10, %arg6, %16) : (tensor<i32>, tensor<i32>, tensor<5xf32>) -> ()
      }) : (tensor<i32>, tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<i32>, tensor<5xf32>)
      %6 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
      %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
      %8 = "stablehlo.add"(%5#2, %7) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      "stablehlo.return"(%3, %arg3, %8) : (tensor<i32>, tensor<i32>, tensor<5xf32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<i32>, tensor<5xf32>)
    "func.return"(%1#2) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
