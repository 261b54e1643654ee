"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<?x?x?x3xf32>, %arg8: tensor<3x8xf32>):
    %17 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 0 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %19 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 1 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %20 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 2 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %21 = "stablehlo.compare"(%18, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%21, %18) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %22 = "stablehlo.compare"(%19, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%22, %18, %19) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %23 = "stablehlo.compare"(%20, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%23, %18, %19, %20) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[2] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %24 = "func.call"(%18, %19, %20, %arg7, %arg8) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
    "func.return"(%24) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<?x?x?x3xf32>, %arg4: tensor<3x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<8> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.dot_general"(%arg3, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x?x3xf32>, tensor<3x8xf32>) -> tensor<?x?x?x8xf32>
    %3 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %5 = "stablehlo.reshape"(%arg2) : (tensor<i32>) -> tensor<1xi32>
    %6 = "stablehlo.concatenate"(%3, %4, %5, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %7 = "stablehlo.dynamic_broadcast_in_dim"(%1, %6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x8xf32>
    %8 = "stablehlo.maximum"(%2, %7) : (tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
    %9 = "stablehlo.multiply"(%arg2, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.convert"(%9) : (tensor<i32>) -> tensor<f32>
    %11 = "stablehlo.reduce"(%8, %1) <{dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %16 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%16) : (tensor<f32>) -> ()
    }) : (tensor<?x?x?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    %12 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %13 = "stablehlo.concatenate"(%12, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%10, %13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %15 = "stablehlo.divide"(%11, %14) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    "func.return"(%15) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
