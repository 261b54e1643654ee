"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<?x?x8xf32>, %arg9: tensor<?x?xi32>):
    %32 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %33 = "stablehlo.get_dimension_size"(%arg8) <{dimension = 0 : i64}> : (tensor<?x?x8xf32>) -> tensor<i32>
    %34 = "stablehlo.get_dimension_size"(%arg8) <{dimension = 1 : i64}> : (tensor<?x?x8xf32>) -> tensor<i32>
    %35 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 0 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %36 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 1 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %37 = "stablehlo.compare"(%33, %32) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%37, %33) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 8),args[1].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %38 = "stablehlo.compare"(%34, %32) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%38, %33, %34) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 8),args[1].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %39 = "stablehlo.compare"(%35, %33) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%39, %35, %33, %34) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, s, 8),args[1].shape = (b, s). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 's' = {2} from specification 's' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %40 = "stablehlo.compare"(%36, %34) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%40, %36, %34, %33) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[1] (= {0}) and the specification 's' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, s, 8),args[1].shape = (b, s). Obtained dimension variables: 'b' = {2} from specification 'b' for dimension args[0].shape[0] (= {2}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %41 = "func.call"(%33, %34, %arg8, %arg9) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x8xf32>
    "func.return"(%41) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?x8xf32>, %arg3: tensor<?x?xi32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<8> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %6 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %7 = "stablehlo.concatenate"(%5, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = "stablehlo.dynamic_broadcast_in_dim"(%4, %7) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %9 = "stablehlo.compare"(%arg3, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
    %10 = "stablehlo.convert"(%9) : (tensor<?x?xi1>) -> tensor<?x?xf32>
    %11 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %13 = "stablehlo.concatenate"(%11, %12, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%10, %13) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %15 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %16 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.concatenate"(%15, %16, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %18 = "stablehlo.dynamic_broadcast_in_dim"(%14, %17) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %19 = "stablehlo.multiply"(%arg2, %18) : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %20 = "stablehlo.reduce"(%19, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %31 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%31) : (tensor<f32>) -> ()
    }) : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    %21 = "stablehlo.reduce"(%14, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %30 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%30) : (tensor<f32>) -> ()
    }) : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
    %22 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.concatenate"(%22, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = "stablehlo.dynamic_broadcast_in_dim"(%0, %23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %25 = "stablehlo.maximum"(%21, %24) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %26 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %27 = "stablehlo.concatenate"(%26, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %28 = "stablehlo.dynamic_broadcast_in_dim"(%25, %27) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %29 = "stablehlo.divide"(%20, %28) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    "func.return"(%29) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
