//===- codes.td - codes of chips, with a sign or without ---------------------===//
//
// What descriptions of chips say otherwise where codes are numbers of 0 to 255 (UNSIGNED): such chips multiply codes without
// sign by weights with one, as TPU v1 and many chips of the edge do, and clamp results to 255. Included by these descriptions.
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
