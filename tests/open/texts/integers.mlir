"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<?x?xi32>, %arg5: tensor<?x?xi32>):
    %13 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.get_dimension_size"(%arg4) <{dimension = 0 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %15 = "stablehlo.get_dimension_size"(%arg4) <{dimension = 1 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %16 = "stablehlo.get_dimension_size"(%arg5) <{dimension = 0 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %17 = "stablehlo.get_dimension_size"(%arg5) <{dimension = 1 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %18 = "stablehlo.compare"(%14, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%18, %14) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %19 = "stablehlo.compare"(%15, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%19, %14, %15) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'm'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %20 = "stablehlo.compare"(%16, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%20, %16, %14, %15) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'n' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {1} from specification 'n' for dimension args[0].shape[0] (= {1}), 'm' = {2} from specification 'm' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %21 = "stablehlo.compare"(%17, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%21, %17, %15, %14) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[1] (= {0}) and the specification 'm' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (n, m). Obtained dimension variables: 'n' = {2} from specification 'n' for dimension args[0].shape[0] (= {2}), 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %22 = "func.call"(%15, %14, %arg4, %arg5) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
    "func.return"(%22) : (tensor<?x?xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xi32>, %arg3: tensor<?x?xi32>):
    %0 = "stablehlo.constant"() <{value = dense<15> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %3 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.concatenate"(%2, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = "stablehlo.dynamic_broadcast_in_dim"(%1, %4) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %6 = "stablehlo.multiply"(%arg2, %5) : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
    %7 = "stablehlo.subtract"(%6, %arg3) : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
    %8 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.concatenate"(%8, %9) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = "stablehlo.dynamic_broadcast_in_dim"(%0, %10) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %12 = "stablehlo.and"(%7, %11) : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
    "func.return"(%12) : (tensor<?x?xi32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
