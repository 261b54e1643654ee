# tpu_v1 whose Weight DRAM has room for two tiles, with the other weights in a flash memory: three_memories SOURCE > FILE.td
three_memories() {
  sed 's/\(def DRAM .*Bytes = \)!shl(1, 33)/\1131072/' "$1/tests/chips/tpu_v1.td"
  cat << 'EOF_TD'
def FLASH : Memory { let Scope = "constants"; let Bytes = !shl(1, 24); let RowBytes = 64; let BytesPerCycle = 16; let Latency = 100; }
def FlashTile : Window<FLASH, I8, ["k", "n"], "off", ["sk", "elem"], 1> { let Slot = "arg"; }
def READ_FLASH : Op<WT, 22> {
  let Summary = "a tile of weights from FLASH into the FIFO"; bits<3> arg; bits<28> off; bits<14> sk;
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins FlashTile:$s, Window<FIFO, I8, ["k", "n"], "", ["row", "elem"]>:$d);
  let Semantics = (set $d, $s); let Cycles = (plus 4096, 0); let Latency = 2; let Signed = ["off"];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{54-41} = sk;
}
EOF_TD
}
