"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg20: tensor<?x?xf32>):
    %65 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %66 = "stablehlo.get_dimension_size"(%arg20) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %67 = "stablehlo.get_dimension_size"(%arg20) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %68 = "stablehlo.compare"(%66, %65) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%68, %66) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %69 = "stablehlo.compare"(%67, %65) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%69, %66, %67) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %70 = "func.call"(%66, %67, %arg20) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%70) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg17: tensor<i32>, %arg18: tensor<i32>, %arg19: tensor<?x?xf32>):
    %26 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %30 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.convert"(%arg18) : (tensor<i32>) -> tensor<i32>
    %32 = "stablehlo.add"(%31, %30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %33:2 = "func.call"(%arg17, %arg18, %32, %29) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %34 = "stablehlo.reshape"(%33#0) : (tensor<i32>) -> tensor<1xi32>
    %35 = "stablehlo.dynamic_iota"(%34) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %36 = "stablehlo.convert"(%arg18) : (tensor<i32>) -> tensor<i32>
    %37 = "stablehlo.add"(%36, %30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %38:2 = "func.call"(%arg17, %arg18, %37, %29) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %39 = "stablehlo.reshape"(%38#0) : (tensor<i32>) -> tensor<1xi32>
    %40 = "stablehlo.dynamic_broadcast_in_dim"(%29, %39) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %41 = "stablehlo.multiply"(%40, %35) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %42 = "stablehlo.convert"(%arg18) : (tensor<i32>) -> tensor<i32>
    %43 = "stablehlo.add"(%42, %30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %44:2 = "func.call"(%arg17, %arg18, %43, %29) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %45 = "stablehlo.reshape"(%44#0) : (tensor<i32>) -> tensor<1xi32>
    %46 = "stablehlo.dynamic_broadcast_in_dim"(%28, %45) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %47 = "stablehlo.add"(%46, %41) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %48 = "stablehlo.convert"(%arg18) : (tensor<i32>) -> tensor<i32>
    %49 = "stablehlo.add"(%48, %30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %50:2 = "func.call"(%arg17, %arg18, %49, %29) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %51 = "stablehlo.reshape"(%50#0) : (tensor<i32>) -> tensor<1xi32>
    %52 = "stablehlo.concatenate"(%51, %27) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %53 = "stablehlo.dynamic_broadcast_in_dim"(%47, %52) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %54 = "stablehlo.reshape"(%arg17) : (tensor<i32>) -> tensor<1xi32>
    %55 = "stablehlo.concatenate"(%54, %27) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %56 = "stablehlo.dynamic_gather"(%arg19, %53, %55) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %57 = "stablehlo.convert"(%arg18) : (tensor<i32>) -> tensor<i32>
    %58 = "stablehlo.add"(%57, %30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %59:2 = "func.call"(%arg17, %arg18, %58, %29) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %60 = "stablehlo.reshape"(%arg17) : (tensor<i32>) -> tensor<1xi32>
    %61 = "stablehlo.reshape"(%59#0) : (tensor<i32>) -> tensor<1xi32>
    %62 = "stablehlo.concatenate"(%60, %61) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = "stablehlo.dynamic_broadcast_in_dim"(%26, %62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %64 = "stablehlo.multiply"(%56, %63) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%64) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), sym_name = "divmod", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<i32>, %arg14: tensor<i32>, %arg15: tensor<i32>, %arg16: tensor<i32>):
    %24 = "func.call"(%arg13, %arg14, %arg15, %arg16) <{callee = @floor_divide}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %25 = "func.call"(%arg13, %arg14, %arg15, %arg16) <{callee = @remainder}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%24, %25) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<i32>, %arg12: tensor<i32>):
    %13 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.divide"(%arg11, %arg12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %16 = "stablehlo.sign"(%arg11) : (tensor<i32>) -> tensor<i32>
    %17 = "stablehlo.sign"(%arg12) : (tensor<i32>) -> tensor<i32>
    %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %19 = "stablehlo.remainder"(%arg11, %arg12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %20 = "stablehlo.compare"(%19, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %21 = "stablehlo.and"(%18, %20) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %22 = "stablehlo.subtract"(%15, %13) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %23 = "func.call"(%arg9, %arg10, %21, %22, %15) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%23) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<i1>, %arg7: tensor<i32>, %arg8: tensor<i32>):
    %12 = "stablehlo.select"(%arg6, %arg7, %arg8) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%12) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg3, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = "func.call"(%arg0, %arg1, %2, %0, %arg3) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = "stablehlo.remainder"(%arg2, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.compare"(%4, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = "stablehlo.compare"(%4, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = "stablehlo.compare"(%3, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %8 = "stablehlo.compare"(%6, %7) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %9 = "stablehlo.and"(%8, %5) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %10 = "stablehlo.add"(%4, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %11 = "stablehlo.select"(%9, %10, %4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%11) : (tensor<i32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
