"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<12xf32>) -> tensor<12xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<12xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %2:3 = "stablehlo.while"(%arg0, %arg0, %1) ({
    ^bb0(%arg4: tensor<12xf32>, %arg5: tensor<12xf32>, %arg6: tensor<12xf32>):
      %8 = "stablehlo.multiply"(%arg6, %arg6) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
      %9 = "stablehlo.subtract"(%8, %arg4) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
      %10 = "stablehlo.abs"(%9) : (tensor<12xf32>) -> tensor<12xf32>
      %11 = "stablehlo.divide"(%10, %arg4) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
      %12 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %13 = "stablehlo.reduce"(%11, %12) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %16 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%16) : (tensor<f32>) -> ()
      }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
      %14 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
      %15 = "stablehlo.compare"(%13, %14) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%15) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg1: tensor<12xf32>, %arg2: tensor<12xf32>, %arg3: tensor<12xf32>):
      %3 = "stablehlo.divide"(%arg2, %arg3) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
      %4 = "stablehlo.add"(%arg3, %3) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
      %5 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
      %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
      %7 = "stablehlo.multiply"(%6, %4) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
      "stablehlo.return"(%arg1, %arg2, %7) : (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> ()
    }) : (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>)
    "func.return"(%2#2) : (tensor<12xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
