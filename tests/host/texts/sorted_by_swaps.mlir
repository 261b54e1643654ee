"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<11xf32>) -> tensor<11xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<11xf32>):
    %0 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %1:2 = "stablehlo.while"(%arg0, %0) ({
    ^bb0(%arg13: tensor<11xf32>, %arg14: tensor<i1>):
      "stablehlo.return"(%arg14) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg1: tensor<11xf32>, %arg2: tensor<i1>):
      %2 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 10>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<10xf32>
      %3 = "stablehlo.reshape"(%2) : (tensor<10xf32>) -> tensor<5x2xf32>
      %4 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
      %5 = "stablehlo.reduce"(%3, %4) <{dimensions = array<i64: 1>}> ({
      ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
        %35 = "stablehlo.minimum"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%35) : (tensor<f32>) -> ()
      }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5xf32>
      %6 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %7 = "stablehlo.reduce"(%3, %6) <{dimensions = array<i64: 1>}> ({
      ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
        %34 = "stablehlo.maximum"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%34) : (tensor<f32>) -> ()
      }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5xf32>
      %8 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
      %9 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
      %10 = "stablehlo.concatenate"(%8, %9) <{dimension = 1 : i64}> : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
      %11 = "stablehlo.reshape"(%10) : (tensor<5x2xf32>) -> tensor<10xf32>
      %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %13 = "stablehlo.dynamic_update_slice"(%arg1, %11, %12) : (tensor<11xf32>, tensor<10xf32>, tensor<i32>) -> tensor<11xf32>
      %14 = "stablehlo.slice"(%13) <{limit_indices = array<i64: 11>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<10xf32>
      %15 = "stablehlo.reshape"(%14) : (tensor<10xf32>) -> tensor<5x2xf32>
      %16 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
      %17 = "stablehlo.reduce"(%15, %16) <{dimensions = array<i64: 1>}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %33 = "stablehlo.minimum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%33) : (tensor<f32>) -> ()
      }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5xf32>
      %18 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %19 = "stablehlo.reduce"(%15, %18) <{dimensions = array<i64: 1>}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %32 = "stablehlo.maximum"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%32) : (tensor<f32>) -> ()
      }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5xf32>
      %20 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
      %21 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
      %22 = "stablehlo.concatenate"(%20, %21) <{dimension = 1 : i64}> : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
      %23 = "stablehlo.reshape"(%22) : (tensor<5x2xf32>) -> tensor<10xf32>
      %24 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %25 = "stablehlo.dynamic_update_slice"(%13, %23, %24) : (tensor<11xf32>, tensor<10xf32>, tensor<i32>) -> tensor<11xf32>
      %26 = "stablehlo.slice"(%25) <{limit_indices = array<i64: 11>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<10xf32>
      %27 = "stablehlo.slice"(%25) <{limit_indices = array<i64: 10>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<10xf32>
      %28 = "stablehlo.compare"(%26, %27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
      %29 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %30 = "stablehlo.reduce"(%28, %29) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg3: tensor<i1>, %arg4: tensor<i1>):
        %31 = "stablehlo.or"(%arg3, %arg4) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%31) : (tensor<i1>) -> ()
      }) : (tensor<10xi1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%25, %30) : (tensor<11xf32>, tensor<i1>) -> ()
    }) : (tensor<11xf32>, tensor<i1>) -> (tensor<11xf32>, tensor<i1>)
    "func.return"(%1#0) : (tensor<11xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
