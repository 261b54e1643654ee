// Made by core/math/fit_wide.py: series of Chebyshev's polynomials, and of powers where it says so.
// erf(x) / x - 1 by powers of x^2, |x| <= 1
static const double erf_near[14] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,
                                    -0x1.b82ce312889bep-6,  0x1.565bcd0e650e1p-8,   -0x1.c02db3feedba8p-11,
                                    0x1.f9a326c2864b4p-14,  -0x1.f4d2562282ff2p-17, 0x1.b9e65114fcc87p-20,
                                    -0x1.5f6d978de772fp-23, 0x1.fc43a356a068dp-27,  -0x1.4e61eb4124ecbp-30,
                                    0x1.7f0f204500b63p-34,  -0x1.29cd9cfb6be5fp-38};
// erfc(x) e^(x^2) / t by t = 2 / (2 + x) in [1/4, 2/3]
static const double erf_far[16] = {
    0x1.fa9634c2ae066p-2,   0x1.13fe5f763e070p-3,   0x1.7ad260db3727ap-7,  0x1.892a6260c8dacp-12,
    -0x1.1ac0717dd8b5ap-15, -0x1.8b90709391a55p-19, 0x1.91314decec90dp-23, 0x1.5df8837ce64e3p-26,
    -0x1.fe7e4f3c109dep-30, -0x1.0b4c5d6ff0877p-33, 0x1.85dd7e13351b2p-36, 0x1.c181dd15699bep-44,
    -0x1.0b19f96b94454p-42, 0x1.092505bfc081ep-46,  0x1.d37f64e6a2d36p-50, -0x1.619736f2855fep-52};
