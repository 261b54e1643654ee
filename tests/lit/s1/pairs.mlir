// Forces between all pairs of 40 points: differences of three coordinates are summed away, and, times what is made of these sums,
// along the other points. They are no planes, each of which would be summed by itself and read that factor again: coordinates
// become the first dim, one nest sums all three, and the sum over coordinates is written out.
// RUN: %pbc %s --target=cpu --emit=s1 | %FileCheck %s
// CHECK: :3x40xf32 = nest %{{[0-9]+}}:40x3xf32
// CHECK: %[[D:[0-9]+]]:3x40x40xf32 = nest {{.*}} // stablehlo.subtract
// CHECK: %[[Q:[0-9]+]]:3x40x40xf32 = nest %[[D]]:3x40x40xf32, %[[D]]:3x40x40xf32 {{.*}} // stablehlo.multiply
// CHECK: :40x40xf32 = nest %[[Q]]:3x40x40xf32, %[[Q]]:3x40x40xf32, %[[Q]]:3x40x40xf32 {{.*}} // stablehlo.reduce
// CHECK: %[[F:[0-9]+]]:3x40x40xf32 = nest %[[D]]:3x40x40xf32, {{.*}} // stablehlo.divide
// CHECK: :40x3xf32 = nest %[[F]]:3x40x40xf32 {{.*}} // stablehlo.reduce
func.func @main(%p: tensor<40x3xf32>) -> tensor<40x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<40x40xf32>
  %moved = stablehlo.negate %p : tensor<40x3xf32>
  %row = stablehlo.broadcast_in_dim %moved, dims = [1, 2] : (tensor<40x3xf32>) -> tensor<1x40x3xf32>
  %column = stablehlo.broadcast_in_dim %moved, dims = [0, 2] : (tensor<40x3xf32>) -> tensor<40x1x3xf32>
  %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1, 2] : (tensor<1x40x3xf32>) -> tensor<40x40x3xf32>
  %columns = stablehlo.broadcast_in_dim %column, dims = [0, 1, 2] : (tensor<40x1x3xf32>) -> tensor<40x40x3xf32>
  %apart = stablehlo.subtract %rows, %columns : tensor<40x40x3xf32>
  %squares = stablehlo.multiply %apart, %apart : tensor<40x40x3xf32>
  %far = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<40x40x3xf32>, tensor<f32>) -> tensor<40x40xf32>
  %farther = stablehlo.add %far, %one : tensor<40x40xf32>
  %pull = stablehlo.broadcast_in_dim %farther, dims = [0, 1] : (tensor<40x40xf32>) -> tensor<40x40x3xf32>
  %force = stablehlo.divide %apart, %pull : tensor<40x40x3xf32>
  %all = stablehlo.reduce(%force init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<40x40x3xf32>, tensor<f32>) -> tensor<40x3xf32>
  return %all : tensor<40x3xf32>
}
