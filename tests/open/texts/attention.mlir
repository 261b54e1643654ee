"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg10: tensor<?x?x16xf32>, %arg11: tensor<16x16xf32>, %arg12: tensor<16x16xf32>, %arg13: tensor<16x16xf32>):
    %41 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %42 = "stablehlo.get_dimension_size"(%arg10) <{dimension = 0 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %43 = "stablehlo.get_dimension_size"(%arg10) <{dimension = 1 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %44 = "stablehlo.compare"(%42, %41) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%44, %42) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %45 = "stablehlo.compare"(%43, %41) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%45, %42, %43) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %46 = "func.call"(%42, %43, %arg10, %arg11, %arg12, %arg13) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%46) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %2 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.dot_general"(%arg2, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>
    %5 = "stablehlo.dot_general"(%arg2, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>
    %6 = "stablehlo.transpose"(%5) <{permutation = array<i64: 0, 2, 1>}> : (tensor<?x?x16xf32>) -> tensor<?x16x?xf32>
    %7 = "stablehlo.dot_general"(%4, %6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<?x?x16xf32>, tensor<?x16x?xf32>) -> tensor<?x?x?xf32>
    %8 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.concatenate"(%8, %9, %10) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %12 = "stablehlo.dynamic_broadcast_in_dim"(%3, %11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %13 = "stablehlo.divide"(%7, %12) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %14 = "stablehlo.reduce"(%13, %2) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %40 = "stablehlo.maximum"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%40) : (tensor<f32>) -> ()
    }) : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    %15 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %16 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.concatenate"(%15, %16, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %18 = "stablehlo.dynamic_broadcast_in_dim"(%14, %17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %19 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %22 = "stablehlo.concatenate"(%19, %20, %21) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %23 = "stablehlo.dynamic_broadcast_in_dim"(%18, %22) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %24 = "stablehlo.subtract"(%13, %23) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %25 = "stablehlo.exponential"(%24) : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %26 = "stablehlo.reduce"(%25, %0) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %39 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%39) : (tensor<f32>) -> ()
    }) : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    %27 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.concatenate"(%27, %28, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %30 = "stablehlo.dynamic_broadcast_in_dim"(%26, %29) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %31 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %34 = "stablehlo.concatenate"(%31, %32, %33) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %35 = "stablehlo.dynamic_broadcast_in_dim"(%30, %34) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %36 = "stablehlo.divide"(%25, %35) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %37 = "stablehlo.dot_general"(%arg2, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>
    %38 = "stablehlo.dot_general"(%36, %37) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<?x?x?xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%38) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
