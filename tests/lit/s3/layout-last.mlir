// Images whose channels come last: a window's largest elements go over the second dim, which is no dim of channels, so
// that nothing lies in blocks of it.
// RUN: %pbc %s --target=cpu:avx512 --emit=layout | %FileCheck %s
// CHECK-NOT: memref<1x{{[0-9]+}}x{{[0-9]+}}x{{[0-9]+}}x16xf32>
// CHECK: pb.nest = "reduce_window:{{[0-9]+}}"
// CHECK-NOT: memref<1x{{[0-9]+}}x{{[0-9]+}}x{{[0-9]+}}x16xf32>
func.func @main(%x: tensor<1x64x64x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x32x32x64xf32> {
  %i = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<1x64x64x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x64x64x64xf32>
  %p = "stablehlo.reduce_window"(%y, %i) <{padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (tensor<1x64x64x64xf32>, tensor<f32>) -> tensor<1x32x32x64xf32>
  return %p : tensor<1x32x32x64xf32>
}
