// Weights of a convolution that come when the program runs are packed as constants are, by a nest in front of it; with
// zeros behind channels that fill no block. Where few rows take each of them they are read as they lie.
// RUN: %pbc %s --target=cpu:avx512 --emit=layout | %FileCheck %s
// RUN: sed 's/48x/40x/g' %s > %t.ends.mlir && %pbc %t.ends.mlir --target=cpu:avx512 --emit=layout | %FileCheck %s --check-prefix=ENDS
// RUN: sed 's/x8x8x/x4x4x/g; s/x6x6x/x2x2x/g' %s > %t.few.mlir && %pbc %t.few.mlir --target=cpu:avx512 --emit=layout | %FileCheck %s --check-prefix=FEW
// CHECK-NOT: pb.part = "fill"
// CHECK: affine.store %{{.*}}, %[[P:[a-z_0-9]+]][%{{.*}}, %{{.*}} * 144 + {{.*}}] : memref<3x288x16xf32>
// CHECK: pb.nest = "arg1.lanes", pb.part = "pack"
// CHECK: affine.load %[[P]][{{.*}}] : memref<3x288x16xf32>
// ENDS: pb.nest = "arg1.lanes", pb.part = "fill"
// ENDS: pb.nest = "arg1.lanes", pb.part = "copy"
// ENDS: pb.nest = "arg1.lanes", pb.part = "pack"
// FEW-NOT: pb.part = "pack"
// FEW: pb.part = "reduce"
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<48x32x3x3xf32>) -> tensor<1x48x6x6xf32> {
  %0 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64}> : (tensor<1x32x8x8xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x6x6xf32>
  return %0 : tensor<1x48x6x6xf32>
}
