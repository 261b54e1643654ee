"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<3xf32>, tensor<5000x3xf32>) -> (tensor<3xf32>, tensor<5000xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<3xf32>, %arg8: tensor<5000x3xf32>):
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5000xf32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14:4 = "stablehlo.while"(%arg8, %13, %arg7, %12) ({
    ^bb0(%arg13: tensor<5000x3xf32>, %arg14: tensor<i32>, %arg15: tensor<3xf32>, %arg16: tensor<5000xf32>):
      %20 = "stablehlo.constant"() <{value = dense<5000> : tensor<i32>}> : () -> tensor<i32>
      %21 = "stablehlo.compare"(%arg14, %20) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%21) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg9: tensor<5000x3xf32>, %arg10: tensor<i32>, %arg11: tensor<3xf32>, %arg12: tensor<5000xf32>):
      %15 = "func.call"(%arg9, %arg10) <{callee = @dynamic_index_in_dim}> : (tensor<5000x3xf32>, tensor<i32>) -> tensor<3xf32>
      %16:2 = "func.call"(%arg11, %15) <{callee = @closed_call}> : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>)
      %17 = "func.call"(%arg12, %16#1, %arg10) <{callee = @dynamic_update_index_in_dim}> : (tensor<5000xf32>, tensor<f32>, tensor<i32>) -> tensor<5000xf32>
      %18 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %19 = "stablehlo.add"(%arg10, %18) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg9, %19, %16#0, %17) : (tensor<5000x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5000xf32>) -> ()
    }) : (tensor<5000x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5000xf32>) -> (tensor<5000x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5000xf32>)
    "func.return"(%14#2, %14#3) : (tensor<3xf32>, tensor<5000xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5000x3xf32>, tensor<i32>) -> tensor<3xf32>, sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<5000x3xf32>, %arg6: tensor<i32>):
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.dynamic_slice"(%arg5, %arg6, %8) <{slice_sizes = array<i64: 1, 3>}> : (tensor<5000x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %10 = "stablehlo.reshape"(%9) : (tensor<1x3xf32>) -> tensor<3xf32>
    "func.return"(%10) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3xf32>, %arg4: tensor<3xf32>):
    %2 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %4 = "stablehlo.multiply"(%arg3, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %5 = "stablehlo.add"(%4, %arg4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %6 = "stablehlo.slice"(%arg3) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<3xf32>) -> tensor<1xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1xf32>) -> tensor<f32>
    "func.return"(%5, %7) : (tensor<3xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5000xf32>, tensor<f32>, tensor<i32>) -> tensor<5000xf32>, sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<5000xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %1 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2) : (tensor<5000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5000xf32>
    "func.return"(%1) : (tensor<5000xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
