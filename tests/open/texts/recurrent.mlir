"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg28: tensor<?x?x4xf32>, %arg29: tensor<4x4xf32>):
    %55 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %56 = "stablehlo.get_dimension_size"(%arg28) <{dimension = 0 : i64}> : (tensor<?x?x4xf32>) -> tensor<i32>
    %57 = "stablehlo.get_dimension_size"(%arg28) <{dimension = 1 : i64}> : (tensor<?x?x4xf32>) -> tensor<i32>
    %58 = "stablehlo.compare"(%56, %55) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%58, %56) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (s, b, 4). Obtained dimension variables: 's' = {0} from specification 's' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %59 = "stablehlo.compare"(%57, %55) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%59, %56, %57) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (s, b, 4). Obtained dimension variables: 's' = {0} from specification 's' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %60 = "func.call"(%57, %56, %arg28, %arg29) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
    "func.return"(%60) : (tensor<?x?x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<i32>, %arg15: tensor<i32>, %arg16: tensor<?x?x4xf32>, %arg17: tensor<4x4xf32>):
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %34 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %35 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %36 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %38 = "stablehlo.reshape"(%arg14) : (tensor<i32>) -> tensor<1xi32>
    %39 = "stablehlo.concatenate"(%34, %38, %33) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %40 = "stablehlo.dynamic_gather"(%arg16, %37, %39) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?x4xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<?x4xf32>
    %41 = "stablehlo.reshape"(%arg14) : (tensor<i32>) -> tensor<1xi32>
    %42 = "stablehlo.concatenate"(%41, %33) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %43 = "stablehlo.dynamic_broadcast_in_dim"(%32, %42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %44 = "stablehlo.multiply"(%40, %43) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %45 = "stablehlo.reshape"(%arg15) : (tensor<i32>) -> tensor<1xi32>
    %46 = "stablehlo.reshape"(%arg14) : (tensor<i32>) -> tensor<1xi32>
    %47 = "stablehlo.concatenate"(%45, %46, %33) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %48 = "stablehlo.dynamic_broadcast_in_dim"(%32, %47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %49:5 = "stablehlo.while"(%arg16, %arg17, %36, %44, %48) ({
    ^bb0(%arg23: tensor<?x?x4xf32>, %arg24: tensor<4x4xf32>, %arg25: tensor<i32>, %arg26: tensor<?x4xf32>, %arg27: tensor<?x?x4xf32>):
      %54 = "stablehlo.compare"(%arg25, %arg15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%54) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg18: tensor<?x?x4xf32>, %arg19: tensor<4x4xf32>, %arg20: tensor<i32>, %arg21: tensor<?x4xf32>, %arg22: tensor<?x?x4xf32>):
      %50 = "func.call"(%arg14, %arg15, %arg18, %arg20) <{callee = @dynamic_index_in_dim}> : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<i32>) -> tensor<?x4xf32>
      %51:2 = "func.call"(%arg14, %arg15, %arg19, %arg21, %50) <{callee = @closed_call}> : (tensor<i32>, tensor<i32>, tensor<4x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
      %52 = "func.call"(%arg14, %arg15, %arg22, %51#1, %arg20) <{callee = @dynamic_update_index_in_dim}> : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<i32>) -> tensor<?x?x4xf32>
      %53 = "stablehlo.add"(%arg20, %35) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg18, %arg19, %53, %51#0, %52) : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<?x4xf32>, tensor<?x?x4xf32>) -> ()
    }) : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<?x4xf32>, tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<?x4xf32>, tensor<?x?x4xf32>)
    "func.return"(%49#4) : (tensor<?x?x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<i32>) -> tensor<?x4xf32>, sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<i32>, %arg11: tensor<i32>, %arg12: tensor<?x?x4xf32>, %arg13: tensor<i32>):
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %11 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %14 = "stablehlo.reshape"(%arg10) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.concatenate"(%13, %14, %11) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %16 = "stablehlo.concatenate"(%10, %10, %10) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %17 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.reshape"(%12) : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.reshape"(%12) : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.concatenate"(%17, %18, %19) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %21 = "stablehlo.reshape"(%arg11) : (tensor<i32>) -> tensor<1xi32>
    %22 = "stablehlo.reshape"(%arg10) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.concatenate"(%21, %22, %11) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %24 = "stablehlo.subtract"(%23, %15) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %25 = "stablehlo.clamp"(%16, %20, %24) : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %26 = "stablehlo.add"(%25, %15) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %27 = "stablehlo.concatenate"(%13, %13, %13) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %28 = "stablehlo.real_dynamic_slice"(%arg12, %25, %26, %27) : (tensor<?x?x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %29 = "stablehlo.reshape"(%arg10) : (tensor<i32>) -> tensor<1xi32>
    %30 = "stablehlo.concatenate"(%29, %11) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = "stablehlo.dynamic_reshape"(%28, %30) : (tensor<1x?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    "func.return"(%31) : (tensor<?x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<4x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<4x4xf32>, %arg8: tensor<?x4xf32>, %arg9: tensor<?x4xf32>):
    %7 = "stablehlo.dot_general"(%arg8, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %8 = "stablehlo.add"(%7, %arg9) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %9 = "stablehlo.tanh"(%8) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    "func.return"(%9, %9) : (tensor<?x4xf32>, tensor<?x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<i32>) -> tensor<?x?x4xf32>, sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?x4xf32>, %arg3: tensor<?x4xf32>, %arg4: tensor<i32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.concatenate"(%2, %3, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %5 = "stablehlo.dynamic_broadcast_in_dim"(%arg3, %4) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %6 = "stablehlo.dynamic_update_slice"(%arg2, %5, %arg4, %0, %0) : (tensor<?x?x4xf32>, tensor<1x?x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?x?x4xf32>
    "func.return"(%6) : (tensor<?x?x4xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
