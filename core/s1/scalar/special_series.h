// Made by core/math/fit_wide.py: coefficients of powers, the lowest first, of a number that goes from -1 to 1 as what
// is said does through its range, or of what is said itself where it says no range.
// erf(x) / x - 1 by x^2, |x| at most 1
static const double erf_near[14] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,
                                    -0x1.b82ce312889bep-6,  0x1.565bcd0e650e1p-8,   -0x1.c02db3feedba8p-11,
                                    0x1.f9a326c2864b4p-14,  -0x1.f4d2562282ff2p-17, 0x1.b9e65114fcc87p-20,
                                    -0x1.5f6d978de772fp-23, 0x1.fc43a356a068dp-27,  -0x1.4e61eb4124ecbp-30,
                                    0x1.7f0f204500b63p-34,  -0x1.29cd9cfb6be5fp-38};
// erfc(x) e^(x^2) / t by t = 2 / (2 + x) in [1/15, 1]
static const double erfc_scaled[26] = {
    0x1.1192c6c2beb62p-1,   0x1.5a65ca949868ep-2,   0x1.fe88fa1411297p-4,   0x1.9571bd8468b6cp-7,
    -0x1.23a1389270285p-7,  -0x1.e07a8b82a29bdp-10, 0x1.267588521b2b9p-10,  0x1.38801d4e959c5p-13,
    -0x1.8c7d89828da7ep-13, 0x1.d88350a9415cap-17,  0x1.e15a24f926a6ap-16,  -0x1.6a4b88be61e7fp-17,
    -0x1.f848c94030b18p-20, 0x1.76d0ceb1e5438p-19,  -0x1.7dd527a7467efp-21, -0x1.34ce7ef61b01cp-22,
    0x1.30fd467aad172p-22,  -0x1.33c03781f7b8ap-24, -0x1.0c855c498f2d4p-25, 0x1.2d366b8f9e7d3p-25,
    -0x1.4e0845addc141p-27, -0x1.5116631c247fbp-28, 0x1.252a1ba7db3bap-28,  -0x1.8519a06c73314p-32,
    -0x1.2c8d0f5ba8b48p-31, 0x1.41cf8871651c9p-33};
// erf_inv(x) / x by w = -log(1 - x^2) in [0, 5]
static const double erf_inv_near[22] = {
    0x1.805c5cfcedef5p+0,   0x1.3bb315fc7682dp-1,   -0x1.abc1e0b47d830p-6,  -0x1.40b177277d2a5p-6,
    0x1.175c3f2267f54p-7,   -0x1.ff993aa2299b8p-12, -0x1.b553ca623fd26p-11, 0x1.326256fdd8cf7p-12,
    0x1.577844a721d75p-16,  -0x1.5b8eb23fdf6b7p-15, 0x1.2257383141404p-17,  0x1.7ebe100d658dbp-19,
    -0x1.f1ba10ab5a64ap-20, 0x1.23b2e69cc620cp-23,  0x1.adbc8255ba993p-23,  -0x1.308035a7c4db6p-24,
    -0x1.fc2ae427bfc7ep-28, 0x1.7b4ee4495102ap-27,  -0x1.95d56cc1f9a06p-30, -0x1.0c27152c04beep-30,
    0x1.fc23139d631fdp-33,  0x1.535e10a812debp-35};
// the same by the root of w in [sqrt(5), 6.01]
static const double erf_inv_far[32] = {
    0x1.fb6475cf1043fp+1,   0x1.e7c7eabd80ad2p+0,   0x1.c2f092fbf12f5p-9,   -0x1.402210cc50839p-8,
    0x1.aeca1d89743fbp-9,   -0x1.0bc9aa82bcce3p-9,  0x1.95f92c73bc7e6p-10,  -0x1.9a401abba73c6p-10,
    0x1.c4a0b9647c965p-10,  -0x1.bcd93195e34a6p-10, 0x1.56cb4a387fea1p-10,  -0x1.5256e870d10a5p-11,
    -0x1.e88f2cf383d71p-17, 0x1.a82ea24371e55p-12,  -0x1.cf34342af272fp-12, 0x1.05ecc2abd9d87p-12,
    -0x1.fef2b0cc7baa3p-16, -0x1.6ff67549061c4p-14, 0x1.93d0934f28e60p-14,  -0x1.8b075ce7b3d1ap-15,
    -0x1.4f0a6b44bd973p-18, 0x1.5ce4668b63f68p-16,  -0x1.259fbcc6e2ff7p-18, -0x1.1220019272141p-18,
    -0x1.4dd08f6c579d9p-18, 0x1.88412c30e74dap-18,  0x1.7315cb38021b6p-19,  -0x1.0060ef8954d64p-18,
    -0x1.190232cd20a25p-22, 0x1.06c240007bf0ap-20,  -0x1.7b6d9e4cc35c9p-25, -0x1.79ee4a446b296p-24};
// of f32: the same in [0, 5]
static const double erf_inv_near_f32[10] = {0x1.805c5d2263f97p+0,   0x1.3bb3170c0477fp-1,  -0x1.abc3c41f28760p-6,
                                            -0x1.40b41ec6cb32dp-6,  0x1.177beac0f0abap-7,  -0x1.fbe0b32b59182p-12,
                                            -0x1.bb4f413cb9c17p-11, 0x1.29dfd7dc217c4p-12, 0x1.2a0f0e270d969p-15,
                                            -0x1.17acb2013a703p-15};
