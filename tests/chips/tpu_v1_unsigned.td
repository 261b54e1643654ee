// tpu_v1 whose activations are codes of 0 to 255, as models of uint8 want it; a command turns those of int8 over.
#define UNSIGNED
include "tpu_v1.td"

def TURN : Activate<22> {
  let Summary = "codes with a sign to those without, and back"; let Operands = (ins AC8:$x, YC:$d);
  let Semantics = (set $d, (trunc8 (xor (sext $x), (i32c -128))));
}
