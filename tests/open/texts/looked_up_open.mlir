"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg16: tensor<?x8xf32>, %arg17: tensor<?x?xi32>):
    %24 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %25 = "stablehlo.get_dimension_size"(%arg16) <{dimension = 0 : i64}> : (tensor<?x8xf32>) -> tensor<i32>
    %26 = "stablehlo.get_dimension_size"(%arg17) <{dimension = 0 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %27 = "stablehlo.get_dimension_size"(%arg17) <{dimension = 1 : i64}> : (tensor<?x?xi32>) -> tensor<i32>
    %28 = "stablehlo.compare"(%25, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%28, %25) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'v'. Using the following polymorphic shapes specifications: args[0].shape = (v, 8),args[1].shape = (b, s). Obtained dimension variables: 'v' = {0} from specification 'v' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %29 = "stablehlo.compare"(%26, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%29, %25, %26) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (v, 8),args[1].shape = (b, s). Obtained dimension variables: 'v' = {0} from specification 'v' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[1].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %30 = "stablehlo.compare"(%27, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%30, %25, %26, %27) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (v, 8),args[1].shape = (b, s). Obtained dimension variables: 'v' = {0} from specification 'v' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[1].shape[0] (= {1}), 's' = {2} from specification 's' for dimension args[1].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %31 = "func.call"(%26, %27, %25, %arg16, %arg17) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
    "func.return"(%31) : (tensor<?x?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {jax.global_constant = "v"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<i32>, %arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<?x8xf32>, %arg15: tensor<?x?xi32>):
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %19 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.convert"(%arg13) : (tensor<i32>) -> tensor<i32>
    %21 = "stablehlo.add"(%20, %19) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %22 = "func.call"(%arg11, %arg12, %arg13, %arg15, %18, %21) <{callee = @clip}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xi32>, tensor<i32>, tensor<i32>) -> tensor<?x?xi32>
    %23 = "func.call"(%arg11, %arg12, %arg13, %arg14, %22) <{callee = @_take}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
    "func.return"(%23) : (tensor<?x?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {jax.global_constant = "v"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xi32>, tensor<i32>, tensor<i32>) -> tensor<?x?xi32>, sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<i32>, %arg8: tensor<?x?xi32>, %arg9: tensor<i32>, %arg10: tensor<i32>):
    %6 = "stablehlo.convert"(%arg9) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.concatenate"(%7, %8) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = "stablehlo.dynamic_broadcast_in_dim"(%6, %9) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %11 = "stablehlo.maximum"(%10, %arg8) : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
    %12 = "stablehlo.convert"(%arg10) : (tensor<i32>) -> tensor<i32>
    %13 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %14 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.concatenate"(%13, %14) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = "stablehlo.dynamic_broadcast_in_dim"(%12, %15) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %17 = "stablehlo.minimum"(%16, %11) : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
    "func.return"(%17) : (tensor<?x?xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {jax.global_constant = "v"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>, sym_name = "_take", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<?x8xf32>, %arg4: tensor<?x?xi32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %2 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %3 = "stablehlo.concatenate"(%1, %2, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %4 = "stablehlo.dynamic_broadcast_in_dim"(%arg4, %3) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xi32>, tensor<3xi32>) -> tensor<?x?x1xi32>
    %5 = "stablehlo.gather"(%arg3, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 8>}> : (tensor<?x8xf32>, tensor<?x?x1xi32>) -> tensor<?x?x8xf32>
    "func.return"(%5) : (tensor<?x?x8xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
