"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>) -> tensor<ui32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<ui32>, %arg1: tensor<ui32>):
    %0:2 = "stablehlo.while"(%arg1, %arg0) ({
    ^bb0(%arg4: tensor<ui32>, %arg5: tensor<ui32>):
      %5 = "stablehlo.constant"() <{value = dense<16> : tensor<ui32>}> : () -> tensor<ui32>
      %6 = "stablehlo.shift_right_logical"(%arg5, %5) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %7 = "stablehlo.compare"(%6, %arg4) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      "stablehlo.return"(%7) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg2: tensor<ui32>, %arg3: tensor<ui32>):
      %1 = "stablehlo.constant"() <{value = dense<1664525> : tensor<ui32>}> : () -> tensor<ui32>
      %2 = "stablehlo.multiply"(%arg3, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      %3 = "stablehlo.constant"() <{value = dense<1013904223> : tensor<ui32>}> : () -> tensor<ui32>
      %4 = "stablehlo.add"(%2, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      "stablehlo.return"(%arg2, %4) : (tensor<ui32>, tensor<ui32>) -> ()
    }) : (tensor<ui32>, tensor<ui32>) -> (tensor<ui32>, tensor<ui32>)
    "func.return"(%0#1) : (tensor<ui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
