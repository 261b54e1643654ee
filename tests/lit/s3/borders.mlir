// Products by the zeros around an image are left out. Of many tiles each loop over the window that they walk begins and
// ends where a point is inside the image.
// RUN: %pb-opt %s --target=cpu:avx512 --layout --outline > %t
// RUN: %FileCheck %s --check-prefix=BORDER --input-file=%t
// BORDER: memref<1x2x30x16x16xf32> {pb.border = array<i64: 0, 0, 0, 0, 1, 1, 1, 1, 0, 0>, pb.input = ""}
// RUN: %pb-opt %t --target=cpu:avx512 --plan --tile --registers > %t.registers
// RUN: %FileCheck %s --input-file=%t.registers
// RUN: %pb-opt %t.registers --target=cpu:avx512 --check > /dev/null
// CHECK: #[[BEGIN:.*]] = affine_map<(d0, d1) -> (0, -d1 + 1)>
// CHECK: #[[END:.*]] = affine_map<(d0, d1) -> (3, -d1 + 15)>
// CHECK: affine.for %{{.*}} = max #[[BEGIN]](%{{.*}}, %{{.*}}) to min #[[END]](%{{.*}}, %{{.*}}) iter_args(

// Of one or two tiles along an image each place of the window has code for the points that are inside.
// RUN: sed 's/28x14/7x7/g; s/30x16/9x9/g; s/to 28/to 7/; s/to 14/to 7/; s/to 16/to 9/; s/\* 29/* 8/; s/\* 15/* 8/' %s > %t.near
// RUN: %pb-opt %t.near --target=cpu:avx512 --layout --outline --plan --tile --registers --check > %t.registers
// RUN: %FileCheck %s --check-prefix=NEAR --input-file=%t.registers
// NEAR-NOT: affine.for {{.*}} = 0 to 3 iter_args(

// Beside the image are other numbers, or weights are nobody's constants: all products are made.
// RUN: sed 's/constant 0.0 : f32 \/\/ beside/constant 1.0 : f32/' %s | %pb-opt - --target=cpu:avx512 --layout --outline | %FileCheck %s --check-prefix=NONE
// RUN: sed 's/pb.const = 0 : i64/pb.input = "w"/' %s | %pb-opt - --target=cpu:avx512 --layout --outline | %FileCheck %s --check-prefix=NONE
// NONE-NOT: pb.border
module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<1x32x28x14xf32> {pb.input = "x"}, %w: memref<32x32x3x3xf32> {pb.const = 0 : i64}, %y: memref<1x32x28x14xf32> {pb.output = "y"}) attributes {pb.program} {
    %p = memref.alloc() : memref<1x32x30x16xf32>
    affine.for %c = 0 to 32 {
      affine.for %h = 0 to 2 {
        affine.for %v = 0 to 16 {
          %zero = arith.constant 0.0 : f32 // beside
          affine.store %zero, %p[0, %c, %h * 29, %v] : memref<1x32x30x16xf32>
        }
      }
    } {pb.nest = "y", pb.part = "pad"}
    affine.for %c = 0 to 32 {
      affine.for %h = 0 to 28 {
        affine.for %v = 0 to 2 {
          %zero = arith.constant 0.0 : f32 // beside
          affine.store %zero, %p[0, %c, %h + 1, %v * 15] : memref<1x32x30x16xf32>
        }
      }
    } {pb.nest = "y", pb.part = "pad"}
    affine.for %c = 0 to 32 {
      affine.for %h = 0 to 28 {
        affine.for %v = 0 to 14 {
          %a = affine.load %x[0, %c, %h, %v] : memref<1x32x28x14xf32>
          affine.store %a, %p[0, %c, %h + 1, %v + 1] : memref<1x32x30x16xf32>
        }
      }
    } {pb.nest = "y", pb.part = "pad"}
    affine.for %o = 0 to 32 {
      affine.for %h = 0 to 28 {
        affine.for %v = 0 to 14 {
          %zero = arith.constant 0.0 : f32
          affine.store %zero, %y[0, %o, %h, %v] : memref<1x32x28x14xf32>
        }
      }
    } {pb.nest = "y", pb.part = "init"}
    affine.for %o = 0 to 32 {
      affine.for %h = 0 to 28 {
        affine.for %v = 0 to 14 {
          affine.for %c = 0 to 32 {
            affine.for %r = 0 to 3 {
              affine.for %s = 0 to 3 {
                %a = affine.load %p[0, %c, %h + %r, %v + %s] : memref<1x32x30x16xf32>
                %b = affine.load %w[%o, %c, %r, %s] : memref<32x32x3x3xf32>
                %product = arith.mulf %a, %b : f32
                %so_far = affine.load %y[0, %o, %h, %v] : memref<1x32x28x14xf32>
                %sum = arith.addf %so_far, %product : f32
                affine.store %sum, %y[0, %o, %h, %v] : memref<1x32x28x14xf32>
              }
            }
          }
        }
      }
    } {pb.nest = "y", pb.part = "reduce"}
    return
  }
}
