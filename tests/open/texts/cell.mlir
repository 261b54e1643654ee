"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>) -> tensor<?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<?x8xf32>, %arg7: tensor<?x8xf32>, %arg8: tensor<8x32xf32>, %arg9: tensor<8x32xf32>, %arg10: tensor<32xf32>):
    %67 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %68 = "stablehlo.get_dimension_size"(%arg6) <{dimension = 0 : i64}> : (tensor<?x8xf32>) -> tensor<i32>
    %69 = "stablehlo.get_dimension_size"(%arg7) <{dimension = 0 : i64}> : (tensor<?x8xf32>) -> tensor<i32>
    %70 = "stablehlo.compare"(%68, %67) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%70, %68) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 8),args[1].shape = (b, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %71 = "stablehlo.compare"(%69, %68) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%71, %69, %68) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, 8),args[1].shape = (b, 8). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %72 = "func.call"(%68, %arg6, %arg7, %arg8, %arg9, %arg10) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>) -> tensor<?x8xf32>
    "func.return"(%72) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {}, {}, {}, {}, {}], function_type = (tensor<i32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>) -> tensor<?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?x8xf32>, %arg2: tensor<?x8xf32>, %arg3: tensor<8x32xf32>, %arg4: tensor<8x32xf32>, %arg5: tensor<32xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<24> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<16> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<8> : tensor<1xi32>}> : () -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<8> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.constant"() <{value = dense<32> : tensor<1xi32>}> : () -> tensor<1xi32>
    %7 = "stablehlo.dot_general"(%arg1, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x32xf32>
    %8 = "stablehlo.dot_general"(%arg2, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x32xf32>
    %9 = "stablehlo.add"(%7, %8) : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    %10 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %11 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.concatenate"(%11, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = "stablehlo.dynamic_broadcast_in_dim"(%10, %12) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x32xf32>, tensor<2xi32>) -> tensor<?x32xf32>
    %14 = "stablehlo.add"(%9, %13) : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    %15 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %16 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.concatenate"(%16, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = "stablehlo.dynamic_gather"(%14, %15, %17) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true}> : (tensor<?x32xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x8xf32>
    %19 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.concatenate"(%20, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = "stablehlo.dynamic_gather"(%14, %19, %21) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true}> : (tensor<?x32xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x8xf32>
    %23 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %24 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %25 = "stablehlo.concatenate"(%24, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = "stablehlo.dynamic_gather"(%14, %23, %25) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true}> : (tensor<?x32xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x8xf32>
    %27 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.concatenate"(%28, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = "stablehlo.dynamic_gather"(%14, %27, %29) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true}> : (tensor<?x32xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x8xf32>
    %31 = "stablehlo.negate"(%30) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %33 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %34 = "stablehlo.concatenate"(%33, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %35 = "stablehlo.dynamic_broadcast_in_dim"(%0, %34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %36 = "stablehlo.add"(%35, %32) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %37 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %38 = "stablehlo.concatenate"(%37, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = "stablehlo.dynamic_broadcast_in_dim"(%0, %38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %40 = "stablehlo.divide"(%39, %36) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %41 = "stablehlo.negate"(%22) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %42 = "stablehlo.exponential"(%41) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %43 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %44 = "stablehlo.concatenate"(%43, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %45 = "stablehlo.dynamic_broadcast_in_dim"(%0, %44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %46 = "stablehlo.add"(%45, %42) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %47 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %48 = "stablehlo.concatenate"(%47, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %49 = "stablehlo.dynamic_broadcast_in_dim"(%0, %48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %50 = "stablehlo.divide"(%49, %46) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %51 = "stablehlo.multiply"(%50, %arg2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %52 = "stablehlo.negate"(%18) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %53 = "stablehlo.exponential"(%52) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %54 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %55 = "stablehlo.concatenate"(%54, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %56 = "stablehlo.dynamic_broadcast_in_dim"(%0, %55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %57 = "stablehlo.add"(%56, %53) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %58 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %59 = "stablehlo.concatenate"(%58, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %60 = "stablehlo.dynamic_broadcast_in_dim"(%0, %59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %61 = "stablehlo.divide"(%60, %57) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %62 = "stablehlo.tanh"(%26) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %63 = "stablehlo.multiply"(%61, %62) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %64 = "stablehlo.add"(%51, %63) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %65 = "stablehlo.tanh"(%64) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %66 = "stablehlo.multiply"(%40, %65) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    "func.return"(%66) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
