"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<i32>, tensor<i32>, tensor<50x64xf32>, tensor<64x64xf32>, tensor<64x192xf32>, tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x192xf32>, tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> (tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x50xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<1x4x64x16xf32>, %arg4: tensor<1x4x64x16xf32>, %arg5: tensor<1x4x64x16xf32>, %arg6: tensor<1x4x64x16xf32>, %arg7: tensor<i32>, %arg8: tensor<i32>, %arg9: tensor<50x64xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<64x192xf32>, %arg12: tensor<64x64xf32>, %arg13: tensor<64x256xf32>, %arg14: tensor<256x64xf32>, %arg15: tensor<64x192xf32>, %arg16: tensor<64x64xf32>, %arg17: tensor<64x256xf32>, %arg18: tensor<256x64xf32>):
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.compare"(%arg7, %4) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = "stablehlo.constant"() <{value = dense<50> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.add"(%arg7, %6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %8 = "stablehlo.select"(%5, %7, %arg7) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.compare"(%9, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.add"(%12, %13) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.select"(%11, %14, %15) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %17 = "stablehlo.dynamic_slice"(%arg9, %8, %16) <{slice_sizes = array<i64: 1, 64>}> : (tensor<50x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %18 = "stablehlo.reshape"(%17) : (tensor<1x64xf32>) -> tensor<64xf32>
    %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.compare"(%arg8, %19) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %21 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.add"(%arg8, %21) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %23 = "stablehlo.select"(%20, %22, %arg8) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %24 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %25 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %26 = "stablehlo.compare"(%24, %25) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %27 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %28 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.add"(%27, %28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.select"(%26, %29, %30) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %32 = "stablehlo.dynamic_slice"(%arg10, %23, %31) <{slice_sizes = array<i64: 1, 64>}> : (tensor<64x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %33 = "stablehlo.reshape"(%32) : (tensor<1x64xf32>) -> tensor<64xf32>
    %34 = "stablehlo.add"(%18, %33) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.reduce"(%35, %36) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg45: tensor<f32>, %arg46: tensor<f32>):
      %278 = "stablehlo.add"(%arg45, %arg46) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%278) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %39 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %41 = "stablehlo.divide"(%38, %40) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %43 = "stablehlo.subtract"(%35, %42) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %44 = "stablehlo.multiply"(%43, %43) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.reduce"(%44, %45) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg43: tensor<f32>, %arg44: tensor<f32>):
      %277 = "stablehlo.add"(%arg43, %arg44) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%277) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %48 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %50 = "stablehlo.divide"(%47, %49) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %51 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %53 = "stablehlo.add"(%50, %52) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %54 = "stablehlo.sqrt"(%53) : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %56 = "stablehlo.divide"(%43, %55) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %57 = "stablehlo.dot_general"(%56, %arg11) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x192xf32>) -> tensor<1x192xf32>
    %58 = "stablehlo.reshape"(%57) : (tensor<1x192xf32>) -> tensor<3x1x4x1x16xf32>
    %59 = "stablehlo.slice"(%58) <{limit_indices = array<i64: 2, 1, 4, 1, 16>, start_indices = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x4x1x16xf32>) -> tensor<1x1x4x1x16xf32>
    %60 = "stablehlo.reshape"(%59) : (tensor<1x1x4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %61 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %62 = "stablehlo.compare"(%arg8, %61) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %63 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %64 = "stablehlo.add"(%arg8, %63) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %65 = "stablehlo.select"(%62, %64, %arg8) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %66 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %67 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %68 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %69 = "stablehlo.dynamic_update_slice"(%arg3, %60, %66, %67, %65, %68) : (tensor<1x4x64x16xf32>, tensor<1x4x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64x16xf32>
    %70 = "stablehlo.slice"(%58) <{limit_indices = array<i64: 3, 1, 4, 1, 16>, start_indices = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x4x1x16xf32>) -> tensor<1x1x4x1x16xf32>
    %71 = "stablehlo.reshape"(%70) : (tensor<1x1x4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %72 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %73 = "stablehlo.compare"(%arg8, %72) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %74 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %75 = "stablehlo.add"(%arg8, %74) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %76 = "stablehlo.select"(%73, %75, %arg8) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %77 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %78 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %79 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %80 = "stablehlo.dynamic_update_slice"(%arg4, %71, %77, %78, %76, %79) : (tensor<1x4x64x16xf32>, tensor<1x4x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64x16xf32>
    %81 = "stablehlo.slice"(%58) <{limit_indices = array<i64: 1, 1, 4, 1, 16>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x4x1x16xf32>) -> tensor<1x1x4x1x16xf32>
    %82 = "stablehlo.reshape"(%81) : (tensor<1x1x4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %83 = "stablehlo.transpose"(%69) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x4x64x16xf32>) -> tensor<1x4x16x64xf32>
    %84 = "stablehlo.reshape"(%82) : (tensor<1x4x1x16xf32>) -> tensor<4x1x16xf32>
    %85 = "stablehlo.reshape"(%83) : (tensor<1x4x16x64xf32>) -> tensor<4x16x64xf32>
    %86 = "stablehlo.dot_general"(%84, %85) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x1x16xf32>, tensor<4x16x64xf32>) -> tensor<4x1x64xf32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %88 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x1x64xf32>
    %90 = "stablehlo.divide"(%87, %89) : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %91 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64xi32>
    %92 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
    %93 = "stablehlo.compare"(%91, %92) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %94 = "stablehlo.constant"() <{value = dense<-1.000000e+09> : tensor<f32>}> : () -> tensor<f32>
    %95 = "func.call"(%93, %90, %94) <{callee = @_where}> : (tensor<64xi1>, tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1x64xf32>
    %96 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %97 = "stablehlo.reduce"(%95, %96) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>):
      %276 = "stablehlo.maximum"(%arg41, %arg42) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%276) : (tensor<f32>) -> ()
    }) : (tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1xf32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x1xf32>) -> tensor<1x4x1x1xf32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x64xf32>
    %100 = "stablehlo.subtract"(%95, %99) : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %101 = "stablehlo.exponential"(%100) : (tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %102 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %103 = "stablehlo.reduce"(%101, %102) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg39: tensor<f32>, %arg40: tensor<f32>):
      %275 = "stablehlo.add"(%arg39, %arg40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%275) : (tensor<f32>) -> ()
    }) : (tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1xf32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x1xf32>) -> tensor<1x4x1x1xf32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x64xf32>
    %106 = "stablehlo.divide"(%101, %105) : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %107 = "stablehlo.reshape"(%106) : (tensor<1x4x1x64xf32>) -> tensor<4x1x64xf32>
    %108 = "stablehlo.reshape"(%80) : (tensor<1x4x64x16xf32>) -> tensor<4x64x16xf32>
    %109 = "stablehlo.dot_general"(%107, %108) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x1x64xf32>, tensor<4x64x16xf32>) -> tensor<4x1x16xf32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %111 = "stablehlo.reshape"(%110) : (tensor<1x4x1x16xf32>) -> tensor<1x64xf32>
    %112 = "stablehlo.dot_general"(%111, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    %113 = "stablehlo.add"(%35, %112) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %114 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %115 = "stablehlo.reduce"(%113, %114) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg37: tensor<f32>, %arg38: tensor<f32>):
      %274 = "stablehlo.add"(%arg37, %arg38) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%274) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %116 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %117 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %119 = "stablehlo.divide"(%116, %118) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %120 = "stablehlo.broadcast_in_dim"(%119) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %121 = "stablehlo.subtract"(%113, %120) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %122 = "stablehlo.multiply"(%121, %121) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %123 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %124 = "stablehlo.reduce"(%122, %123) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg35: tensor<f32>, %arg36: tensor<f32>):
      %273 = "stablehlo.add"(%arg35, %arg36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%273) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %126 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %127 = "stablehlo.broadcast_in_dim"(%126) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %128 = "stablehlo.divide"(%125, %127) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %129 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %131 = "stablehlo.add"(%128, %130) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %132 = "stablehlo.sqrt"(%131) : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %133 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %134 = "stablehlo.divide"(%121, %133) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %135 = "stablehlo.dot_general"(%134, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x256xf32>) -> tensor<1x256xf32>
    %136 = "stablehlo.tanh"(%135) : (tensor<1x256xf32>) -> tensor<1x256xf32>
    %137 = "stablehlo.dot_general"(%136, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x256xf32>, tensor<256x64xf32>) -> tensor<1x64xf32>
    %138 = "stablehlo.add"(%113, %137) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %139 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %140 = "stablehlo.reduce"(%138, %139) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg33: tensor<f32>, %arg34: tensor<f32>):
      %272 = "stablehlo.add"(%arg33, %arg34) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%272) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %141 = "stablehlo.broadcast_in_dim"(%140) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %142 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %143 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %144 = "stablehlo.divide"(%141, %143) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %146 = "stablehlo.subtract"(%138, %145) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %147 = "stablehlo.multiply"(%146, %146) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %148 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %149 = "stablehlo.reduce"(%147, %148) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %271 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%271) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %151 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %152 = "stablehlo.broadcast_in_dim"(%151) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %153 = "stablehlo.divide"(%150, %152) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %154 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %155 = "stablehlo.broadcast_in_dim"(%154) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %156 = "stablehlo.add"(%153, %155) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %157 = "stablehlo.sqrt"(%156) : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %159 = "stablehlo.divide"(%146, %158) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %160 = "stablehlo.dot_general"(%159, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x192xf32>) -> tensor<1x192xf32>
    %161 = "stablehlo.reshape"(%160) : (tensor<1x192xf32>) -> tensor<3x1x4x1x16xf32>
    %162 = "stablehlo.slice"(%161) <{limit_indices = array<i64: 2, 1, 4, 1, 16>, start_indices = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x4x1x16xf32>) -> tensor<1x1x4x1x16xf32>
    %163 = "stablehlo.reshape"(%162) : (tensor<1x1x4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %164 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %165 = "stablehlo.compare"(%arg8, %164) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %166 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %167 = "stablehlo.add"(%arg8, %166) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %168 = "stablehlo.select"(%165, %167, %arg8) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %169 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %170 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %171 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %172 = "stablehlo.dynamic_update_slice"(%arg5, %163, %169, %170, %168, %171) : (tensor<1x4x64x16xf32>, tensor<1x4x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64x16xf32>
    %173 = "stablehlo.slice"(%161) <{limit_indices = array<i64: 3, 1, 4, 1, 16>, start_indices = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x4x1x16xf32>) -> tensor<1x1x4x1x16xf32>
    %174 = "stablehlo.reshape"(%173) : (tensor<1x1x4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %175 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %176 = "stablehlo.compare"(%arg8, %175) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %177 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %178 = "stablehlo.add"(%arg8, %177) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %179 = "stablehlo.select"(%176, %178, %arg8) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %180 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %181 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %182 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %183 = "stablehlo.dynamic_update_slice"(%arg6, %174, %180, %181, %179, %182) : (tensor<1x4x64x16xf32>, tensor<1x4x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64x16xf32>
    %184 = "stablehlo.slice"(%161) <{limit_indices = array<i64: 1, 1, 4, 1, 16>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x4x1x16xf32>) -> tensor<1x1x4x1x16xf32>
    %185 = "stablehlo.reshape"(%184) : (tensor<1x1x4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %186 = "stablehlo.transpose"(%172) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x4x64x16xf32>) -> tensor<1x4x16x64xf32>
    %187 = "stablehlo.reshape"(%185) : (tensor<1x4x1x16xf32>) -> tensor<4x1x16xf32>
    %188 = "stablehlo.reshape"(%186) : (tensor<1x4x16x64xf32>) -> tensor<4x16x64xf32>
    %189 = "stablehlo.dot_general"(%187, %188) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x1x16xf32>, tensor<4x16x64xf32>) -> tensor<4x1x64xf32>
    %190 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %191 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x1x64xf32>
    %193 = "stablehlo.divide"(%190, %192) : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %194 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64xi32>
    %195 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
    %196 = "stablehlo.compare"(%194, %195) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %197 = "stablehlo.constant"() <{value = dense<-1.000000e+09> : tensor<f32>}> : () -> tensor<f32>
    %198 = "func.call"(%196, %193, %197) <{callee = @_where}> : (tensor<64xi1>, tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1x64xf32>
    %199 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %200 = "stablehlo.reduce"(%198, %199) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg29: tensor<f32>, %arg30: tensor<f32>):
      %270 = "stablehlo.maximum"(%arg29, %arg30) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%270) : (tensor<f32>) -> ()
    }) : (tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1xf32>
    %201 = "stablehlo.broadcast_in_dim"(%200) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x1xf32>) -> tensor<1x4x1x1xf32>
    %202 = "stablehlo.broadcast_in_dim"(%201) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x64xf32>
    %203 = "stablehlo.subtract"(%198, %202) : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %204 = "stablehlo.exponential"(%203) : (tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %205 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %206 = "stablehlo.reduce"(%204, %205) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg27: tensor<f32>, %arg28: tensor<f32>):
      %269 = "stablehlo.add"(%arg27, %arg28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%269) : (tensor<f32>) -> ()
    }) : (tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1xf32>
    %207 = "stablehlo.broadcast_in_dim"(%206) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x1xf32>) -> tensor<1x4x1x1xf32>
    %208 = "stablehlo.broadcast_in_dim"(%207) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x64xf32>
    %209 = "stablehlo.divide"(%204, %208) : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    %210 = "stablehlo.reshape"(%209) : (tensor<1x4x1x64xf32>) -> tensor<4x1x64xf32>
    %211 = "stablehlo.reshape"(%183) : (tensor<1x4x64x16xf32>) -> tensor<4x64x16xf32>
    %212 = "stablehlo.dot_general"(%210, %211) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x1x64xf32>, tensor<4x64x16xf32>) -> tensor<4x1x16xf32>
    %213 = "stablehlo.broadcast_in_dim"(%212) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x1x16xf32>) -> tensor<1x4x1x16xf32>
    %214 = "stablehlo.reshape"(%213) : (tensor<1x4x1x16xf32>) -> tensor<1x64xf32>
    %215 = "stablehlo.dot_general"(%214, %arg16) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    %216 = "stablehlo.add"(%138, %215) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %217 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %218 = "stablehlo.reduce"(%216, %217) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg25: tensor<f32>, %arg26: tensor<f32>):
      %268 = "stablehlo.add"(%arg25, %arg26) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%268) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %219 = "stablehlo.broadcast_in_dim"(%218) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %220 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.broadcast_in_dim"(%220) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %222 = "stablehlo.divide"(%219, %221) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %223 = "stablehlo.broadcast_in_dim"(%222) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %224 = "stablehlo.subtract"(%216, %223) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %225 = "stablehlo.multiply"(%224, %224) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %226 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %227 = "stablehlo.reduce"(%225, %226) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %267 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%267) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %228 = "stablehlo.broadcast_in_dim"(%227) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %229 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %230 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %231 = "stablehlo.divide"(%228, %230) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %232 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %234 = "stablehlo.add"(%231, %233) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %235 = "stablehlo.sqrt"(%234) : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %236 = "stablehlo.broadcast_in_dim"(%235) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %237 = "stablehlo.divide"(%224, %236) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %238 = "stablehlo.dot_general"(%237, %arg17) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x256xf32>) -> tensor<1x256xf32>
    %239 = "stablehlo.tanh"(%238) : (tensor<1x256xf32>) -> tensor<1x256xf32>
    %240 = "stablehlo.dot_general"(%239, %arg18) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x256xf32>, tensor<256x64xf32>) -> tensor<1x64xf32>
    %241 = "stablehlo.add"(%216, %240) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %242 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %243 = "stablehlo.reduce"(%241, %242) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %266 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%266) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %244 = "stablehlo.broadcast_in_dim"(%243) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %245 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %246 = "stablehlo.broadcast_in_dim"(%245) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %247 = "stablehlo.divide"(%244, %246) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %248 = "stablehlo.broadcast_in_dim"(%247) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %249 = "stablehlo.subtract"(%241, %248) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %250 = "stablehlo.multiply"(%249, %249) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %251 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %252 = "stablehlo.reduce"(%250, %251) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %265 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%265) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %253 = "stablehlo.broadcast_in_dim"(%252) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %254 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %255 = "stablehlo.broadcast_in_dim"(%254) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %256 = "stablehlo.divide"(%253, %255) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %257 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %258 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %259 = "stablehlo.add"(%256, %258) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %260 = "stablehlo.sqrt"(%259) : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %261 = "stablehlo.broadcast_in_dim"(%260) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %262 = "stablehlo.divide"(%249, %261) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %263 = "stablehlo.transpose"(%arg9) <{permutation = array<i64: 1, 0>}> : (tensor<50x64xf32>) -> tensor<64x50xf32>
    %264 = "stablehlo.dot_general"(%262, %263) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64xf32>, tensor<64x50xf32>) -> tensor<1x50xf32>
    "func.return"(%69, %80, %172, %183, %264) : (tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x4x64x16xf32>, tensor<1x50xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64xi1>, tensor<1x4x1x64xf32>, tensor<f32>) -> tensor<1x4x1x64xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64xi1>, %arg1: tensor<1x4x1x64xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 3>}> : (tensor<64xi1>) -> tensor<1x4x1x64xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x1x64xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<1x4x1x64xi1>, tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
    "func.return"(%3) : (tensor<1x4x1x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
