"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<i32>, tensor<7xf32>) -> tensor<7xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<7xf32>):
    %0 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.compare"(%arg0, %0) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.convert"(%1) : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %13 = "stablehlo.negate"(%arg1) : (tensor<7xf32>) -> tensor<7xf32>
      "stablehlo.return"(%13) : (tensor<7xf32>) -> ()
    }, {
      %4 = "stablehlo.while"(%arg1) ({
      ^bb0(%arg3: tensor<7xf32>):
        %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
        %9 = "stablehlo.reduce"(%arg3, %8) <{dimensions = array<i64: 0>}> ({
        ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
          %12 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%12) : (tensor<f32>) -> ()
        }) : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
        %10 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
        %11 = "stablehlo.compare"(%9, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
        "stablehlo.return"(%11) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg2: tensor<7xf32>):
        %5 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
        %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
        %7 = "stablehlo.multiply"(%arg2, %6) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
        "stablehlo.return"(%7) : (tensor<7xf32>) -> ()
      }) : (tensor<7xf32>) -> tensor<7xf32>
      "stablehlo.return"(%4) : (tensor<7xf32>) -> ()
    }) : (tensor<i32>) -> tensor<7xf32>
    "func.return"(%3) : (tensor<7xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
