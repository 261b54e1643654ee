"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg24: tensor<?x?xf32>):
    %49 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %50 = "stablehlo.get_dimension_size"(%arg24) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %51 = "stablehlo.get_dimension_size"(%arg24) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %52 = "stablehlo.compare"(%50, %49) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%52, %50) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (s, b). Obtained dimension variables: 's' = {0} from specification 's' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %53 = "stablehlo.compare"(%51, %49) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%53, %50, %51) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (s, b). Obtained dimension variables: 's' = {0} from specification 's' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %54 = "func.call"(%51, %50, %arg24) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%54) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<i32>, %arg14: tensor<i32>, %arg15: tensor<?x?xf32>):
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %28 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %31 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.concatenate"(%27, %31) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = "stablehlo.dynamic_gather"(%arg15, %30, %32) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?xf32>
    %34 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %35 = "stablehlo.dynamic_broadcast_in_dim"(%26, %34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %36 = "stablehlo.multiply"(%33, %35) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %37 = "stablehlo.reshape"(%arg14) : (tensor<i32>) -> tensor<1xi32>
    %38 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %39 = "stablehlo.concatenate"(%37, %38) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = "stablehlo.dynamic_broadcast_in_dim"(%26, %39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %41:4 = "stablehlo.while"(%arg15, %29, %36, %40) ({
    ^bb0(%arg20: tensor<?x?xf32>, %arg21: tensor<i32>, %arg22: tensor<?xf32>, %arg23: tensor<?x?xf32>):
      %48 = "stablehlo.compare"(%arg21, %arg14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%48) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg16: tensor<?x?xf32>, %arg17: tensor<i32>, %arg18: tensor<?xf32>, %arg19: tensor<?x?xf32>):
      %42 = "stablehlo.subtract"(%arg14, %arg17) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %43 = "stablehlo.subtract"(%42, %28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %44 = "func.call"(%arg13, %arg14, %arg16, %43) <{callee = @dynamic_index_in_dim}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<i32>) -> tensor<?xf32>
      %45:2 = "func.call"(%arg13, %arg14, %arg18, %44) <{callee = @closed_call}> : (tensor<i32>, tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
      %46 = "func.call"(%arg13, %arg14, %arg19, %45#1, %43) <{callee = @dynamic_update_index_in_dim}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?x?xf32>
      %47 = "stablehlo.add"(%arg17, %28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg16, %47, %45#0, %46) : (tensor<?x?xf32>, tensor<i32>, tensor<?xf32>, tensor<?x?xf32>) -> ()
    }) : (tensor<?x?xf32>, tensor<i32>, tensor<?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<i32>, tensor<?xf32>, tensor<?x?xf32>)
    "func.return"(%41#3) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<i32>) -> tensor<?xf32>, sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<?x?xf32>, %arg12: tensor<i32>):
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %10 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.concatenate"(%9, %10) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = "stablehlo.concatenate"(%7, %7) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = "stablehlo.reshape"(%arg12) : (tensor<i32>) -> tensor<1xi32>
    %14 = "stablehlo.reshape"(%8) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.concatenate"(%13, %14) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = "stablehlo.reshape"(%arg10) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%16, %17) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = "stablehlo.subtract"(%18, %11) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %20 = "stablehlo.clamp"(%12, %15, %19) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %21 = "stablehlo.add"(%20, %11) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %22 = "stablehlo.concatenate"(%9, %9) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %23 = "stablehlo.real_dynamic_slice"(%arg11, %20, %21, %22) : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x?xf32>
    %24 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %25 = "stablehlo.dynamic_reshape"(%23, %24) : (tensor<1x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    "func.return"(%25) : (tensor<?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<?xf32>, %arg8: tensor<?xf32>):
    %6 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    "func.return"(%6, %arg7) : (tensor<?xf32>, tensor<?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?x?xf32>, sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xf32>, %arg3: tensor<?xf32>, %arg4: tensor<i32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %2 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %3 = "stablehlo.concatenate"(%1, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = "stablehlo.dynamic_broadcast_in_dim"(%arg3, %3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<1x?xf32>
    %5 = "stablehlo.dynamic_update_slice"(%arg2, %4, %arg4, %0) : (tensor<?x?xf32>, tensor<1x?xf32>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32>
    "func.return"(%5) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
