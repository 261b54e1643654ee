"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<?x?xf32>, %arg10: tensor<?x?xf32>):
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %6 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %7 = "stablehlo.get_dimension_size"(%arg10) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %8 = "stablehlo.get_dimension_size"(%arg10) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %9 = "stablehlo.compare"(%5, %4) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%9, %5) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %10 = "stablehlo.compare"(%6, %4) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%10, %5, %6) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'm'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %11 = "stablehlo.compare"(%7, %5) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%11, %7, %5, %6) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'n' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {1} from specification 'n' for dimension args[0].shape[0] (= {1}), 'm' = {2} from specification 'm' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %12 = "stablehlo.compare"(%8, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%12, %8, %6, %5) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[1] (= {0}) and the specification 'm' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {2} from specification 'n' for dimension args[0].shape[0] (= {2}), 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %13 = "func.call"(%6, %5, %arg9, %arg10) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%13) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<?x?xf32>, %arg8: tensor<?x?xf32>):
    %1 = "stablehlo.compare"(%arg7, %arg8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
    %2 = "stablehlo.negate"(%arg8) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %3 = "func.call"(%arg5, %arg6, %1, %arg7, %2) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%3) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xi1>, %arg3: tensor<?x?xf32>, %arg4: tensor<?x?xf32>):
    %0 = "stablehlo.select"(%arg2, %arg3, %arg4) : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%0) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
