// IEEE 754 binary32, round to nearest even, subnormals kept; every NaN result is 0x7fc00000.
package simnpu_f32;

  localparam logic [31:0] F32_NAN = 32'h7fc00000;
  localparam logic [31:0] F32_INF = 32'h7f800000;
  localparam logic [31:0] F32_ONE = 32'h3f800000;

  function automatic logic f32_is_nan(input logic [31:0] a);
    return a[30:0] > F32_INF[30:0];
  endfunction

  // Leading zeros of a 32-bit word; 32 when it is 0.
  function automatic logic [5:0] f32_clz(input logic [31:0] value);
    /*verilator no_inline_task*/
    logic [31:0] v;
    logic [5:0] n;
    v = value;
    n = 0;
    if (v == 0) return 32;
    if (v[31:16] == 0) begin n = n + 16; v = v << 16; end
    if (v[31:24] == 0) begin n = n + 8; v = v << 8; end
    if (v[31:28] == 0) begin n = n + 4; v = v << 4; end
    if (v[31:30] == 0) begin n = n + 2; v = v << 2; end
    if (!v[31]) n = n + 1;
    return n;
  endfunction

  // Rounds and packs significand * 2^(exponent - 127 - 31), bit 31 of a nonzero significand being its first;
  // bit 0 is sticky. Exponents below 1 give subnormals.
  function automatic logic [31:0] f32_pack(input logic sign, input logic signed [11:0] exponent, input logic [31:0] significand);
    /*verilator no_inline_task*/
    logic [31:0] s, packed_bits;
    logic signed [11:0] shift;
    logic round;
    s = significand;
    if (s == 0) return {sign, 31'b0};
    if (exponent >= 255) return {sign, F32_INF[30:0]};
    shift = 1 - exponent;
    if (exponent < 1) s = shift > 31 ? 32'd1 : (s >> shift[4:0]) | 32'((s & ~(32'hffffffff << shift[4:0])) != 0);
    round = s[7] & (s[8] | (s[6:0] != 0));
    // A carry out of the mantissa steps the exponent, from subnormal to normal and from the largest to infinity too.
    packed_bits = {8'b0, s[31:8]} + 32'(round);
    packed_bits = packed_bits + (exponent < 1 ? 32'b0 : 32'(32'(exponent) - 1) << 23);
    return {sign, packed_bits[30:0]};
  endfunction

  function automatic logic [31:0] f32_mul(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    logic sign;
    logic [23:0] ma, mb;
    logic signed [11:0] ea, eb;
    logic [47:0] product;
    logic [5:0] n;
    sign = a[31] ^ b[31];
    if (f32_is_nan(a) || f32_is_nan(b)) return F32_NAN;
    if (a[30:23] == 255 || b[30:23] == 255) return a[30:0] == 0 || b[30:0] == 0 ? F32_NAN : {sign, F32_INF[30:0]};
    if (a[30:0] == 0 || b[30:0] == 0) return {sign, 31'b0};
    ea = {4'b0, a[30:23]};
    eb = {4'b0, b[30:23]};
    ma = {1'b1, a[22:0]};
    mb = {1'b1, b[22:0]};
    if (ea == 0) begin n = f32_clz({a[22:0], 9'b0}); ma = {a[22:0], 1'b0} << n; ea = -12'(n); end
    if (eb == 0) begin n = f32_clz({b[22:0], 9'b0}); mb = {b[22:0], 1'b0} << n; eb = -12'(n); end
    product = 48'(ma) * 48'(mb);
    if (product[47]) return f32_pack(sign, ea + eb - 126, {product[47:17], product[16:0] != 0});
    return f32_pack(sign, ea + eb - 127, {product[46:16], product[15:0] != 0});
  endfunction

  // The significand of a number other than 0, its first bit in front, and its biased exponent, below 1 of a subnormal.
  function automatic logic [35:0] f32_normal(input logic [31:0] a);
    logic [5:0] n;
    if (a[30:23] != 0) return {4'b0, a[30:23], 1'b1, a[22:0]};
    n = f32_clz({a[22:0], 9'b0});
    return {-12'(n), {a[22:0], 1'b0} << n};
  endfunction

  // Correctly rounded: 26 bits of the quotient say how it rounds, with what is left of it.
  function automatic logic [31:0] f32_div(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    logic sign;
    logic [35:0] na, nb;
    logic [51:0] dividend, quotient;
    logic signed [11:0] exponent;
    sign = a[31] ^ b[31];
    if (f32_is_nan(a) || f32_is_nan(b)) return F32_NAN;
    if (a[30:23] == 255) return b[30:23] == 255 ? F32_NAN : {sign, F32_INF[30:0]};
    if (b[30:23] == 255) return {sign, 31'b0};
    if (b[30:0] == 0) return a[30:0] == 0 ? F32_NAN : {sign, F32_INF[30:0]};
    if (a[30:0] == 0) return {sign, 31'b0};
    na = f32_normal(a);
    nb = f32_normal(b);
    exponent = $signed(na[35:24]) - $signed(nb[35:24]) + 127;
    dividend = {2'b0, na[23:0], 26'b0};
    quotient = dividend / {28'b0, nb[23:0]};  // in (2^25, 2^27)
    if (quotient * {28'b0, nb[23:0]} != dividend) quotient[0] = 1;
    if (quotient[26]) return f32_pack(sign, exponent, {quotient[26:0], 5'b0});
    return f32_pack(sign, exponent - 1, {quotient[25:0], 6'b0});
  endfunction

  // Correctly rounded: a bit of the root after the other, then what is left says whether it is exact.
  function automatic logic [31:0] f32_sqrt(input logic [31:0] a);
    /*verilator no_inline_task*/
    logic [35:0] na;
    logic [51:0] x;
    logic [51:0] rest, trial;
    logic [25:0] root;
    logic signed [11:0] exponent;
    int n;
    if (f32_is_nan(a)) return F32_NAN;
    if (a[30:0] == 0) return a;
    if (a[31]) return F32_NAN;
    if (a[30:23] == 255) return a;
    na = f32_normal(a);
    exponent = $signed(na[35:24]) - 127;
    // x is the significand with an even exponent, in [2^50, 2^52): its root has 26 bits
    x = exponent[0] ? {na[23:0], 28'b0} : {1'b0, na[23:0], 27'b0};
    root = 0;
    rest = x;
    for (n = 25; n >= 0; n = n - 1) begin
      trial = (52'(root) << (n + 1)) | (52'd1 << (2 * n));
      if (rest >= trial) begin
        rest = rest - trial;
        root = root | (26'd1 << n);
      end
    end
    return f32_pack(0, (exponent >>> 1) + 127, {root, 5'b0, rest != 0});
  endfunction

  function automatic logic [31:0] f32_add(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    logic [31:0] major, minor, mb, ms, sum;
    logic [8:0] eb, es;
    logic [8:0] shift;
    logic [5:0] n;
    if (f32_is_nan(a) || f32_is_nan(b)) return F32_NAN;
    if (a[30:0] >= b[30:0]) begin major = a; minor = b; end
    else begin major = b; minor = a; end
    if (major[30:23] == 255) return minor[30:23] == 255 && a[31] != b[31] ? F32_NAN : major;
    // Two's complement zero sum is +0; (-0) + (-0) stays -0.
    if (major[30:0] == 0) return {a[31] & b[31], 31'b0};
    eb = major[30:23] == 0 ? 1 : {1'b0, major[30:23]};
    es = minor[30:23] == 0 ? 1 : {1'b0, minor[30:23]};
    // One bit of head room, 24 of significand, 7 to round with.
    mb = {1'b0, major[30:23] != 0, major[22:0], 7'b0};
    ms = {1'b0, minor[30:23] != 0, minor[22:0], 7'b0};
    shift = eb - es;
    if (shift > 31) ms = 32'(ms != 0);
    else ms = (ms >> shift[4:0]) | 32'((ms & ~(32'hffffffff << shift[4:0])) != 0);
    sum = major[31] == minor[31] ? mb + ms : mb - ms;
    if (sum == 0) return 32'b0;
    n = f32_clz(sum);
    return f32_pack(major[31], 12'(eb) + 1 - 12'(n), sum << n[4:0]);
  endfunction

  function automatic logic [31:0] f32_from_i32(input logic [31:0] value);
    /*verilator no_inline_task*/
    logic [31:0] magnitude;
    logic [5:0] n;
    if (value == 0) return 0;
    magnitude = value[31] ? -value : value;
    n = f32_clz(magnitude);
    return f32_pack(value[31], 12'(158) - 12'(n), magnitude << n[4:0]);
  endfunction

  // To the nearest integral value, halves to even; the sign of a zero result is the argument's.
  function automatic logic [31:0] f32_roundeven(input logic [31:0] a);
    /*verilator no_inline_task*/
    logic [4:0] drop;
    logic [31:0] mask, half, rounded;
    if (f32_is_nan(a)) return F32_NAN;
    if (a[30:23] >= 150) return a;
    if (a[30:23] < 126) return {a[31], 31'b0};
    if (a[30:23] == 126) return a[22:0] == 0 ? {a[31], 31'b0} : {a[31], F32_ONE[30:0]};
    drop = 5'(150 - a[30:23]);
    mask = (32'd1 << drop) - 1;
    half = 32'd1 << (drop - 1);
    rounded = a & ~mask;
    // At exponent 127 the last kept bit is the hidden one, which is odd.
    if ((a & mask) > half || ((a & mask) == half && (drop == 23 || (a & (mask + 1)) != 0))) rounded = rounded + mask + 1;
    return rounded;
  endfunction

  // Towards 0, or away from it where there is a fraction; the sign of a zero result is the argument's.
  function automatic logic [31:0] f32_integral(input logic [31:0] a, input logic away);
    /*verilator no_inline_task*/
    logic [4:0] drop;
    logic [31:0] mask;
    if (f32_is_nan(a)) return F32_NAN;
    if (a[30:23] >= 150) return a;
    if (a[30:23] < 127) return {a[31], away && a[30:0] != 0 ? F32_ONE[30:0] : 31'b0};
    drop = 5'(150 - a[30:23]);
    mask = (32'd1 << drop) - 1;
    return (a & ~mask) + (away && (a & mask) != 0 ? mask + 1 : 32'd0);
  endfunction

  // Comparisons as IEEE 754 has them: both zeros are equal, NaN is not even itself.
  function automatic logic f32_equal(input logic [31:0] a, input logic [31:0] b);
    if (f32_is_nan(a) || f32_is_nan(b)) return 0;
    return a == b || (a[30:0] | b[30:0]) == 0;
  endfunction

  function automatic logic f32_below(input logic [31:0] a, input logic [31:0] b);
    if (f32_is_nan(a) || f32_is_nan(b)) return 0;
    return f32_less(a, b) && (a[30:0] | b[30:0]) != 0;
  endfunction

  // Order as integers, -0 below +0.
  function automatic logic f32_less(input logic [31:0] a, input logic [31:0] b);
    return $signed(a[31] ? {1'b1, ~a[30:0]} : a) < $signed(b[31] ? {1'b1, ~b[30:0]} : b);
  endfunction

  function automatic logic [31:0] f32_max(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    if (f32_is_nan(a)) return f32_is_nan(b) ? F32_NAN : b;
    if (f32_is_nan(b)) return a;
    return f32_less(a, b) ? b : a;
  endfunction

  function automatic logic [31:0] f32_min(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    if (f32_is_nan(a)) return f32_is_nan(b) ? F32_NAN : b;
    if (f32_is_nan(b)) return a;
    return f32_less(b, a) ? b : a;
  endfunction

  // The same, where NaN wins.
  function automatic logic [31:0] f32_maximum(input logic [31:0] a, input logic [31:0] b);
    return f32_is_nan(a) || f32_is_nan(b) ? F32_NAN : f32_max(a, b);
  endfunction

  function automatic logic [31:0] f32_minimum(input logic [31:0] a, input logic [31:0] b);
    return f32_is_nan(a) || f32_is_nan(b) ? F32_NAN : f32_min(a, b);
  endfunction

  // An integral value in [-128, 127].
  function automatic logic [7:0] f32_to_i8(input logic [31:0] a);
    /*verilator no_inline_task*/
    logic [7:0] magnitude;
    if (a[30:23] < 127) return 0;
    magnitude = 8'({1'b1, a[22:16]} >> (134 - a[30:23]));
    return a[31] ? -magnitude : magnitude;
  endfunction

endpackage
