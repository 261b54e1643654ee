"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<?x?x16xf32>, %arg10: tensor<16x32xf32>, %arg11: tensor<32x16xf32>):
    %58 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %59 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 0 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %60 = "stablehlo.get_dimension_size"(%arg9) <{dimension = 1 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %61 = "stablehlo.compare"(%59, %58) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%61, %59) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %62 = "stablehlo.compare"(%60, %58) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%62, %59, %60) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %63 = "func.call"(%59, %60, %arg9, %arg10, %arg11) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%63) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?x16xf32>, %arg3: tensor<16x32xf32>, %arg4: tensor<32x16xf32>):
    %0 = "stablehlo.constant"() <{value = dense<32> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<16> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%arg2, %5) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %57 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%57) : (tensor<f32>) -> ()
    }) : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?xf32>
    %7 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.concatenate"(%7, %8, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %10 = "stablehlo.dynamic_broadcast_in_dim"(%6, %9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %11 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %13 = "stablehlo.concatenate"(%11, %12, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%3, %13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %15 = "stablehlo.divide"(%10, %14) : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %16 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%16, %17, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %19 = "stablehlo.dynamic_broadcast_in_dim"(%15, %18) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x16xf32>
    %20 = "stablehlo.subtract"(%arg2, %19) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %21 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %22 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.concatenate"(%21, %22, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %24 = "stablehlo.dynamic_broadcast_in_dim"(%15, %23) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x16xf32>
    %25 = "stablehlo.subtract"(%arg2, %24) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %26 = "stablehlo.multiply"(%25, %25) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %27 = "stablehlo.reduce"(%26, %5) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %56 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%56) : (tensor<f32>) -> ()
    }) : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?xf32>
    %28 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %30 = "stablehlo.concatenate"(%28, %29, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %31 = "stablehlo.dynamic_broadcast_in_dim"(%27, %30) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %32 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %34 = "stablehlo.concatenate"(%32, %33, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %35 = "stablehlo.dynamic_broadcast_in_dim"(%3, %34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %36 = "stablehlo.divide"(%31, %35) : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %37 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %38 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %39 = "stablehlo.concatenate"(%37, %38, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %40 = "stablehlo.dynamic_broadcast_in_dim"(%1, %39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %41 = "stablehlo.add"(%36, %40) : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %42 = "stablehlo.sqrt"(%41) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %43 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %44 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %45 = "stablehlo.concatenate"(%43, %44, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %46 = "stablehlo.dynamic_broadcast_in_dim"(%42, %45) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x16xf32>
    %47 = "stablehlo.divide"(%20, %46) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %48 = "stablehlo.dot_general"(%47, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x16xf32>, tensor<16x32xf32>) -> tensor<?x?x32xf32>
    %49 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %50 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %51 = "stablehlo.concatenate"(%49, %50, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %52 = "stablehlo.dynamic_broadcast_in_dim"(%5, %51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x32xf32>
    %53 = "stablehlo.maximum"(%48, %52) : (tensor<?x?x32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
    %54 = "stablehlo.dot_general"(%53, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x32xf32>, tensor<32x16xf32>) -> tensor<?x?x16xf32>
    %55 = "stablehlo.add"(%arg2, %54) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%55) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
