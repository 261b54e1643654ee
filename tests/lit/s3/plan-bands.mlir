// What the bands of a tile in registers may be: parts of the sum, rows and columns one inside the other, steps of the sum.
// RUN: echo 'k0 = {bands = array<i64: 2, 150, 1, 24, 0, 4, 2, 15>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 4 : i64, w_depth = 1 : i64, w_level = 4 : i64, x_depth = 1 : i64, x_level = 4 : i64}' > %t.inner.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.inner.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=INNER
// RUN: echo 'k0 = {bands = array<i64: 0, 8, 1, 24, 0, 4, 2, 15>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 3 : i64, w_depth = 1 : i64, w_level = 4 : i64, x_depth = 1 : i64, x_level = 4 : i64}' > %t.apart.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.apart.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=APART
// RUN: echo 'k0 = {bands = array<i64: 1, 24, 0, 4, 2, 15>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 1 : i64, w_depth = 1 : i64, w_level = 3 : i64, x_depth = 1 : i64, x_level = 3 : i64}' > %t.early.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.early.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=EARLY
// RUN: echo 'k0 = {bands = array<i64: 1, 20, 0, 4, 2, 15>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 2 : i64, w_depth = 1 : i64, w_level = 3 : i64, x_depth = 1 : i64, x_level = 3 : i64}' > %t.cut.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.cut.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=CUT
// RUN: echo 'k0 = {bands = array<i64: 1, 24, 0, 4, 2, 17>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 2 : i64, w_depth = 1 : i64, w_level = 3 : i64, x_depth = 1 : i64, x_level = 3 : i64}' > %t.rest.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.rest.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=REST
// RUN: echo 'k0 = {bands = array<i64: 9, 2, 1, 24, 0, 4>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 3 : i64, w_depth = 1 : i64, w_level = 3 : i64, x_depth = 1 : i64, x_level = 3 : i64}' > %t.none.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.none.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=NONE
// RUN: echo 'k0 = {bands = array<i64: 1, 24, 0, 4, 2, 15>, parts = array<i64: 1, 1>, result_depth = 1 : i64, result_level = 2 : i64, w_depth = 1 : i64, w_level = 2 : i64, x_depth = 1 : i64, x_level = 2 : i64}' > %t.copies.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.copies.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=COPIES
// INNER: band 3 walks dim 2 of the reduction outside result_level
// APART: bands of rows and of columns are not one inside the other, one for each dim
// EARLY: a band inside result_level is of no summed dim
// CUT: a tile is no whole number of registers
// REST: a sum is not taken in equal steps
// NONE: a band names a dim that is not there
// COPIES: operands are in registers: x_level and w_level are inside all bands, and there is one copy of each
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<130x300xf32>, tensor<300x70xf32>) -> tensor<130x70xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<130x300xf32>, %w: tensor<300x70xf32>):
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<130x300xf32>, tensor<300x70xf32>) -> tensor<130x70xf32>
    "func.return"(%y) : (tensor<130x70xf32>) -> ()
  }) : () -> ()
}) : () -> ()
