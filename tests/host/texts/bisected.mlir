"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<5xf32>, %arg4: tensor<5xf32>):
    %1:2 = "stablehlo.while"(%arg3, %arg4) ({
    ^bb0(%arg7: tensor<5xf32>, %arg8: tensor<5xf32>):
      %14 = "stablehlo.subtract"(%arg8, %arg7) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %15 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %16 = "stablehlo.reduce"(%14, %15) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
        %19 = "stablehlo.maximum"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%19) : (tensor<f32>) -> ()
      }) : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      %17 = "stablehlo.constant"() <{value = dense<9.99999974E-5> : tensor<f32>}> : () -> tensor<f32>
      %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%18) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg5: tensor<5xf32>, %arg6: tensor<5xf32>):
      %2 = "stablehlo.add"(%arg5, %arg6) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %3 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
      %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
      %5 = "stablehlo.multiply"(%4, %2) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %6 = "stablehlo.multiply"(%5, %5) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %7 = "stablehlo.multiply"(%6, %5) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %8 = "stablehlo.subtract"(%7, %5) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %9 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
      %11 = "stablehlo.compare"(%8, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
      %12 = "func.call"(%11, %5, %arg5) <{callee = @_where}> : (tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %13 = "func.call"(%11, %arg6, %5) <{callee = @_where}> : (tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      "stablehlo.return"(%12, %13) : (tensor<5xf32>, tensor<5xf32>) -> ()
    }) : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
    "func.return"(%1#0) : (tensor<5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<5xi1>, %arg1: tensor<5xf32>, %arg2: tensor<5xf32>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%0) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