// and by the root of w in [sqrt(5), 4.08]
static const double erf_inv_far_f32[10] = {0x1.7ee8f67203df6p+1,  0x1.da038b3cc171bp-1,   0x1.6cc94a7241220p-8,
                                           -0x1.efb01345cb28ap-9, 0x1.402cf1f105616p-9,   -0x1.8e5f233f4a37ap-10,
                                           0x1.909c5d42f9f56p-11, -0x1.939624338ec79p-13, -0x1.3d4ff664eb054p-14,
                                           0x1.cac3ca1687c95p-15};
// log(Gamma(x)) / ((x - 1) (x - 2)) on [1, 2.5]
static const double lgamma_near[25] = {
    0x1.ccf151e09cde8p-2,  -0x1.6f0c24a45af4ep-4,  0x1.9a4ce9b9f3bf3p-6,   -0x1.0766e3c5fa665p-7,
    0x1.6bf9401892b26p-9,  -0x1.06e73085a7779p-10, 0x1.8713b0ae11e87p-12,  -0x1.28e40056e03b6p-13,
    0x1.c99bde682e57fp-15, -0x1.64bd0068ecf24p-16, 0x1.18a1dd2fdddaep-17,  -0x1.bcca2bbb2350cp-19,
    0x1.62a18197ae3e5p-20, -0x1.1c04e71dacf69p-21, 0x1.c9177c9ffa3a7p-23,  -0x1.746950f0bfce8p-24,
    0x1.2ec8104fdb404p-25, -0x1.c8382bb13119cp-27, 0x1.6ccf889aae64fp-28,  -0x1.b86902579f7e6p-29,
    0x1.7bbceedc79605p-30, 0x1.6ff3d9a9f6a25p-34,  -0x1.0b2c7de292d1bp-34, -0x1.d131d0117a937p-33,
    0x1.930ae50b2dfacp-34};
// digamma(x) / (x - 1.4616321449683623), its zero, on [1, 2]
static const double digamma_near[22] = {
    0x1.e6f0cbb873617p-1,  -0x1.b1cb63005ee98p-3,  0x1.eca189b8e6d96p-5,  -0x1.2feeeb98a78cbp-6,
    0x1.8512e5905dd72p-8,  -0x1.fb44202a259cep-10, 0x1.4de9aa0586825p-11, -0x1.b9f8b11b2f98ep-13,
    0x1.256475f55026cp-14, -0x1.8635641765f08p-16, 0x1.03c0062d5da4dp-17, -0x1.5a06a23d62223p-19,
    0x1.cd3e85814fdf6p-21, -0x1.336df991b5f25p-22, 0x1.980cd9cddd2dep-24, -0x1.0fb126d4c2892p-25,
    0x1.7b4f44a239051p-27, -0x1.fdacdb7508852p-29, 0x1.dbf3f4569847fp-31, -0x1.2f41994664278p-32,
    0x1.1089124bb5df7p-32, -0x1.761380b8f00cep-34};
// e^-x I1(x) / x (1 + x) (1 + x / 8), which is nearly flat, on [0, 8]
static const double i1e_near[29] = {
    0x1.57339cd5775e7p-2,   -0x1.41e4718633637p-4,  0x1.48b4cbdc8e40dp-4,   -0x1.d60bb1dbefc7bp-5,
    0x1.08581b3f0ba6dp-5,   -0x1.38b0ebe1603f3p-7,  -0x1.dd82ad54f7b12p-8,  0x1.109b70c9ded91p-6,
    -0x1.3ac603d0fed97p-6,  0x1.19dd2f951fb1ap-6,   -0x1.ad677ece9a804p-7,  0x1.20bebf0c38066p-7,
    -0x1.5d7b95a4d1776p-8,  0x1.812075ea572a6p-9,   -0x1.854d52902271cp-10, 0x1.6ab27ae865000p-11,
    -0x1.3844b1c4932e8p-12, 0x1.f132e8274fafep-14,  -0x1.6d22edbe6a576p-15, 0x1.eaf77e7c5f952p-17,
    -0x1.2ac642417dcc1p-18, 0x1.451029a23ce5ep-20,  -0x1.1a4f5f65eac4ap-22, 0x1.c3934c987d2c9p-27,
    0x1.f2628ea20d1f7p-27,  -0x1.e8cb58ecfcbc7p-32, 0x1.dcc2c12574e84p-30,  -0x1.164cbc8d40801p-28,
    0x1.73b57bdae8d50p-30};
// e^-x I1(x) sqrt(x) by 8 / x in [0, 1]
static const double i1e_far[23] = {
    0x1.8ebe783a84030p-2,   -0x1.3f796198ee5f2p-7,  -0x1.cbc54df1d5adep-13, -0x1.f89c230b1cff7p-17,
    -0x1.ec8e123ea3305p-20, -0x1.76136f2224d58p-22, -0x1.ad8b35adc406dp-24, -0x1.728031a19cd4fp-25,
    -0x1.91e151ca6bf60p-26, -0x1.20eff28d4a481p-27, 0x1.d60cff70f4ce9p-28,  0x1.df9cb68b531c7p-27,
    0x1.805f9b8194527p-28,  -0x1.ff93ffdcd90fap-28, -0x1.dfed018844927p-28, 0x1.a8422bea1b481p-29,
    0x1.4a94ecae55871p-28,  -0x1.23387a0da1fa7p-30, -0x1.3bb2a62cd1582p-29, 0x1.219eade6f6241p-32,
    0x1.7c45609d3fdd4p-31,  -0x1.2806c9c773320p-35, -0x1.acea3b2532277p-34};
