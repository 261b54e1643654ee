"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<?x?x?x3xf32>) -> tensor<?x?x24xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg13: tensor<?x?x?x3xf32>):
    %42 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %43 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %44 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %45 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %46 = "stablehlo.get_dimension_size"(%arg13) <{dimension = 0 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %47 = "stablehlo.get_dimension_size"(%arg13) <{dimension = 1 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %48 = "stablehlo.get_dimension_size"(%arg13) <{dimension = 2 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %49 = "stablehlo.compare"(%46, %45) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%49, %46) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4*h, 2*w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %50:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %51 = "stablehlo.compare"(%50#1, %43) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %52:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    "stablehlo.custom_call"(%51, %52#1, %46) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Division had remainder {0} when computing the value of 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4*h, 2*w, 3). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %53:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %54 = "stablehlo.compare"(%53#0, %45) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %55:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    "stablehlo.custom_call"(%54, %46, %55#0, %47) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4*h, 2*w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification '4*h' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %56:2 = "func.call"(%48, %42) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %57 = "stablehlo.compare"(%56#1, %43) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %58:2 = "func.call"(%48, %42) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %59:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    "stablehlo.custom_call"(%57, %58#1, %46, %59#0, %47) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Division had remainder {0} when computing the value of 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4*h, 2*w, 3). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'h' = {2} from specification '4*h' for dimension args[0].shape[1] (= {3}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %60:2 = "func.call"(%48, %42) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %61 = "stablehlo.compare"(%60#0, %45) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %62:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %63:2 = "func.call"(%48, %42) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    "stablehlo.custom_call"(%61, %46, %62#0, %47, %63#0, %48) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4*h, 2*w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification '4*h' for dimension args[0].shape[1] (= {2}), 'w' = {3} from specification '2*w' for dimension args[0].shape[2] (= {4}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %64:2 = "func.call"(%47, %44) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %65:2 = "func.call"(%48, %42) <{callee = @divmod}> : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %66 = "func.call"(%46, %64#0, %65#0, %arg13) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>) -> tensor<?x?x24xf32>
    "func.return"(%66) : (tensor<?x?x24xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>) -> tensor<?x?x24xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<i32>, %arg12: tensor<?x?x?x3xf32>):
    %27 = "stablehlo.constant"() <{value = dense<24> : tensor<1xi32>}> : () -> tensor<1xi32>
    %28 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %29 = "stablehlo.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
    %30 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %31 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %32 = "stablehlo.reshape"(%arg10) : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.reshape"(%arg11) : (tensor<i32>) -> tensor<1xi32>
    %34 = "stablehlo.concatenate"(%31, %32, %30, %33, %29, %28) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xi32>
    %35 = "stablehlo.dynamic_reshape"(%arg12, %34) : (tensor<?x?x?x3xf32>, tensor<6xi32>) -> tensor<?x?x4x?x2x3xf32>
    %36 = "stablehlo.transpose"(%35) <{permutation = array<i64: 0, 1, 3, 2, 4, 5>}> : (tensor<?x?x4x?x2x3xf32>) -> tensor<?x?x?x4x2x3xf32>
    %37 = "stablehlo.multiply"(%arg11, %arg10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %38 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %39 = "stablehlo.reshape"(%37) : (tensor<i32>) -> tensor<1xi32>
    %40 = "stablehlo.concatenate"(%38, %39, %27) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %41 = "stablehlo.dynamic_reshape"(%36, %40) : (tensor<?x?x?x4x2x3xf32>, tensor<3xi32>) -> tensor<?x?x24xf32>
    "func.return"(%41) : (tensor<?x?x24xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = ""}, {jax.global_constant = ""}], function_type = (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), sym_name = "divmod", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<i32>, %arg8: tensor<i32>):
    %24 = "stablehlo.convert"(%arg7) : (tensor<i32>) -> tensor<i32>
    %25 = "func.call"(%24, %arg8) <{callee = @floor_divide}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %26 = "func.call"(%24, %arg8) <{callee = @remainder}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%25, %26) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = ""}, {jax.global_constant = ""}], function_type = (tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>):
    %13 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.divide"(%arg5, %arg6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %16 = "stablehlo.sign"(%arg5) : (tensor<i32>) -> tensor<i32>
    %17 = "stablehlo.sign"(%arg6) : (tensor<i32>) -> tensor<i32>
    %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %19 = "stablehlo.remainder"(%arg5, %arg6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %20 = "stablehlo.compare"(%19, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %21 = "stablehlo.and"(%18, %20) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %22 = "stablehlo.subtract"(%15, %13) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %23 = "func.call"(%21, %22, %15) <{callee = @_where}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%23) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = ""}, {jax.global_constant = ""}, {jax.global_constant = ""}], function_type = (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: tensor<i32>):
    %12 = "stablehlo.select"(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%12) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = ""}, {jax.global_constant = ""}], function_type = (tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg1, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = "func.call"(%2, %0, %arg1) <{callee = @_where}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = "stablehlo.remainder"(%arg0, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
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
