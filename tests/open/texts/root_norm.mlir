"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<?x?x16xf32>, %arg7: tensor<16xf32>):
    %34 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %35 = "stablehlo.get_dimension_size"(%arg6) <{dimension = 0 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %36 = "stablehlo.get_dimension_size"(%arg6) <{dimension = 1 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %37 = "stablehlo.compare"(%35, %34) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%37, %35) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %38 = "stablehlo.compare"(%36, %34) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%38, %35, %36) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %39 = "func.call"(%35, %36, %arg6, %arg7) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%39) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?x16xf32>, %arg3: tensor<16xf32>):
    %0 = "stablehlo.constant"() <{value = dense<16> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.multiply"(%arg2, %arg2) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %6 = "stablehlo.reduce"(%5, %4) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %33 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%33) : (tensor<f32>) -> ()
    }) : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?xf32>
    %7 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.concatenate"(%7, %8, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %10 = "stablehlo.dynamic_broadcast_in_dim"(%6, %9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %11 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %13 = "stablehlo.concatenate"(%11, %12, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%2, %13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %15 = "stablehlo.divide"(%10, %14) : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %16 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%16, %17, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %19 = "stablehlo.dynamic_broadcast_in_dim"(%1, %18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %20 = "stablehlo.add"(%15, %19) : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %21 = "stablehlo.sqrt"(%20) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %22 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %24 = "stablehlo.concatenate"(%22, %23, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %25 = "stablehlo.dynamic_broadcast_in_dim"(%21, %24) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x16xf32>
    %26 = "stablehlo.divide"(%arg2, %25) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %27 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 2>}> : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %28 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %30 = "stablehlo.concatenate"(%28, %29, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %31 = "stablehlo.dynamic_broadcast_in_dim"(%27, %30) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x16xf32>, tensor<3xi32>) -> tensor<?x?x16xf32>
    %32 = "stablehlo.multiply"(%26, %31) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%32) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
