// A transposed convolution whose window is as long as its gaps: all places of the window are columns of one product, whose
// weights have vectors of their own for each, and what takes the result goes with it.
// RUN: %pbc %s --target=cpu:v3 --emit=outline | %FileCheck %s
// CHECK: memref<8x16x8xf32> {pb.const = -1 : i64}
// CHECK: affine.load %{{.*}}[%[[A:arg[0-9]+]] * 4 + %[[B:arg[0-9]+]] * 2 + %[[O:arg[0-9]+]], %{{.*}} * 8 + %{{.*}}, %{{.*}}] : memref<8x16x8xf32>
// CHECK: affine.store %{{.*}}, %{{.*}}[0, %[[O]], %[[A]] + %{{.*}} * 2, %[[B]] + %{{.*}} * 2, %{{.*}}] : memref<1x2x8x8x8xf32>
// CHECK: {pb.macs = 16384 : i64
// CHECK: pb.part = "point"
// CHECK: return
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x16x4x4xf32>) -> tensor<1x16x8x8xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<1x16x4x4xf32>):
    %w = "stablehlo.constant"() <{value = dense<0.5> : tensor<16x16x2x2xf32>}> : () -> tensor<16x16x2x2xf32>
    %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, padding = dense<1> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> : (tensor<1x16x4x4xf32>, tensor<16x16x2x2xf32>) -> tensor<1x16x8x8xf32>
    %e = "stablehlo.tanh"(%y) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    "func.return"(%e) : (tensor<1x16x8x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
