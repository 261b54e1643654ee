"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<?x?xf32>):
    %41 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %42 = "stablehlo.get_dimension_size"(%arg8) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %43 = "stablehlo.get_dimension_size"(%arg8) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %44 = "stablehlo.compare"(%42, %41) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%44, %42) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %45 = "stablehlo.compare"(%43, %41) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%45, %42, %43) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %46 = "func.call"(%42, %43, %arg8) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%46) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<?x?xf32>):
    %6 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.dynamic_iota"(%9) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %11 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.dynamic_broadcast_in_dim"(%8, %11) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %13 = "stablehlo.multiply"(%12, %10) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %14 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.dynamic_broadcast_in_dim"(%7, %14) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %16 = "stablehlo.add"(%15, %13) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %17 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%6, %17) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = "stablehlo.dynamic_broadcast_in_dim"(%16, %18) <{broadcast_dimensions = array<i64: 1>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<1x?xi32>
    %20 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.dynamic_iota"(%20) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %22 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.dynamic_broadcast_in_dim"(%8, %22) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %24 = "stablehlo.multiply"(%23, %21) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %25 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %26 = "stablehlo.dynamic_broadcast_in_dim"(%7, %25) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %27 = "stablehlo.add"(%26, %24) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %28 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.concatenate"(%28, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = "stablehlo.dynamic_broadcast_in_dim"(%27, %29) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %31 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.concatenate"(%31, %32) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = "stablehlo.dynamic_broadcast_in_dim"(%19, %33) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x?xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    %35 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %36 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %37 = "stablehlo.concatenate"(%35, %36) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %38 = "stablehlo.dynamic_broadcast_in_dim"(%30, %37) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    %39 = "stablehlo.compare"(%34, %38) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
    %40 = "func.call"(%arg5, %arg6, %39, %arg7, %7) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>
    "func.return"(%40) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xi1>, %arg3: tensor<?x?xf32>, %arg4: tensor<i32>):
    %0 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %2 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %3 = "stablehlo.concatenate"(%1, %2) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = "stablehlo.dynamic_broadcast_in_dim"(%0, %3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %5 = "stablehlo.select"(%arg2, %arg3, %4) : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%5) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
