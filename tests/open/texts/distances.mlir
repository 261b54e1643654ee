"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<?x2xf32>, %arg7: tensor<?x2xf32>):
    %22 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.get_dimension_size"(%arg6) <{dimension = 0 : i64}> : (tensor<?x2xf32>) -> tensor<i32>
    %24 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 0 : i64}> : (tensor<?x2xf32>) -> tensor<i32>
    %25 = "stablehlo.compare"(%23, %22) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%25, %23) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 2),args[1].shape = (m, 2). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %26 = "stablehlo.compare"(%24, %22) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%26, %23, %24) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'm'. Using the following polymorphic shapes specifications: args[0].shape = (n, 2),args[1].shape = (m, 2). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), 'm' = {1} from specification 'm' for dimension args[1].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %27 = "func.call"(%24, %23, %arg6, %arg7) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>
    "func.return"(%27) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x2xf32>, %arg3: tensor<?x2xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.concatenate"(%3, %2, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %5 = "stablehlo.dynamic_broadcast_in_dim"(%arg2, %4) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<?x1x2xf32>
    %6 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %7 = "stablehlo.concatenate"(%2, %6, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %8 = "stablehlo.dynamic_broadcast_in_dim"(%arg3, %7) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<1x?x2xf32>
    %9 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.concatenate"(%9, %10, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %12 = "stablehlo.dynamic_broadcast_in_dim"(%5, %11) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x1x2xf32>, tensor<3xi32>) -> tensor<?x?x2xf32>
    %13 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %14 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.concatenate"(%13, %14, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %16 = "stablehlo.dynamic_broadcast_in_dim"(%8, %15) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x?x2xf32>, tensor<3xi32>) -> tensor<?x?x2xf32>
    %17 = "stablehlo.subtract"(%12, %16) : (tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
    %18 = "stablehlo.multiply"(%17, %17) : (tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
    %19 = "stablehlo.reduce"(%18, %0) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %21 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%21) : (tensor<f32>) -> ()
    }) : (tensor<?x?x2xf32>, tensor<f32>) -> tensor<?x?xf32>
    %20 = "stablehlo.sqrt"(%19) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%20) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
