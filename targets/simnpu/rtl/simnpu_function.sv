// exp2, 1/x and 1/sqrt(x): range reduction and scaling around a table of polynomials. Bit for bit what tdl/function.c
// evaluates, which also makes the tables. The polynomial itself is computed in the lanes' pipeline.
package simnpu_function;
  import simnpu_pkg::*;
  import simnpu_f32::*;

  localparam int EXP2_FRACTION = 26;
  localparam int MANTISSA = 23;

  typedef enum logic [1:0] {
    EXP2,
    RECIP,
    RSQRT
  } which_t;

  // How a lane ends: 2^q times the polynomial with a sign, or a value of its own.
  typedef struct packed {
    logic special, nan, infinite, sign;
    logic signed [9:0] q;
  } scale_t;

  localparam int INDEX_W = 8;
  typedef logic [INDEX_W-1:0] index_t;
  typedef struct packed {
    scale_t scale;
    logic [31:0] t;  // the argument within the segment
    index_t index;
  } reduced_t;

  function automatic reduced_t special(input logic nan, input logic infinite, input logic sign);
    special = '0;
    special.scale = '{special: 1, nan: nan, infinite: infinite, sign: sign, q: 0};
  endfunction

  function automatic reduced_t reduce_exp2(input logic [31:0] x);
    /*verilator no_inline_task*/
    logic [39:0] magnitude;
    logic signed [40:0] steps;
    logic [EXP2_FRACTION-1:0] fraction;
    reduced_t s;
    if (x[30:23] >= 135) return special(0, !x[31], 0);
    magnitude = {16'b0, 1'b1, x[22:0]};
    if (x[30:23] >= 124) magnitude = magnitude << (x[30:23] - 124);
    else if (x[30:23] > 100) magnitude = magnitude >> (124 - x[30:23]);
    else magnitude = 0;
    steps = x[31] ? -$signed({1'b0, magnitude}) : $signed({1'b0, magnitude});
    fraction = steps[EXP2_FRACTION-1:0];
    s.index = index_t'(fraction[EXP2_FRACTION-1-:EXP2_TABLE_BITS]);
    s.scale = '0;
    s.scale.q = 10'(steps >>> EXP2_FRACTION);
    if (s.scale.q >= 128) return special(0, 1, 0);
    if (s.scale.q < -150) return special(0, 0, 0);
    s.t = f32_from_i32(32'(fraction[EXP2_FRACTION-EXP2_TABLE_BITS-1:0]));
    return s;
  endfunction

  function automatic reduced_t reduce_power(input logic root, input logic [31:0] x);
    /*verilator no_inline_task*/
    logic [22:0] mantissa;
    logic signed [9:0] exponent;
    logic [5:0] n;
    reduced_t s;
    if (x[30:0] == 0) return special(0, 1, x[31]);
    if (root && x[31]) return special(1, 0, 0);
    if (x[30:23] == 255) return special(0, 0, x[31]);
    mantissa = x[22:0];
    exponent = {2'b0, x[30:23]} - 127;
    if (x[30:23] == 0) begin
      n = f32_clz({x[22:0], 9'b0});
      mantissa = 23'(x[22:0] << (n + 1));
      exponent = -10'sd127 - 10'(n);
    end
    s.scale = '0;
    if (root) begin
      s.index = index_t'({exponent[0], mantissa[22-:RSQRT_TABLE_BITS]});
      s.scale.q = -(exponent >>> 1);
      s.t = f32_from_i32(32'(mantissa[MANTISSA-RSQRT_TABLE_BITS-1:0]));
          end else begin
      s.index = index_t'(mantissa[22-:RECIP_TABLE_BITS]);
      s.scale.sign = x[31];
      s.scale.q = -exponent;
      s.t = f32_from_i32(32'(mantissa[MANTISSA-RECIP_TABLE_BITS-1:0]));
          end
    return s;
  endfunction

  function automatic reduced_t reduce(input which_t which, input logic [31:0] x);
    if (f32_is_nan(x)) return special(1, 0, 0);
    if (which == EXP2) return reduce_exp2(x);
    return reduce_power(which == RSQRT, x);
  endfunction

  function automatic logic [95:0] coefficients(input which_t which, input index_t index);  // c2, c1, c0
    case (which)
      EXP2: return {EXP2_C2[index[EXP2_TABLE_BITS-1:0]], EXP2_C1[index[EXP2_TABLE_BITS-1:0]], EXP2_C0[index[EXP2_TABLE_BITS-1:0]]};
      RECIP:
      return {RECIP_C2[index[RECIP_TABLE_BITS-1:0]], RECIP_C1[index[RECIP_TABLE_BITS-1:0]], RECIP_C0[index[RECIP_TABLE_BITS-1:0]]};
      default:
      return {RSQRT_C2[index[RSQRT_TABLE_BITS:0]], RSQRT_C1[index[RSQRT_TABLE_BITS:0]], RSQRT_C0[index[RSQRT_TABLE_BITS:0]]};
    endcase
  endfunction

  // p * 2^q, rounded once: far exponents go half way by the exponent field and the rest by a multiplication.
  function automatic logic [31:0] finish(input logic [31:0] p, input scale_t s);
    /*verilator no_inline_task*/
    logic signed [9:0] by;
    logic [31:0] rest;
    if (s.special) return s.nan ? F32_NAN : {s.sign, s.infinite ? F32_INF[30:0] : 31'b0};
    by = s.q;
    rest = F32_ONE;
    if (s.q > 60) begin by = s.q - 64; rest = {1'b0, 8'(127 + 64), 23'b0}; end
    if (s.q < -60) begin by = s.q + 64; rest = {1'b0, 8'(127 - 64), 23'b0}; end
    return f32_mul(p + (32'(by) << 23), rest) | {s.sign, 31'b0};
  endfunction

endpackage
