"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<?x?xf32>):
    %21 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.get_dimension_size"(%arg3) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %23 = "stablehlo.get_dimension_size"(%arg3) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %24 = "stablehlo.compare"(%22, %21) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%24, %22) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %25 = "stablehlo.compare"(%23, %21) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%25, %22, %23) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %26 = "func.call"(%22, %23, %arg3) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%26) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.convert"(%arg0) : (tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.add"(%2, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = "stablehlo.convert"(%3) : (tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %6 = "stablehlo.dynamic_iota"(%5) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %7 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %8 = "stablehlo.dynamic_broadcast_in_dim"(%1, %7) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %9 = "stablehlo.multiply"(%8, %6) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %10 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.dynamic_broadcast_in_dim"(%4, %10) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %12 = "stablehlo.add"(%11, %9) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %13 = "stablehlo.reverse"(%12) <{dimensions = array<i64: 0>}> : (tensor<?xi32>) -> tensor<?xi32>
    %14 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.concatenate"(%14, %0) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = "stablehlo.dynamic_broadcast_in_dim"(%13, %15) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %17 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%0, %17) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = "stablehlo.dynamic_gather"(%arg2, %16, %18) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %20 = "stablehlo.reverse"(%19) <{dimensions = array<i64: 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%20) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
