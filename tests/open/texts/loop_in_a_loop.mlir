"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x3xf32>) -> tensor<?x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg12: tensor<?x3xf32>):
    %28 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.get_dimension_size"(%arg12) <{dimension = 0 : i64}> : (tensor<?x3xf32>) -> tensor<i32>
    %30 = "stablehlo.compare"(%29, %28) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%30, %29) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %31 = "func.call"(%29, %arg12) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    "func.return"(%31) : (tensor<?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {}], function_type = (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?x3xf32>):
    %0 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8:3 = "stablehlo.while"(%7, %arg0, %arg1) ({
    ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<?x3xf32>):
      %27 = "stablehlo.compare"(%arg9, %arg10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%27) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<?x3xf32>):
      %9 = "stablehlo.add"(%arg2, %6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %10 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
      %11 = "stablehlo.concatenate"(%10, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %12 = "stablehlo.dynamic_broadcast_in_dim"(%5, %11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
      %13 = "stablehlo.add"(%arg4, %12) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      %14 = "stablehlo.while"(%13) ({
      ^bb0(%arg6: tensor<?x3xf32>):
        %23 = "stablehlo.multiply"(%arg6, %arg6) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
        %24 = "stablehlo.reduce"(%23, %3) <{dimensions = array<i64: 0, 1>}> ({
        ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
          %26 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%26) : (tensor<f32>) -> ()
        }) : (tensor<?x3xf32>, tensor<f32>) -> tensor<f32>
        %25 = "stablehlo.compare"(%24, %2) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
        "stablehlo.return"(%25) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg5: tensor<?x3xf32>):
        %19 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
        %20 = "stablehlo.concatenate"(%19, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %21 = "stablehlo.dynamic_broadcast_in_dim"(%1, %20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
        %22 = "stablehlo.multiply"(%arg5, %21) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
        "stablehlo.return"(%22) : (tensor<?x3xf32>) -> ()
      }) : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %15 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
      %16 = "stablehlo.concatenate"(%15, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %17 = "stablehlo.dynamic_broadcast_in_dim"(%0, %16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
      %18 = "stablehlo.multiply"(%14, %17) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      "stablehlo.return"(%9, %arg3, %18) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>) -> (tensor<i32>, tensor<i32>, tensor<?x3xf32>)
    "func.return"(%8#2) : (tensor<?x3xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
