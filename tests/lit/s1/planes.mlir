// The state of 40 systems of two numbers each, which a loop takes apart and puts together: it becomes two planes, copied out of the
// input in front of the loop and into the output behind it, and lanes lie along the systems. The sum over the two numbers is written
// out, from what it begins with. Values that are walked whole stay: nothing is gained by planes of them.
// RUN: %pbc %s --target=cpu --emit=s1 | %FileCheck %s
// CHECK-DAG: %[[A:[0-9]+]]:40xf32 = nest %0:40x2xf32
// CHECK-DAG: %[[B:[0-9]+]]:40xf32 = nest %0:40x2xf32
// CHECK-DAG: %[[V:[0-9]+]]:40xf32 = move %[[A]]:40xf32
// CHECK-DAG: %[[W:[0-9]+]]:40xf32 = move %[[B]]:40xf32
// CHECK: loop
// CHECK-NOT: 40x2xf32
// CHECK: again
// CHECK: :40xf32 = nest %[[V]]:40xf32, %[[W]]:40xf32 {{.*}} // stablehlo.reduce
// CHECK: :50x2xf32 = nest {{.*}} // stablehlo.multiply
// CHECK: :50x2xf32 = nest {{.*}} // stablehlo.add
// CHECK: %[[Y:[0-9]+]]:40x2xf32 = nest %[[V]]:40xf32
// CHECK: %[[Y]]:40x2xf32 = nest %[[W]]:40xf32
// On a chip of queues they are no planes.
// RUN: %pbc %s --target=simnpu --emit=s1 | %FileCheck %s --check-prefix=QUEUES
// QUEUES-NOT: :40xf32 = move
func.func @main(%y: tensor<40x2xf32>, %x: tensor<50x2xf32>, %n: tensor<i32>) -> (tensor<40x2xf32>, tensor<40xf32>, tensor<50x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %v = %y) : tensor<i32>, tensor<40x2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.slice %v [0:40, 0:1] : (tensor<40x2xf32>) -> tensor<40x1xf32>
    %b = stablehlo.slice %v [0:40, 1:2] : (tensor<40x2xf32>) -> tensor<40x1xf32>
    %c = stablehlo.negate %a : tensor<40x1xf32>
    %d = stablehlo.concatenate %b, %c, dim = 1 : (tensor<40x1xf32>, tensor<40x1xf32>) -> tensor<40x2xf32>
    stablehlo.return %next, %d : tensor<i32>, tensor<40x2xf32>
  }
  %s = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<40x2xf32>, tensor<f32>) -> tensor<40xf32>
  %t = stablehlo.multiply %x, %x : tensor<50x2xf32>
  %u = stablehlo.add %t, %x : tensor<50x2xf32>
  return %r#1, %s, %u : tensor<40x2xf32>, tensor<40xf32>, tensor<50x2xf32>
}
