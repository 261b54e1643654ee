#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
#map9 = affine_map<(d0, d1) -> (d1)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x24xi64>, %arg1: tensor<1x24xi64>, %arg2: tensor<1x24xi64>) -> (tensor<1x24x128xf32>, tensor<1x128xf32>) {
    %c0_i64 = arith.constant 0 : i64
    %c500 = arith.constant 500 : index
    %c64 = arith.constant 64 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = arith.constant dense_resource<torch_tensor_128_torch.float32_20> : tensor<128xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_8> : tensor<128x128xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_128_torch.float32_19> : tensor<128xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_128_torch.float32_18> : tensor<128xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_128_torch.float32_17> : tensor<128xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_128_512_torch.float32_1> : tensor<128x512xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_512_torch.float32_1> : tensor<512xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_512_128_torch.float32_1> : tensor<512x128xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_128_torch.float32_16> : tensor<128xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_128_torch.float32_15> : tensor<128xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_128_torch.float32_14> : tensor<128xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_7> : tensor<128x128xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_128_torch.float32_13> : tensor<128xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_6> : tensor<128x128xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_128_torch.float32_12> : tensor<128xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_5> : tensor<128x128xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_128_torch.float32_11> : tensor<128xf32>
    %cst_22 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_4> : tensor<128x128xf32>
    %cst_23 = arith.constant dense_resource<torch_tensor_128_torch.float32_10> : tensor<128xf32>
    %cst_24 = arith.constant dense_resource<torch_tensor_128_torch.float32_9> : tensor<128xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_128_torch.float32_8> : tensor<128xf32>
    %cst_26 = arith.constant dense_resource<torch_tensor_128_512_torch.float32> : tensor<128x512xf32>
    %cst_27 = arith.constant dense_resource<torch_tensor_512_torch.float32> : tensor<512xf32>
    %cst_28 = arith.constant dense_resource<torch_tensor_512_128_torch.float32> : tensor<512x128xf32>
    %cst_29 = arith.constant dense_resource<torch_tensor_128_torch.float32_7> : tensor<128xf32>
    %cst_30 = arith.constant dense_resource<torch_tensor_128_torch.float32_6> : tensor<128xf32>
    %cst_31 = arith.constant dense_resource<torch_tensor_128_torch.float32_5> : tensor<128xf32>
    %cst_32 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_3> : tensor<128x128xf32>
    %cst_33 = arith.constant 5.6568542494923806 : f64
    %cst_34 = arith.constant dense_resource<torch_tensor_128_torch.float32_4> : tensor<128xf32>
    %cst_35 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_2> : tensor<128x128xf32>
    %cst_36 = arith.constant dense_resource<torch_tensor_128_torch.float32_3> : tensor<128xf32>
    %cst_37 = arith.constant dense_resource<torch_tensor_128_128_torch.float32_1> : tensor<128x128xf32>
    %cst_38 = arith.constant dense_resource<torch_tensor_128_torch.float32_2> : tensor<128xf32>
    %cst_39 = arith.constant dense_resource<torch_tensor_128_128_torch.float32> : tensor<128x128xf32>
    %cst_40 = arith.constant dense_resource<torch_tensor_128_torch.float32_1> : tensor<128xf32>
    %cst_41 = arith.constant dense_resource<torch_tensor_128_torch.float32> : tensor<128xf32>
    %cst_42 = arith.constant 1.000000e-05 : f64
    %cst_43 = arith.constant dense_resource<torch_tensor_2_128_torch.float32> : tensor<2x128xf32>
    %cst_44 = arith.constant dense_resource<torch_tensor_64_128_torch.float32> : tensor<64x128xf32>
    %cst_45 = arith.constant dense_resource<torch_tensor_500_128_torch.float32> : tensor<500x128xf32>
    %cst_46 = arith.constant 1.280000e+02 : f64
    %cst_47 = arith.constant 1.280000e+02 : f32
    %cst_48 = arith.constant -1.000000e+04 : f32
    %cst_49 = arith.constant 1.41421354 : f32
    %0 = tensor.empty() : tensor<1x24x128xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x24xi64>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: i64, %out: f32):
      %172 = arith.index_cast %in : i64 to index
      %173 = linalg.index 2 : index
      %174 = arith.cmpi slt, %172, %c500 : index
      cf.assert %174, "index must be smaller than dim size"
      %175 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %175, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_45[%172, %173] : tensor<500x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x24x128xf32>
    %2 = tensor.empty() : tensor<24xi64>
    %3 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%2 : tensor<24xi64>) {
    ^bb0(%out: i64):
      %172 = linalg.index 0 : index
      %173 = arith.index_cast %172 : index to i64
      linalg.yield %173 : i64
    } -> tensor<24xi64>
    %4 = tensor.empty() : tensor<24x128xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<24xi64>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: i64, %out: f32):
      %172 = arith.index_cast %in : i64 to index
      %173 = linalg.index 1 : index
      %174 = arith.cmpi slt, %172, %c64 : index
      cf.assert %174, "index must be smaller than dim size"
      %175 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %175, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_44[%172, %173] : tensor<64x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<24x128xf32>
    %expanded = tensor.expand_shape %5 [[0, 1], [2]] output_shape [1, 24, 128] : tensor<24x128xf32> into tensor<1x24x128xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %expanded : tensor<1x24x128xf32>, tensor<1x24x128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x24xi64>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: i64, %out: f32):
      %172 = arith.index_cast %in : i64 to index
      %173 = linalg.index 2 : index
      %174 = arith.cmpi slt, %172, %c2 : index
      cf.assert %174, "index must be smaller than dim size"
      %175 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %175, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_43[%172, %173] : tensor<2x128xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x24x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %7 : tensor<1x24x128xf32>, tensor<1x24x128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %9 = tensor.empty() : tensor<1x24x128xf64>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<1x24x128xf32>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f32, %out: f64):
      %172 = arith.extf %in : f32 to f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %11 = tensor.empty() : tensor<1x24x1xf64>
    %12 = linalg.fill ins(%cst : f64) outs(%11 : tensor<1x24x1xf64>) -> tensor<1x24x1xf64>
    %13 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %15 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %14 : tensor<1x24x128xf64>, tensor<1x24x1xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.subf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %15 : tensor<1x24x128xf64>, tensor<1x24x128xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.mulf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %17 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%16 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %19 = tensor.empty() : tensor<1x24x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<1x24x1xf64>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %172 = arith.truncf %in : f64 to f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %21 = linalg.fill ins(%cst_0 : f32) outs(%19 : tensor<1x24x1xf32>) -> tensor<1x24x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<1x24x128xf32>) outs(%21 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_47 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_42 : f64 to f32
      %173 = arith.addf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x24x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.rsqrt %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %23 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %25 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %cst_41 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %cst_40 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %expanded_50 = tensor.expand_shape %arg2 [[0], [1, 2, 3]] output_shape [1, 1, 1, 24] : tensor<1x24xi64> into tensor<1x1x1x24xi64>
    %30 = tensor.empty() : tensor<1x1x1x24xf32>
    %31 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_50 : tensor<1x1x1x24xi64>) outs(%30 : tensor<1x1x1x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %172 = arith.sitofp %in : i64 to f32
      linalg.yield %172 : f32
    } -> tensor<1x1x1x24xf32>
    %32 = linalg.generic {indexing_maps = [#map8, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4, %31 : tensor<f32>, tensor<1x1x1x24xf32>) outs(%30 : tensor<1x1x1x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x1x1x24xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<1x1x1x24xf32>) outs(%30 : tensor<1x1x1x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.mulf %in, %cst_48 : f32
      linalg.yield %172 : f32
    } -> tensor<1x1x1x24xf32>
    %collapsed = tensor.collapse_shape %29 [[0, 1], [2]] : tensor<1x24x128xf32> into tensor<24x128xf32>
    %34 = tensor.empty() : tensor<128x128xf32>
    %transposed = linalg.transpose ins(%cst_39 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %35 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %36 = linalg.matmul ins(%collapsed, %transposed : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%36, %cst_38 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_51 = tensor.expand_shape %37 [[0, 1], [2, 3]] output_shape [1, 24, 4, 32] : tensor<24x128xf32> into tensor<1x24x4x32xf32>
    %38 = tensor.empty() : tensor<1x4x24x32xf32>
    %transposed_52 = linalg.transpose ins(%expanded_51 : tensor<1x24x4x32xf32>) outs(%38 : tensor<1x4x24x32xf32>) permutation = [0, 2, 1, 3] 
    %transposed_53 = linalg.transpose ins(%cst_37 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %39 = linalg.matmul ins(%collapsed, %transposed_53 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%39, %cst_36 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_54 = tensor.expand_shape %40 [[0, 1], [2, 3]] output_shape [1, 24, 4, 32] : tensor<24x128xf32> into tensor<1x24x4x32xf32>
    %transposed_55 = linalg.transpose ins(%cst_35 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %41 = linalg.matmul ins(%collapsed, %transposed_55 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%41, %cst_34 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_56 = tensor.expand_shape %42 [[0, 1], [2, 3]] output_shape [1, 24, 4, 32] : tensor<24x128xf32> into tensor<1x24x4x32xf32>
    %transposed_57 = linalg.transpose ins(%expanded_56 : tensor<1x24x4x32xf32>) outs(%38 : tensor<1x4x24x32xf32>) permutation = [0, 2, 1, 3] 
    %43 = tensor.empty() : tensor<1x4x32x24xf32>
    %transposed_58 = linalg.transpose ins(%expanded_54 : tensor<1x24x4x32xf32>) outs(%43 : tensor<1x4x32x24xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_59 = tensor.collapse_shape %transposed_52 [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
    %collapsed_60 = tensor.collapse_shape %transposed_58 [[0, 1], [2], [3]] : tensor<1x4x32x24xf32> into tensor<4x32x24xf32>
    %44 = tensor.empty() : tensor<4x24x24xf32>
    %45 = linalg.fill ins(%cst_0 : f32) outs(%44 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %46 = linalg.batch_matmul ins(%collapsed_59, %collapsed_60 : tensor<4x24x32xf32>, tensor<4x32x24xf32>) outs(%45 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %expanded_61 = tensor.expand_shape %46 [[0, 1], [2], [3]] output_shape [1, 4, 24, 24] : tensor<4x24x24xf32> into tensor<1x4x24x24xf32>
    %47 = tensor.empty() : tensor<1x4x24x24xf32>
    %48 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_61 : tensor<1x4x24x24xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_33 : f64 to f32
      %173 = arith.divf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x4x24x24xf32>
    %49 = linalg.generic {indexing_maps = [#map7, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %33 : tensor<1x4x24x24xf32>, tensor<1x1x1x24xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %50 = tensor.empty() : tensor<1x4x24xi64>
    %51 = linalg.fill ins(%c0_i64 : i64) outs(%50 : tensor<1x4x24xi64>) -> tensor<1x4x24xi64>
    %52 = tensor.empty() : tensor<1x4x24xf32>
    %53 = linalg.fill ins(%cst_1 : f32) outs(%52 : tensor<1x4x24xf32>) -> tensor<1x4x24xf32>
    %54:2 = linalg.generic {indexing_maps = [#map7, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%49 : tensor<1x4x24x24xf32>) outs(%53, %51 : tensor<1x4x24xf32>, tensor<1x4x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_105: i64):
      %172 = linalg.index 3 : index
      %173 = arith.index_cast %172 : index to i64
      %174 = arith.maximumf %in, %out : f32
      %175 = arith.cmpf ogt, %in, %out : f32
      %176 = arith.select %175, %173, %out_105 : i64
      linalg.yield %174, %176 : f32, i64
    } -> (tensor<1x4x24xf32>, tensor<1x4x24xi64>)
    %expanded_62 = tensor.expand_shape %54#0 [[0], [1], [2, 3]] output_shape [1, 4, 24, 1] : tensor<1x4x24xf32> into tensor<1x4x24x1xf32>
    %55 = linalg.generic {indexing_maps = [#map7, #map12, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49, %expanded_62 : tensor<1x4x24x24xf32>, tensor<1x4x24x1xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %56 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55 : tensor<1x4x24x24xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.exp %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %57 = tensor.empty() : tensor<1x4x24x1xf32>
    %58 = linalg.fill ins(%cst_0 : f32) outs(%57 : tensor<1x4x24x1xf32>) -> tensor<1x4x24x1xf32>
    %59 = linalg.generic {indexing_maps = [#map7, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%56 : tensor<1x4x24x24xf32>) outs(%58 : tensor<1x4x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x1xf32>
    %60 = linalg.generic {indexing_maps = [#map7, #map12, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56, %59 : tensor<1x4x24x24xf32>, tensor<1x4x24x1xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.divf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %collapsed_63 = tensor.collapse_shape %60 [[0, 1], [2], [3]] : tensor<1x4x24x24xf32> into tensor<4x24x24xf32>
    %collapsed_64 = tensor.collapse_shape %transposed_57 [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
    %61 = tensor.empty() : tensor<4x24x32xf32>
    %62 = linalg.fill ins(%cst_0 : f32) outs(%61 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %63 = linalg.batch_matmul ins(%collapsed_63, %collapsed_64 : tensor<4x24x24xf32>, tensor<4x24x32xf32>) outs(%62 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_65 = tensor.expand_shape %63 [[0, 1], [2], [3]] output_shape [1, 4, 24, 32] : tensor<4x24x32xf32> into tensor<1x4x24x32xf32>
    %64 = tensor.empty() : tensor<1x24x4x32xf32>
    %transposed_66 = linalg.transpose ins(%expanded_65 : tensor<1x4x24x32xf32>) outs(%64 : tensor<1x24x4x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_67 = tensor.collapse_shape %transposed_66 [[0, 1], [2, 3]] : tensor<1x24x4x32xf32> into tensor<24x128xf32>
    %transposed_68 = linalg.transpose ins(%cst_32 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %65 = linalg.matmul ins(%collapsed_67, %transposed_68 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%65, %cst_31 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_69 = tensor.expand_shape %66 [[0, 1], [2]] output_shape [1, 24, 128] : tensor<24x128xf32> into tensor<1x24x128xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29, %expanded_69 : tensor<1x24x128xf32>, tensor<1x24x128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<1x24x128xf32>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f32, %out: f64):
      %172 = arith.extf %in : f32 to f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %69 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%68 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %70 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %71 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %70 : tensor<1x24x128xf64>, tensor<1x24x1xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.subf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %72 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %71 : tensor<1x24x128xf64>, tensor<1x24x128xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.mulf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %73 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%72 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %74 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %75 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<1x24x1xf64>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %172 = arith.truncf %in : f64 to f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %76 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<1x24x128xf32>) outs(%21 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %77 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_47 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %78 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_42 : f64 to f32
      %173 = arith.addf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x24x1xf32>
    %79 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.rsqrt %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %80 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %77 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %81 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %79 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %82 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %cst_30 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %83 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %cst_29 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %collapsed_70 = tensor.collapse_shape %83 [[0, 1], [2]] : tensor<1x24x128xf32> into tensor<24x128xf32>
    %84 = tensor.empty() : tensor<128x512xf32>
    %transposed_71 = linalg.transpose ins(%cst_28 : tensor<512x128xf32>) outs(%84 : tensor<128x512xf32>) permutation = [1, 0] 
    %85 = tensor.empty() : tensor<24x512xf32>
    %86 = linalg.fill ins(%cst_0 : f32) outs(%85 : tensor<24x512xf32>) -> tensor<24x512xf32>
    %87 = linalg.matmul ins(%collapsed_70, %transposed_71 : tensor<24x128xf32>, tensor<128x512xf32>) outs(%86 : tensor<24x512xf32>) -> tensor<24x512xf32>
    %88 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%87, %cst_27 : tensor<24x512xf32>, tensor<512xf32>) outs(%85 : tensor<24x512xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x512xf32>
    %expanded_72 = tensor.expand_shape %88 [[0, 1], [2]] output_shape [1, 24, 512] : tensor<24x512xf32> into tensor<1x24x512xf32>
    %89 = tensor.empty() : tensor<1x24x512xf32>
    %90 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_72 : tensor<1x24x512xf32>) outs(%89 : tensor<1x24x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_49 : f32
      %173 = math.erf %172 : f32
      %174 = arith.addf %173, %cst_2 : f32
      %175 = arith.mulf %174, %cst_3 : f32
      %176 = arith.mulf %in, %175 : f32
      linalg.yield %176 : f32
    } -> tensor<1x24x512xf32>
    %collapsed_73 = tensor.collapse_shape %90 [[0, 1], [2]] : tensor<1x24x512xf32> into tensor<24x512xf32>
    %91 = tensor.empty() : tensor<512x128xf32>
    %transposed_74 = linalg.transpose ins(%cst_26 : tensor<128x512xf32>) outs(%91 : tensor<512x128xf32>) permutation = [1, 0] 
    %92 = linalg.matmul ins(%collapsed_73, %transposed_74 : tensor<24x512xf32>, tensor<512x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %93 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%92, %cst_25 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_75 = tensor.expand_shape %93 [[0, 1], [2]] output_shape [1, 24, 128] : tensor<24x128xf32> into tensor<1x24x128xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %expanded_75 : tensor<1x24x128xf32>, tensor<1x24x128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %95 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<1x24x128xf32>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f32, %out: f64):
      %172 = arith.extf %in : f32 to f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %96 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%95 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %97 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %98 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %97 : tensor<1x24x128xf64>, tensor<1x24x1xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.subf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %99 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %98 : tensor<1x24x128xf64>, tensor<1x24x128xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.mulf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %100 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%99 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %101 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %102 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<1x24x1xf64>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %172 = arith.truncf %in : f64 to f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %103 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%94 : tensor<1x24x128xf32>) outs(%21 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_47 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %105 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_42 : f64 to f32
      %173 = arith.addf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x24x1xf32>
    %106 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.rsqrt %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %107 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %104 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %108 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %106 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %109 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %cst_24 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %110 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %cst_23 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %collapsed_76 = tensor.collapse_shape %110 [[0, 1], [2]] : tensor<1x24x128xf32> into tensor<24x128xf32>
    %transposed_77 = linalg.transpose ins(%cst_22 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %111 = linalg.matmul ins(%collapsed_76, %transposed_77 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%111, %cst_21 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_78 = tensor.expand_shape %112 [[0, 1], [2, 3]] output_shape [1, 24, 4, 32] : tensor<24x128xf32> into tensor<1x24x4x32xf32>
    %transposed_79 = linalg.transpose ins(%expanded_78 : tensor<1x24x4x32xf32>) outs(%38 : tensor<1x4x24x32xf32>) permutation = [0, 2, 1, 3] 
    %transposed_80 = linalg.transpose ins(%cst_20 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %113 = linalg.matmul ins(%collapsed_76, %transposed_80 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %114 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%113, %cst_19 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_81 = tensor.expand_shape %114 [[0, 1], [2, 3]] output_shape [1, 24, 4, 32] : tensor<24x128xf32> into tensor<1x24x4x32xf32>
    %transposed_82 = linalg.transpose ins(%cst_18 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %115 = linalg.matmul ins(%collapsed_76, %transposed_82 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %116 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%115, %cst_17 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_83 = tensor.expand_shape %116 [[0, 1], [2, 3]] output_shape [1, 24, 4, 32] : tensor<24x128xf32> into tensor<1x24x4x32xf32>
    %transposed_84 = linalg.transpose ins(%expanded_83 : tensor<1x24x4x32xf32>) outs(%38 : tensor<1x4x24x32xf32>) permutation = [0, 2, 1, 3] 
    %transposed_85 = linalg.transpose ins(%expanded_81 : tensor<1x24x4x32xf32>) outs(%43 : tensor<1x4x32x24xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_86 = tensor.collapse_shape %transposed_79 [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
    %collapsed_87 = tensor.collapse_shape %transposed_85 [[0, 1], [2], [3]] : tensor<1x4x32x24xf32> into tensor<4x32x24xf32>
    %117 = linalg.batch_matmul ins(%collapsed_86, %collapsed_87 : tensor<4x24x32xf32>, tensor<4x32x24xf32>) outs(%45 : tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %expanded_88 = tensor.expand_shape %117 [[0, 1], [2], [3]] output_shape [1, 4, 24, 24] : tensor<4x24x24xf32> into tensor<1x4x24x24xf32>
    %118 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_88 : tensor<1x4x24x24xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_33 : f64 to f32
      %173 = arith.divf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x4x24x24xf32>
    %119 = linalg.generic {indexing_maps = [#map7, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%118, %33 : tensor<1x4x24x24xf32>, tensor<1x1x1x24xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %120:2 = linalg.generic {indexing_maps = [#map7, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%119 : tensor<1x4x24x24xf32>) outs(%53, %51 : tensor<1x4x24xf32>, tensor<1x4x24xi64>) {
    ^bb0(%in: f32, %out: f32, %out_105: i64):
      %172 = linalg.index 3 : index
      %173 = arith.index_cast %172 : index to i64
      %174 = arith.maximumf %in, %out : f32
      %175 = arith.cmpf ogt, %in, %out : f32
      %176 = arith.select %175, %173, %out_105 : i64
      linalg.yield %174, %176 : f32, i64
    } -> (tensor<1x4x24xf32>, tensor<1x4x24xi64>)
    %expanded_89 = tensor.expand_shape %120#0 [[0], [1], [2, 3]] output_shape [1, 4, 24, 1] : tensor<1x4x24xf32> into tensor<1x4x24x1xf32>
    %121 = linalg.generic {indexing_maps = [#map7, #map12, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%119, %expanded_89 : tensor<1x4x24x24xf32>, tensor<1x4x24x1xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %122 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%121 : tensor<1x4x24x24xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.exp %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %123 = linalg.generic {indexing_maps = [#map7, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%122 : tensor<1x4x24x24xf32>) outs(%58 : tensor<1x4x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x1xf32>
    %124 = linalg.generic {indexing_maps = [#map7, #map12, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%122, %123 : tensor<1x4x24x24xf32>, tensor<1x4x24x1xf32>) outs(%47 : tensor<1x4x24x24xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.divf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x4x24x24xf32>
    %collapsed_90 = tensor.collapse_shape %124 [[0, 1], [2], [3]] : tensor<1x4x24x24xf32> into tensor<4x24x24xf32>
    %collapsed_91 = tensor.collapse_shape %transposed_84 [[0, 1], [2], [3]] : tensor<1x4x24x32xf32> into tensor<4x24x32xf32>
    %125 = linalg.batch_matmul ins(%collapsed_90, %collapsed_91 : tensor<4x24x24xf32>, tensor<4x24x32xf32>) outs(%62 : tensor<4x24x32xf32>) -> tensor<4x24x32xf32>
    %expanded_92 = tensor.expand_shape %125 [[0, 1], [2], [3]] output_shape [1, 4, 24, 32] : tensor<4x24x32xf32> into tensor<1x4x24x32xf32>
    %transposed_93 = linalg.transpose ins(%expanded_92 : tensor<1x4x24x32xf32>) outs(%64 : tensor<1x24x4x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_94 = tensor.collapse_shape %transposed_93 [[0, 1], [2, 3]] : tensor<1x24x4x32xf32> into tensor<24x128xf32>
    %transposed_95 = linalg.transpose ins(%cst_16 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %126 = linalg.matmul ins(%collapsed_94, %transposed_95 : tensor<24x128xf32>, tensor<128x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %127 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%126, %cst_15 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_96 = tensor.expand_shape %127 [[0, 1], [2]] output_shape [1, 24, 128] : tensor<24x128xf32> into tensor<1x24x128xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %expanded_96 : tensor<1x24x128xf32>, tensor<1x24x128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %129 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<1x24x128xf32>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f32, %out: f64):
      %172 = arith.extf %in : f32 to f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %130 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%129 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %131 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %132 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129, %131 : tensor<1x24x128xf64>, tensor<1x24x1xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.subf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %133 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %132 : tensor<1x24x128xf64>, tensor<1x24x128xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.mulf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %134 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%133 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %135 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %136 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135 : tensor<1x24x1xf64>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %172 = arith.truncf %in : f64 to f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %137 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%128 : tensor<1x24x128xf32>) outs(%21 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_47 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_42 : f64 to f32
      %173 = arith.addf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x24x1xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.rsqrt %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %141 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %138 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %142 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %140 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %143 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %cst_14 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %cst_13 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %collapsed_97 = tensor.collapse_shape %144 [[0, 1], [2]] : tensor<1x24x128xf32> into tensor<24x128xf32>
    %transposed_98 = linalg.transpose ins(%cst_12 : tensor<512x128xf32>) outs(%84 : tensor<128x512xf32>) permutation = [1, 0] 
    %145 = linalg.matmul ins(%collapsed_97, %transposed_98 : tensor<24x128xf32>, tensor<128x512xf32>) outs(%86 : tensor<24x512xf32>) -> tensor<24x512xf32>
    %146 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%145, %cst_11 : tensor<24x512xf32>, tensor<512xf32>) outs(%85 : tensor<24x512xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x512xf32>
    %expanded_99 = tensor.expand_shape %146 [[0, 1], [2]] output_shape [1, 24, 512] : tensor<24x512xf32> into tensor<1x24x512xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_99 : tensor<1x24x512xf32>) outs(%89 : tensor<1x24x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_49 : f32
      %173 = math.erf %172 : f32
      %174 = arith.addf %173, %cst_2 : f32
      %175 = arith.mulf %174, %cst_3 : f32
      %176 = arith.mulf %in, %175 : f32
      linalg.yield %176 : f32
    } -> tensor<1x24x512xf32>
    %collapsed_100 = tensor.collapse_shape %147 [[0, 1], [2]] : tensor<1x24x512xf32> into tensor<24x512xf32>
    %transposed_101 = linalg.transpose ins(%cst_10 : tensor<128x512xf32>) outs(%91 : tensor<512x128xf32>) permutation = [1, 0] 
    %148 = linalg.matmul ins(%collapsed_100, %transposed_101 : tensor<24x512xf32>, tensor<512x128xf32>) outs(%35 : tensor<24x128xf32>) -> tensor<24x128xf32>
    %149 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%148, %cst_9 : tensor<24x128xf32>, tensor<128xf32>) outs(%4 : tensor<24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<24x128xf32>
    %expanded_102 = tensor.expand_shape %149 [[0, 1], [2]] output_shape [1, 24, 128] : tensor<24x128xf32> into tensor<1x24x128xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %expanded_102 : tensor<1x24x128xf32>, tensor<1x24x128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %151 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150 : tensor<1x24x128xf32>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f32, %out: f64):
      %172 = arith.extf %in : f32 to f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %152 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%151 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %153 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%152 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %154 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151, %153 : tensor<1x24x128xf64>, tensor<1x24x1xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.subf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %155 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%154, %154 : tensor<1x24x128xf64>, tensor<1x24x128xf64>) outs(%9 : tensor<1x24x128xf64>) {
    ^bb0(%in: f64, %in_105: f64, %out: f64):
      %172 = arith.mulf %in, %in_105 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x128xf64>
    %156 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%155 : tensor<1x24x128xf64>) outs(%12 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.addf %in, %out : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %157 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156 : tensor<1x24x1xf64>) outs(%11 : tensor<1x24x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %172 = arith.divf %in, %cst_46 : f64
      linalg.yield %172 : f64
    } -> tensor<1x24x1xf64>
    %158 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x24x1xf64>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %172 = arith.truncf %in : f64 to f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %159 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%150 : tensor<1x24x128xf32>) outs(%21 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.addf %in, %out : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %160 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.divf %in, %cst_47 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %161 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = arith.truncf %cst_42 : f64 to f32
      %173 = arith.addf %in, %172 : f32
      linalg.yield %173 : f32
    } -> tensor<1x24x1xf32>
    %162 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x24x1xf32>) outs(%19 : tensor<1x24x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.rsqrt %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x1xf32>
    %163 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %160 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.subf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %164 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163, %162 : tensor<1x24x128xf32>, tensor<1x24x1xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %165 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164, %cst_8 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.mulf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %166 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%165, %cst_7 : tensor<1x24x128xf32>, tensor<128xf32>) outs(%0 : tensor<1x24x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x24x128xf32>
    %extracted_slice = tensor.extract_slice %166[0, 0, 0] [1, 1, 128] [1, 1, 1] : tensor<1x24x128xf32> to tensor<1x1x128xf32>
    %collapsed_103 = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x1x128xf32> into tensor<1x128xf32>
    %transposed_104 = linalg.transpose ins(%cst_6 : tensor<128x128xf32>) outs(%34 : tensor<128x128xf32>) permutation = [1, 0] 
    %167 = tensor.empty() : tensor<1x128xf32>
    %168 = linalg.fill ins(%cst_0 : f32) outs(%167 : tensor<1x128xf32>) -> tensor<1x128xf32>
    %169 = linalg.matmul ins(%collapsed_103, %transposed_104 : tensor<1x128xf32>, tensor<128x128xf32>) outs(%168 : tensor<1x128xf32>) -> tensor<1x128xf32>
    %170 = linalg.generic {indexing_maps = [#map4, #map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%169, %cst_5 : tensor<1x128xf32>, tensor<128xf32>) outs(%167 : tensor<1x128xf32>) {
    ^bb0(%in: f32, %in_105: f32, %out: f32):
      %172 = arith.addf %in, %in_105 : f32
      linalg.yield %172 : f32
    } -> tensor<1x128xf32>
    %171 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%170 : tensor<1x128xf32>) outs(%167 : tensor<1x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %172 = math.tanh %in : f32
      linalg.yield %172 : f32
    } -> tensor<1x128xf32>
    return %166, %171 : tensor<1x24x128xf32>, tensor<1x128xf32>
  }
}

