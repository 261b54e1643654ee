"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<?x?xf32>):
    %24 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %25 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %26 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %27 = "stablehlo.compare"(%25, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%27, %25) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %28 = "stablehlo.compare"(%26, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%28, %25, %26) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %29 = "func.call"(%25, %26, %arg7) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?xf32>
    "func.return"(%29) : (tensor<?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.convert"(%arg1) : (tensor<i32>) -> tensor<f32>
    %3 = "stablehlo.reduce"(%arg2, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %23 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %4 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %5 = "stablehlo.concatenate"(%4, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = "stablehlo.dynamic_broadcast_in_dim"(%3, %5) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %7 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.concatenate"(%7, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = "stablehlo.dynamic_broadcast_in_dim"(%2, %8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %10 = "stablehlo.divide"(%6, %9) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %11 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %13 = "stablehlo.concatenate"(%11, %12) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%10, %13) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %15 = "stablehlo.subtract"(%arg2, %14) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %16 = "stablehlo.multiply"(%15, %15) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %17 = "stablehlo.convert"(%arg1) : (tensor<i32>) -> tensor<f32>
    %18 = "stablehlo.reduce"(%16, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %22 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%22) : (tensor<f32>) -> ()
    }) : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %19 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.dynamic_broadcast_in_dim"(%17, %19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %21 = "stablehlo.divide"(%18, %20) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    "func.return"(%21) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
