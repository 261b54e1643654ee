"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<24x24xi1>) -> tensor<24xi1>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<24x24xi1>):
    %0 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<24xi1>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %5 = "stablehlo.scatter"(%1, %3, %4) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg11: tensor<i1>, %arg12: tensor<i1>):
      "stablehlo.return"(%arg12) : (tensor<i1>) -> ()
    }) : (tensor<24xi1>, tensor<1xi32>, tensor<i1>) -> tensor<24xi1>
    %6 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %7:3 = "stablehlo.while"(%arg0, %5, %6) ({
    ^bb0(%arg8: tensor<24x24xi1>, %arg9: tensor<24xi1>, %arg10: tensor<i1>):
      "stablehlo.return"(%arg10) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg1: tensor<24x24xi1>, %arg2: tensor<24xi1>, %arg3: tensor<i1>):
      %8 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<24xi1>) -> tensor<24x1xi1>
      %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<24x1xi1>) -> tensor<24x24xi1>
      %10 = "stablehlo.and"(%arg1, %9) : (tensor<24x24xi1>, tensor<24x24xi1>) -> tensor<24x24xi1>
      %11 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %12 = "stablehlo.reduce"(%10, %11) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg6: tensor<i1>, %arg7: tensor<i1>):
        %18 = "stablehlo.or"(%arg6, %arg7) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%18) : (tensor<i1>) -> ()
      }) : (tensor<24x24xi1>, tensor<i1>) -> tensor<24xi1>
      %13 = "stablehlo.or"(%arg2, %12) : (tensor<24xi1>, tensor<24xi1>) -> tensor<24xi1>
      %14 = "stablehlo.compare"(%13, %arg2) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<24xi1>, tensor<24xi1>) -> tensor<24xi1>
      %15 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %16 = "stablehlo.reduce"(%14, %15) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg4: tensor<i1>, %arg5: tensor<i1>):
        %17 = "stablehlo.or"(%arg4, %arg5) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%17) : (tensor<i1>) -> ()
      }) : (tensor<24xi1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%arg1, %13, %16) : (tensor<24x24xi1>, tensor<24xi1>, tensor<i1>) -> ()
    }) : (tensor<24x24xi1>, tensor<24xi1>, tensor<i1>) -> (tensor<24x24xi1>, tensor<24xi1>, tensor<i1>)
    "func.return"(%7#1) : (tensor<24xi1>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
