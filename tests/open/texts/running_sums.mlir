"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg24: tensor<?x?xf32>):
    %48 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %49 = "stablehlo.get_dimension_size"(%arg24) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %50 = "stablehlo.get_dimension_size"(%arg24) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %51 = "stablehlo.compare"(%49, %48) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%51, %49) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (s, b). Obtained dimension variables: 's' = {0} from specification 's' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %52 = "stablehlo.compare"(%50, %48) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%52, %49, %50) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (s, b). Obtained dimension variables: 's' = {0} from specification 's' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %53 = "func.call"(%50, %49, %arg24) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%53) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<i32>, %arg14: tensor<i32>, %arg15: tensor<?x?xf32>):
    %27 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %29 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.concatenate"(%28, %32) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = "stablehlo.dynamic_gather"(%arg15, %31, %33) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?xf32>
    %35 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %36 = "stablehlo.dynamic_broadcast_in_dim"(%27, %35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %37 = "stablehlo.multiply"(%34, %36) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %38 = "stablehlo.reshape"(%arg14) : (tensor<i32>) -> tensor<1xi32>
    %39 = "stablehlo.reshape"(%arg13) : (tensor<i32>) -> tensor<1xi32>
    %40 = "stablehlo.concatenate"(%38, %39) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %41 = "stablehlo.dynamic_broadcast_in_dim"(%27, %40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %42:4 = "stablehlo.while"(%arg15, %30, %37, %41) ({
    ^bb0(%arg20: tensor<?x?xf32>, %arg21: tensor<i32>, %arg22: tensor<?xf32>, %arg23: tensor<?x?xf32>):
      %47 = "stablehlo.compare"(%arg21, %arg14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%47) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg16: tensor<?x?xf32>, %arg17: tensor<i32>, %arg18: tensor<?xf32>, %arg19: tensor<?x?xf32>):
      %43 = "func.call"(%arg13, %arg14, %arg16, %arg17) <{callee = @dynamic_index_in_dim}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<i32>) -> tensor<?xf32>
      %44:2 = "func.call"(%arg13, %arg14, %arg18, %43) <{callee = @closed_call}> : (tensor<i32>, tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
      %45 = "func.call"(%arg13, %arg14, %arg19, %44#1, %arg17) <{callee = @dynamic_update_index_in_dim}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?x?xf32>
      %46 = "stablehlo.add"(%arg17, %29) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg16, %46, %44#0, %45) : (tensor<?x?xf32>, tensor<i32>, tensor<?xf32>, tensor<?x?xf32>) -> ()
    }) : (tensor<?x?xf32>, tensor<i32>, tensor<?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<i32>, tensor<?xf32>, tensor<?x?xf32>)
    "func.return"(%42#3) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<i32>) -> tensor<?xf32>, sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<?x?xf32>, %arg12: tensor<i32>):
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %11 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.concatenate"(%10, %11) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = "stablehlo.concatenate"(%8, %8) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = "stablehlo.reshape"(%arg12) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.reshape"(%9) : (tensor<i32>) -> tensor<1xi32>
    %16 = "stablehlo.concatenate"(%14, %15) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = "stablehlo.reshape"(%arg10) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.concatenate"(%17, %18) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = "stablehlo.subtract"(%19, %12) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %21 = "stablehlo.clamp"(%13, %16, %20) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %22 = "stablehlo.add"(%21, %12) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %23 = "stablehlo.concatenate"(%10, %10) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = "stablehlo.real_dynamic_slice"(%arg11, %21, %22, %23) : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x?xf32>
    %25 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %26 = "stablehlo.dynamic_reshape"(%24, %25) : (tensor<1x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    "func.return"(%26) : (tensor<?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<?xf32>, %arg8: tensor<?xf32>):
    %6 = "stablehlo.add"(%arg7, %arg8) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %7 = "stablehlo.multiply"(%arg7, %arg8) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    "func.return"(%6, %7) : (tensor<?xf32>, tensor<?xf32>) -> ()
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
