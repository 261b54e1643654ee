"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<?x?xf32>):
    %29 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %30 = "stablehlo.get_dimension_size"(%arg3) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %31 = "stablehlo.get_dimension_size"(%arg3) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %32 = "stablehlo.compare"(%30, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%32, %30) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %33 = "stablehlo.compare"(%31, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%33, %30, %31) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %34 = "func.call"(%30, %31, %arg3) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%34) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %5 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %6 = "stablehlo.concatenate"(%4, %5) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = "stablehlo.dynamic_broadcast_in_dim"(%3, %6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %8 = "stablehlo.multiply"(%7, %arg2) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %9 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.concatenate"(%9, %10) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = "stablehlo.dynamic_broadcast_in_dim"(%2, %11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %13 = "stablehlo.multiply"(%12, %arg2) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %14 = "stablehlo.multiply"(%13, %arg2) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %15 = "stablehlo.multiply"(%14, %arg2) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %16 = "stablehlo.add"(%arg2, %15) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %17 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.concatenate"(%17, %18) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = "stablehlo.dynamic_broadcast_in_dim"(%1, %19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %21 = "stablehlo.multiply"(%20, %16) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %22 = "stablehlo.tanh"(%21) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %23 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %24 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %25 = "stablehlo.concatenate"(%23, %24) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = "stablehlo.dynamic_broadcast_in_dim"(%0, %25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %27 = "stablehlo.add"(%26, %22) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %28 = "stablehlo.multiply"(%8, %27) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%28) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
