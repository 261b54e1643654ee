"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x?xf32>, tensor<?xf32>) -> tensor<?x?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<?x?x?xf32>, %arg6: tensor<?xf32>):
    %15 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.get_dimension_size"(%arg5) <{dimension = 0 : i64}> : (tensor<?x?x?xf32>) -> tensor<i32>
    %17 = "stablehlo.get_dimension_size"(%arg5) <{dimension = 1 : i64}> : (tensor<?x?x?xf32>) -> tensor<i32>
    %18 = "stablehlo.get_dimension_size"(%arg5) <{dimension = 2 : i64}> : (tensor<?x?x?xf32>) -> tensor<i32>
    %19 = "stablehlo.get_dimension_size"(%arg6) <{dimension = 0 : i64}> : (tensor<?xf32>) -> tensor<i32>
    %20 = "stablehlo.compare"(%16, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%20, %16) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, b, c),args[1].shape = (c,). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %21 = "stablehlo.compare"(%17, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%21, %16, %17) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, b, c),args[1].shape = (c,). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %22 = "stablehlo.compare"(%18, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%22, %16, %17, %18) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'c'. Using the following polymorphic shapes specifications: args[0].shape = (a, b, c),args[1].shape = (c,). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), 'c' = {2} from specification 'c' for dimension args[0].shape[2] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %23 = "stablehlo.compare"(%19, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%23, %19, %18, %16, %17) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'c' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b, c),args[1].shape = (c,). Obtained dimension variables: 'a' = {2} from specification 'a' for dimension args[0].shape[0] (= {2}), 'b' = {3} from specification 'b' for dimension args[0].shape[1] (= {3}), 'c' = {1} from specification 'c' for dimension args[0].shape[2] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %24 = "func.call"(%16, %17, %18, %arg5, %arg6) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?xf32>, tensor<?xf32>) -> tensor<?x?x?xf32>
    "func.return"(%24) : (tensor<?x?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "a"}, {jax.global_constant = "b"}, {jax.global_constant = "c"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?xf32>, tensor<?xf32>) -> tensor<?x?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<?x?x?xf32>, %arg4: tensor<?xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.multiply"(%arg4, %arg4) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %3 = "stablehlo.reshape"(%arg2) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.dynamic_broadcast_in_dim"(%1, %3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %5 = "stablehlo.add"(%4, %2) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %6 = "stablehlo.reshape"(%arg2) : (tensor<i32>) -> tensor<1xi32>
    %7 = "stablehlo.concatenate"(%0, %0, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %8 = "stablehlo.dynamic_broadcast_in_dim"(%5, %7) <{broadcast_dimensions = array<i64: 2>}> : (tensor<?xf32>, tensor<3xi32>) -> tensor<1x1x?xf32>
    %9 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.reshape"(%arg2) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.concatenate"(%9, %10, %11) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %13 = "stablehlo.dynamic_broadcast_in_dim"(%8, %12) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x?xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %14 = "stablehlo.divide"(%arg3, %13) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    "func.return"(%14) : (tensor<?x?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
