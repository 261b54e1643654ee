// Made by core/math/fit_wide.py: coefficients of powers, the lowest first, of a number that goes from -1 to 1 as what
// is said does through its range, or of what is said itself where it says no range.
// erf(x) / x - 1 by x^2, |x| at most 1
static const double erf_near[14] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,
                                    -0x1.b82ce312889bep-6,  0x1.565bcd0e650e1p-8,   -0x1.c02db3feedba8p-11,
                                    0x1.f9a326c2864b4p-14,  -0x1.f4d2562282ff2p-17, 0x1.b9e65114fcc87p-20,
                                    -0x1.5f6d978de772fp-23, 0x1.fc43a356a068dp-27,  -0x1.4e61eb4124ecbp-30,
                                    0x1.7f0f204500b63p-34,  -0x1.29cd9cfb6be5fp-38};
// erfc(x) e^(x^2) / t by t = 2 / (2 + x) in [1/4, 2/3]
static const double erf_far[16] = {
    0x1.eeb6bf0e7385bp-2,   0x1.11a8d2c7441aep-3,   0x1.7f4bbe6207f52p-6,  0x1.98eb900328f41p-10,
    -0x1.2479cc164f3c6p-12, -0x1.9f24f700c2506p-15, 0x1.b2d27baac03b0p-18, 0x1.70cc7e1759701p-20,
    -0x1.1f832d407428dp-22, -0x1.0b6c621e3fa8fp-25, 0x1.ba24d21cc6641p-27, -0x1.0c42cf758576fp-33,
    -0x1.24aaf0f0312cdp-31, 0x1.5c0476a097c45p-34,  0x1.d37f64e6a2d36p-37, -0x1.619736f2855fep-38};
