"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1:4 = "stablehlo.while"(%arg0, %arg2, %0, %arg1) ({
    ^bb0(%arg7: tensor<i32>, %arg8: tensor<8x8xf32>, %arg9: tensor<i32>, %arg10: tensor<8x8xf32>):
      %19 = "stablehlo.compare"(%arg9, %arg7) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%19) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<8x8xf32>, %arg5: tensor<i32>, %arg6: tensor<8x8xf32>):
      %2 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %3 = "stablehlo.add"(%arg5, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %4 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<8x8xf32>) -> tensor<1x1xf32>
      %5 = "stablehlo.reshape"(%4) : (tensor<1x1xf32>) -> tensor<f32>
      %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %7 = "stablehlo.compare"(%5, %6) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = "stablehlo.convert"(%7) : (tensor<i1>) -> tensor<i32>
      %9 = "stablehlo.case"(%8) ({
        %14 = "stablehlo.transpose"(%arg4) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %15 = "stablehlo.dot_general"(%arg6, %14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        %16 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
        %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x8xf32>
        %18 = "stablehlo.add"(%15, %17) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        "stablehlo.return"(%18) : (tensor<8x8xf32>) -> ()
      }, {
        %10 = "stablehlo.dot_general"(%arg6, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        %11 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
        %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x8xf32>
        %13 = "stablehlo.subtract"(%10, %12) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        "stablehlo.return"(%13) : (tensor<8x8xf32>) -> ()
      }) : (tensor<i32>) -> tensor<8x8xf32>
      "stablehlo.return"(%arg3, %arg4, %3, %9) : (tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>) -> ()
    }) : (tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>)
    "func.return"(%1#3) : (tensor<8x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
