"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x16xf32>, tensor<16x48xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg14: tensor<?x?x16xf32>, %arg15: tensor<16x48xf32>, %arg16: tensor<16x16xf32>):
    %118 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %119 = "stablehlo.get_dimension_size"(%arg14) <{dimension = 0 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %120 = "stablehlo.get_dimension_size"(%arg14) <{dimension = 1 : i64}> : (tensor<?x?x16xf32>) -> tensor<i32>
    %121 = "stablehlo.compare"(%119, %118) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%121, %119) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %122 = "stablehlo.compare"(%120, %118) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%122, %119, %120) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 16). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %123 = "func.call"(%119, %120, %arg14, %arg15, %arg16) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16x48xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%123) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x16xf32>, tensor<16x48xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<?x?x16xf32>, %arg8: tensor<16x48xf32>, %arg9: tensor<16x16xf32>):
    %12 = "stablehlo.constant"() <{value = dense<16> : tensor<1xi32>}> : () -> tensor<1xi32>
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<-1.000000e+09> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %19 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %21 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %22 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %23 = "stablehlo.dot_general"(%arg7, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x16xf32>, tensor<16x48xf32>) -> tensor<?x?x48xf32>
    %24 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %25 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %26 = "stablehlo.concatenate"(%24, %25, %22, %21, %21) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xi32>
    %27 = "stablehlo.dynamic_reshape"(%23, %26) : (tensor<?x?x48xf32>, tensor<5xi32>) -> tensor<?x?x3x4x4xf32>
    %28 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %30 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %31 = "stablehlo.concatenate"(%29, %30, %18, %21, %21) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xi32>
    %32 = "stablehlo.dynamic_gather"(%27, %28, %31) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2, 3], collapsed_slice_dims = [2], start_index_map = [2]>, indices_are_sorted = true}> : (tensor<?x?x3x4x4xf32>, tensor<1xi32>, tensor<5xi32>) -> tensor<?x?x4x4xf32>
    %33 = "stablehlo.transpose"(%32) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<?x?x4x4xf32>) -> tensor<?x4x?x4xf32>
    %34 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %35 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %36 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %37 = "stablehlo.concatenate"(%35, %36, %18, %21, %21) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xi32>
    %38 = "stablehlo.dynamic_gather"(%27, %34, %37) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2, 3], collapsed_slice_dims = [2], start_index_map = [2]>, indices_are_sorted = true}> : (tensor<?x?x3x4x4xf32>, tensor<1xi32>, tensor<5xi32>) -> tensor<?x?x4x4xf32>
    %39 = "stablehlo.transpose"(%38) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<?x?x4x4xf32>) -> tensor<?x4x?x4xf32>
    %40 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %41 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %42 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %43 = "stablehlo.concatenate"(%41, %42, %18, %21, %21) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xi32>
    %44 = "stablehlo.dynamic_gather"(%27, %40, %43) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2, 3], collapsed_slice_dims = [2], start_index_map = [2]>, indices_are_sorted = true}> : (tensor<?x?x3x4x4xf32>, tensor<1xi32>, tensor<5xi32>) -> tensor<?x?x4x4xf32>
    %45 = "stablehlo.transpose"(%44) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<?x?x4x4xf32>) -> tensor<?x4x?x4xf32>
    %46 = "stablehlo.transpose"(%39) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<?x4x?x4xf32>) -> tensor<?x4x4x?xf32>
    %47 = "stablehlo.dot_general"(%33, %46) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<?x4x?x4xf32>, tensor<?x4x4x?xf32>) -> tensor<?x4x?x?xf32>
    %48 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %49 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %50 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %51 = "stablehlo.concatenate"(%48, %21, %49, %50) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %52 = "stablehlo.dynamic_broadcast_in_dim"(%16, %51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<4xi32>) -> tensor<?x4x?x?xf32>
    %53 = "stablehlo.divide"(%47, %52) : (tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
    %54 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %55 = "stablehlo.dynamic_iota"(%54) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %56 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %57 = "stablehlo.dynamic_broadcast_in_dim"(%19, %56) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %58 = "stablehlo.multiply"(%57, %55) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %59 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %60 = "stablehlo.dynamic_broadcast_in_dim"(%20, %59) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %61 = "stablehlo.add"(%60, %58) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %62 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %63 = "stablehlo.concatenate"(%62, %18) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %64 = "stablehlo.dynamic_broadcast_in_dim"(%61, %63) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %65 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %66 = "stablehlo.dynamic_iota"(%65) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %67 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %68 = "stablehlo.dynamic_broadcast_in_dim"(%19, %67) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %69 = "stablehlo.multiply"(%68, %66) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %70 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %71 = "stablehlo.dynamic_broadcast_in_dim"(%20, %70) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %72 = "stablehlo.add"(%71, %69) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %73 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %74 = "stablehlo.concatenate"(%18, %73) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %75 = "stablehlo.dynamic_broadcast_in_dim"(%72, %74) <{broadcast_dimensions = array<i64: 1>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<1x?xi32>
    %76 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %77 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %78 = "stablehlo.concatenate"(%76, %77) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %79 = "stablehlo.dynamic_broadcast_in_dim"(%64, %78) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    %80 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %81 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %82 = "stablehlo.concatenate"(%80, %81) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %83 = "stablehlo.dynamic_broadcast_in_dim"(%75, %82) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x?xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    %84 = "stablehlo.compare"(%79, %83) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
    %85 = "func.call"(%arg5, %arg6, %84, %53, %15) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x4x?x?xf32>, tensor<f32>) -> tensor<?x4x?x?xf32>
    %86 = "stablehlo.reduce"(%85, %14) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %117 = "stablehlo.maximum"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%117) : (tensor<f32>) -> ()
    }) : (tensor<?x4x?x?xf32>, tensor<f32>) -> tensor<?x4x?xf32>
    %87 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %88 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %89 = "stablehlo.concatenate"(%87, %21, %88, %18) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %90 = "stablehlo.dynamic_broadcast_in_dim"(%86, %89) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x4x?xf32>, tensor<4xi32>) -> tensor<?x4x?x1xf32>
    %91 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %92 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %93 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %94 = "stablehlo.concatenate"(%91, %21, %92, %93) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %95 = "stablehlo.dynamic_broadcast_in_dim"(%90, %94) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<?x4x?x1xf32>, tensor<4xi32>) -> tensor<?x4x?x?xf32>
    %96 = "stablehlo.subtract"(%85, %95) : (tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
    %97 = "stablehlo.exponential"(%96) : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
    %98 = "stablehlo.reduce"(%97, %13) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %116 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%116) : (tensor<f32>) -> ()
    }) : (tensor<?x4x?x?xf32>, tensor<f32>) -> tensor<?x4x?xf32>
    %99 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %100 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %101 = "stablehlo.concatenate"(%99, %21, %100, %18) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %102 = "stablehlo.dynamic_broadcast_in_dim"(%98, %101) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<?x4x?xf32>, tensor<4xi32>) -> tensor<?x4x?x1xf32>
    %103 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %104 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %105 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %106 = "stablehlo.concatenate"(%103, %21, %104, %105) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %107 = "stablehlo.dynamic_broadcast_in_dim"(%102, %106) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<?x4x?x1xf32>, tensor<4xi32>) -> tensor<?x4x?x?xf32>
    %108 = "stablehlo.divide"(%97, %107) : (tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
    %109 = "stablehlo.dot_general"(%108, %45) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<?x4x?x?xf32>, tensor<?x4x?x4xf32>) -> tensor<?x4x?x4xf32>
    %110 = "stablehlo.transpose"(%109) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<?x4x?x4xf32>) -> tensor<?x?x4x4xf32>
    %111 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %112 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %113 = "stablehlo.concatenate"(%111, %112, %12) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %114 = "stablehlo.dynamic_reshape"(%110, %113) : (tensor<?x?x4x4xf32>, tensor<3xi32>) -> tensor<?x?x16xf32>
    %115 = "stablehlo.dot_general"(%114, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<?x?x16xf32>, tensor<16x16xf32>) -> tensor<?x?x16xf32>
    "func.return"(%115) : (tensor<?x?x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x4x?x?xf32>, tensor<f32>) -> tensor<?x4x?x?xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xi1>, %arg3: tensor<?x4x?x?xf32>, %arg4: tensor<f32>):
    %0 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %2 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %3 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.concatenate"(%1, %0, %2, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %5 = "stablehlo.dynamic_broadcast_in_dim"(%arg2, %4) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<?x?xi1>, tensor<4xi32>) -> tensor<?x4x?x?xi1>
    %6 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %7 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.concatenate"(%6, %0, %7, %8) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %10 = "stablehlo.dynamic_broadcast_in_dim"(%arg4, %9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<4xi32>) -> tensor<?x4x?x?xf32>
    %11 = "stablehlo.select"(%5, %arg3, %10) : (tensor<?x4x?x?xi1>, tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
    "func.return"(%11) : (tensor<?x4x?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
