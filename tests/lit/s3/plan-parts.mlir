// Columns that end inside a register: the last one lies over the columns in front of it. A tile of it alone would add its
// part of a sum to what the tile before it has made of the same columns; in a tile with others it does not.
// RUN: echo 'k0 { loop d2 step 150 loop d1 step 16 loop d0 step 6 over thread 8 home result, 1 copy loop d2 step 15 }' > %t.one.txt
// RUN: not %pbc %s --target=cpu:v3 --plan=%t.one.txt --emit=plan 2>&1 | %FileCheck %s --check-prefix=ONE
// RUN: echo 'k0 { loop d2 step 150 loop d1 step 24 loop d0 step 4 over thread 8 home result, 1 copy loop d2 step 15 }' > %t.three.txt
// RUN: %pbc %s --target=cpu:v3 --plan=%t.three.txt --emit=plan | %FileCheck %s --check-prefix=THREE
// ONE: parts of a sum would be added twice where the last register of a row lies over another tile
// THREE: loop d1 step 24 // of 70, columns
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<130x300xf32>, tensor<300x70xf32>) -> tensor<130x70xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<130x300xf32>, %w: tensor<300x70xf32>):
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<130x300xf32>, tensor<300x70xf32>) -> tensor<130x70xf32>
    "func.return"(%y) : (tensor<130x70xf32>) -> ()
  }) : () -> ()
}) : () -> ()
