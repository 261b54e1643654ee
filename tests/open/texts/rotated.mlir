"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<?x?x8xf32>):
    %75 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %76 = "stablehlo.get_dimension_size"(%arg3) <{dimension = 0 : i64}> : (tensor<?x?x8xf32>) -> tensor<i32>
    %77 = "stablehlo.get_dimension_size"(%arg3) <{dimension = 1 : i64}> : (tensor<?x?x8xf32>) -> tensor<i32>
    %78 = "stablehlo.compare"(%76, %75) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%78, %76) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %79 = "stablehlo.compare"(%77, %75) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%79, %76, %77) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 's'. Using the following polymorphic shapes specifications: args[0].shape = (b, s, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 's' = {1} from specification 's' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %80 = "func.call"(%76, %77, %arg3) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    "func.return"(%80) : (tensor<?x?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "s"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %2 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 1.000000e-01, 0.00999999977, 1.000000e-03]> : tensor<4xf32>}> : () -> tensor<4xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %8 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.dynamic_iota"(%8) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xf32>
    %10 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.dynamic_broadcast_in_dim"(%5, %10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %12 = "stablehlo.multiply"(%11, %9) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %13 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%4, %13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %15 = "stablehlo.add"(%14, %12) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %16 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.concatenate"(%16, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = "stablehlo.dynamic_broadcast_in_dim"(%15, %17) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %19 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.concatenate"(%19, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = "stablehlo.dynamic_broadcast_in_dim"(%18, %20) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %22 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.concatenate"(%22, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = "stablehlo.dynamic_broadcast_in_dim"(%7, %23) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %25 = "stablehlo.multiply"(%21, %24) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %26 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %27 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.concatenate"(%27, %28, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %30 = "stablehlo.dynamic_gather"(%arg2, %26, %29) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], start_index_map = [2]>, indices_are_sorted = true}> : (tensor<?x?x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %31 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %34 = "stablehlo.concatenate"(%32, %33, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %35 = "stablehlo.dynamic_gather"(%arg2, %31, %34) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], start_index_map = [2]>, indices_are_sorted = true}> : (tensor<?x?x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %36 = "stablehlo.cosine"(%25) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %37 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %38 = "stablehlo.concatenate"(%3, %37, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %39 = "stablehlo.dynamic_broadcast_in_dim"(%36, %38) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %40 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %41 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %42 = "stablehlo.concatenate"(%40, %41, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %43 = "stablehlo.dynamic_broadcast_in_dim"(%39, %42) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %44 = "stablehlo.multiply"(%30, %43) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %45 = "stablehlo.sine"(%25) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %46 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %47 = "stablehlo.concatenate"(%3, %46, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %48 = "stablehlo.dynamic_broadcast_in_dim"(%45, %47) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %49 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %50 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %51 = "stablehlo.concatenate"(%49, %50, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %52 = "stablehlo.dynamic_broadcast_in_dim"(%48, %51) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %53 = "stablehlo.multiply"(%35, %52) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %54 = "stablehlo.subtract"(%44, %53) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %55 = "stablehlo.sine"(%25) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %56 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %57 = "stablehlo.concatenate"(%3, %56, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %58 = "stablehlo.dynamic_broadcast_in_dim"(%55, %57) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %59 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %60 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %61 = "stablehlo.concatenate"(%59, %60, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %62 = "stablehlo.dynamic_broadcast_in_dim"(%58, %61) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %63 = "stablehlo.multiply"(%30, %62) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %64 = "stablehlo.cosine"(%25) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %65 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %66 = "stablehlo.concatenate"(%3, %65, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %67 = "stablehlo.dynamic_broadcast_in_dim"(%64, %66) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %68 = "stablehlo.reshape"(%arg0) : (tensor<i32>) -> tensor<1xi32>
    %69 = "stablehlo.reshape"(%arg1) : (tensor<i32>) -> tensor<1xi32>
    %70 = "stablehlo.concatenate"(%68, %69, %1) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %71 = "stablehlo.dynamic_broadcast_in_dim"(%67, %70) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %72 = "stablehlo.multiply"(%35, %71) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %73 = "stablehlo.add"(%63, %72) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %74 = "stablehlo.concatenate"(%54, %73) <{dimension = 2 : i64}> : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x8xf32>
    "func.return"(%74) : (tensor<?x?x8xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
