// What the loops of a tile in registers may be: parts of the sum, rows and columns one inside the other, steps of the sum.
// RUN: echo 'k0 { loop d2 step 150 loop d1 step 24 loop d0 step 4 loop d2 step 15 home result, 1 copy }' > %t.inner.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.inner.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=INNER
// RUN: echo 'k0 { loop d0 step 8 loop d1 step 24 loop d0 step 4 home result, 1 copy loop d2 step 15 }' > %t.apart.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.apart.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=APART
// RUN: echo 'k0 { loop d1 step 24 home result, 1 copy loop d0 step 4 loop d2 step 15 }' > %t.early.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.early.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=EARLY
// RUN: echo 'k0 { loop d1 step 20 loop d0 step 4 home result, 1 copy loop d2 step 15 }' > %t.cut.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.cut.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=CUT
// RUN: echo 'k0 { loop d1 step 24 loop d0 step 4 home result, 1 copy loop d2 step 17 }' > %t.rest.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.rest.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=REST
// RUN: echo 'k0 { loop d9 step 2 loop d1 step 24 loop d0 step 4 home result, 1 copy }' > %t.none.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.none.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=NONE
// RUN: echo 'k0 { loop d1 step 24 loop d0 step 4 home result, 1 copy loop d2 step 15 home x, 1 copy, inside 2 }' > %t.copies.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.copies.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=COPIES
// INNER: loop 3, over d2, which is summed, is outside the result's home
// APART: loops of rows and of columns are not one inside the other, one for each dim
// EARLY: a loop inside the result's home is of no summed dim
// CUT: a tile is no whole number of registers
// REST: a sum is not taken in equal steps
// NONE: a loop walks a dim that is not there
// COPIES: operands are in registers: x and w have one home of one copy, inside all loops
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<130x300xf32>, tensor<300x70xf32>) -> tensor<130x70xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<130x300xf32>, %w: tensor<300x70xf32>):
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<130x300xf32>, tensor<300x70xf32>) -> tensor<130x70xf32>
    "func.return"(%y) : (tensor<130x70xf32>) -> ()
  }) : () -> ()
}) : () -> ()
