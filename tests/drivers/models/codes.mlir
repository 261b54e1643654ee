"builtin.module"() ({
  "func.func"() <{function_type = (tensor<64xui8>, tensor<64xui8>) -> tensor<64xui8>, sym_name = "main"}> ({
  ^bb0(%a: tensor<64xui8>, %b: tensor<64xui8>):
    %0 = "stablehlo.add"(%a, %b) : (tensor<64xui8>, tensor<64xui8>) -> tensor<64xui8>
    "func.return"(%0) : (tensor<64xui8>) -> ()
  }) : () -> ()
}) : () -> ()
