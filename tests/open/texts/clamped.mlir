"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x3xf32>) -> tensor<?x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<?x3xf32>):
    %12 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.get_dimension_size"(%arg6) <{dimension = 0 : i64}> : (tensor<?x3xf32>) -> tensor<i32>
    %14 = "stablehlo.compare"(%13, %12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%14, %13) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %15 = "func.call"(%13, %arg6) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    "func.return"(%15) : (tensor<?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "n"}, {}], function_type = (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<?x3xf32>):
    %9 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %11 = "func.call"(%arg4, %arg5, %9, %10) <{callee = @clip}> : (tensor<i32>, tensor<?x3xf32>, tensor<f32>, tensor<f32>) -> tensor<?x3xf32>
    "func.return"(%11) : (tensor<?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "n"}, {}, {}, {}], function_type = (tensor<i32>, tensor<?x3xf32>, tensor<f32>, tensor<f32>) -> tensor<?x3xf32>, sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?x3xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>):
    %0 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %2 = "stablehlo.concatenate"(%1, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = "stablehlo.dynamic_broadcast_in_dim"(%arg2, %2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %4 = "stablehlo.maximum"(%3, %arg1) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %5 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %6 = "stablehlo.concatenate"(%5, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = "stablehlo.dynamic_broadcast_in_dim"(%arg3, %6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %8 = "stablehlo.minimum"(%7, %4) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    "func.return"(%8) : (tensor<?x3xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
