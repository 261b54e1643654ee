"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x8xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<32x4xf32>) -> tensor<?x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<?x8xf32>, %arg6: tensor<8x32xf32>, %arg7: tensor<32xf32>, %arg8: tensor<32x4xf32>):
    %9 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.get_dimension_size"(%arg5) <{dimension = 0 : i64}> : (tensor<?x8xf32>) -> tensor<i32>
    %11 = "stablehlo.compare"(%10, %9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%11, %10) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 8). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %12 = "func.call"(%10, %arg5, %arg6, %arg7, %arg8) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x8xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<32x4xf32>) -> tensor<?x4xf32>
    "func.return"(%12) : (tensor<?x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "n"}, {}, {}, {}, {}], function_type = (tensor<i32>, tensor<?x8xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<32x4xf32>) -> tensor<?x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?x8xf32>, %arg2: tensor<8x32xf32>, %arg3: tensor<32xf32>, %arg4: tensor<32x4xf32>):
    %0 = "stablehlo.constant"() <{value = dense<32> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x32xf32>
    %2 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %3 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.concatenate"(%3, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = "stablehlo.dynamic_broadcast_in_dim"(%2, %4) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x32xf32>, tensor<2xi32>) -> tensor<?x32xf32>
    %6 = "stablehlo.add"(%1, %5) : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    %7 = "stablehlo.tanh"(%6) : (tensor<?x32xf32>) -> tensor<?x32xf32>
    %8 = "stablehlo.dot_general"(%7, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x32xf32>, tensor<32x4xf32>) -> tensor<?x4xf32>
    "func.return"(%8) : (tensor<?x4xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
