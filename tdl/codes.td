//===- codes.td - codes of chips, with a sign or without ---------------------===//
//
// Words for descriptions of chips that come in two kinds: with codes of -128 to 127, or (#define UNSIGNED in front of the
// include) with codes of 0 to 255. Such chips multiply codes without sign by weights with one, as TPU v1 and many chips of the
// edge do, and clamp results to 255. Included behind pb.td.
//
//   Wide, Wide64        a code as i32, as i64            Most, ToCode        the largest code; from f32
//   Larger              acc_max of codes                 Signed...           lists for Signed of fields: lo; zp lo hi; ...
//   Zero, Low, High     $zp, $lo, $hi as f32             X, XZero, Z, ZZero  $x, $za, $z, $zb as f32
//===----------------------------------------------------------------------===//

#ifdef UNSIGNED
defvar Wide = zext;
defvar Wide64 = zext64;
defvar Most = 255;
defvar Larger = acc_maxu;
defvar ToCode = fptoui8;
defvar SignedLow = []<string>;
defvar SignedCodes = []<string>;
defvar SignedZeros = []<string>;
defvar SignedZero = []<string>;
defvar SignedFill = ["off"];
defvar Zero = (sitofp (zext $zp));
defvar Low = (sitofp (zext $lo));
defvar High = (sitofp (zext $hi));
defvar X = (sitofp (zext $x));
defvar XZero = (sitofp (zext $za));
defvar Z = (sitofp (zext $z));
defvar ZZero = (sitofp (zext $zb));
#else
defvar Wide = sext;
defvar Wide64 = sext64;
defvar Most = 127;
defvar Larger = acc_max;
defvar ToCode = fptosi8;
defvar SignedLow = ["lo"];
defvar SignedCodes = ["zp", "lo", "hi"];
defvar SignedZeros = ["za", "zb"];
defvar SignedZero = ["za"];
defvar SignedFill = ["fill", "off"];
defvar Zero = (sitofp $zp);
defvar Low = (sitofp $lo);
defvar High = (sitofp $hi);
defvar X = (sitofp $x);
defvar XZero = (sitofp $za);
defvar Z = (sitofp $z);
defvar ZZero = (sitofp $zb);
#endif
