"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x4xf32>) -> tensor<4x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<?x4xf32>):
    %17 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.get_dimension_size"(%arg4) <{dimension = 0 : i64}> : (tensor<?x4xf32>) -> tensor<i32>
    %19 = "stablehlo.compare"(%18, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%19, %18) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 4). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %20 = "func.call"(%18, %arg4) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x4xf32>) -> tensor<4x4xf32>
    "func.return"(%20) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "n"}, {}], function_type = (tensor<i32>, tensor<?x4xf32>) -> tensor<4x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?x4xf32>):
    %0 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.convert"(%arg0) : (tensor<i32>) -> tensor<f32>
    %3 = "stablehlo.reduce"(%arg1, %1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %16 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%16) : (tensor<f32>) -> ()
    }) : (tensor<?x4xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %5 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4xf32>
    %6 = "stablehlo.divide"(%4, %5) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %7 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.concatenate"(%7, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = "stablehlo.dynamic_broadcast_in_dim"(%6, %8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %10 = "stablehlo.subtract"(%arg1, %9) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %11 = "stablehlo.transpose"(%10) <{permutation = array<i64: 1, 0>}> : (tensor<?x4xf32>) -> tensor<4x?xf32>
    %12 = "stablehlo.dot_general"(%11, %10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x?xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
    %13 = "stablehlo.convert"(%arg0) : (tensor<i32>) -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %15 = "stablehlo.divide"(%12, %14) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%15) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
