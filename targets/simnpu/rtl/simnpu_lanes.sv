// The arithmetic of the vector unit: D lanes, eight stages, a row a cycle. Stages 3 to 8 serve each kind of command:
//
//            3            4          5            6           7           8
//   codes    multiply     add        roundeven    zero point  clamp
//   words    multiply     add, max
//   function reduce       c2 * t     c1 +         * t         c0 +        scale
//   rows     of codes: tree over neighbouring lanes, a level a stage      the old value
//            of f32, a stage earlier: the old value takes the adders of functions
//   each     all of it in stage 2
//   norms    scale, in front of stage 3 by the row, then as codes
//
// Division and square root stand in one stage here; as built they take stages 3 to 7, some bits in each.
module simnpu_lanes
  import simnpu_pkg::*;
  import simnpu_types::*;
  import simnpu_lane_types::*;
  import simnpu_f32::*;
  import simnpu_function::*;
(
    input logic clk,
    input logic rst,
    input logic enable,  // all stages advance
    input logic enter,
    input lane_tag_t tag,
    input logic [WORD_ROW-1:0] a,  // rows of codes in the low bytes
    input logic [WORD_ROW-1:0] b,
    input logic [BYTE_ROW-1:0] c,  // truths, bytes
    input logic [WORD_ROW-1:0] p0,
    input logic [WORD_ROW-1:0] p1,
    input logic [WORD_ROW-1:0] tables[TABLES*TABLE_ROWS],
    output logic empty,
    output logic out_valid,
    output lane_tag_t out_tag,
    output logic [WORD_ROW-1:0] out
);
  typedef logic [WORD_ROW-1:0] words_t;
  localparam int LEVELS = $clog2(D);

  logic [8:1] valid;
  lane_tag_t t1, t2, t3, t4, t5, t6, t7, t8;
  words_t x1, x2, x3, x4, x5, x6, x7, x8;  // the value
  words_t z1, z2, z3, z4, z5, z6, z7;  // a second operand; of row reductions the old value, kept to the end
  words_t u1, u2, u3, u4;  // scale, coefficient 1
  words_t w1, w2, w3, w4, w5, w6;  // scale or shift of the second operand, coefficient 0
  logic [BYTE_ROW-1:0] c1;
  scale_t [D-1:0] e3, e4, e5, e6, e7;
  words_t sums;

  assign empty = valid == 0;
  assign out_valid = valid[8];
  assign out_tag = t8;
  assign out = x8;

  function automatic logic [31:0] extend(input logic [7:0] code);
    return {{24{code[7]}}, code};
  endfunction

  // What sums and largest ones of f32 begin with.
  function automatic logic [31:0] nothing_of(input lane_op_t op);
    return op == ROW_SUM || op == ADD ? 0 : {1'b1, F32_INF[30:0]};
  endfunction

  function automatic logic [31:0] of_codes(input lane_op_t op, input logic [31:0] x, input logic [31:0] y);
    if (op == ROW_MAX_CODES) return $signed(x) > $signed(y) ? x : y;
    return x + y;
  endfunction

  function automatic words_t level_of_codes(input lane_op_t op, input words_t x, input int lanes);
    level_of_codes = x;
    for (int l = 0; l < D / 2; ++l)
      if (l < lanes) level_of_codes[32*l+:32] = of_codes(op, x[64*l+:32], x[64*l+32+:32]);
  endfunction

  localparam int LANE_W = $clog2(D);
  localparam int TABLES_W = $clog2(TABLES * TABLE_ROWS);
  function automatic logic [31:0] look_up(input logic [1:0] which, input logic [7:0] code);
    automatic logic [7:0] index = code ^ 8'h80;
    return tables[TABLES_W'(which) * TABLES_W'(TABLE_ROWS) + TABLES_W'(index[7:LANE_W])][32*index[LANE_W-1:0]+:32];
  endfunction

  function automatic logic [31:0] each(input each_t what, input logic [31:0] x, input logic [31:0] z, input logic truth,
                                       input logic [31:0] number);
    case (what)
      E_ADD: return x + z;
      E_SUB: return x - z;
      E_MUL: return x * z;
      E_MAX: return $signed(x) > $signed(z) ? x : z;
      E_MIN: return $signed(x) < $signed(z) ? x : z;
      E_AND: return x & z;
      E_OR: return x | z;
      E_XOR: return x ^ z;
      E_SHL: return x << z[4:0];
      E_SHR: return $signed(x) >>> z[4:0];
      E_SHRU: return x >> z[4:0];
      E_MAXF: return f32_maximum(x, z);
      E_MINF: return f32_minimum(x, z);
      E_EQ: return {31'b0, x == z};
      E_LT: return {31'b0, $signed(x) < $signed(z)};
      E_LE: return {31'b0, $signed(x) <= $signed(z)};
      E_LTU: return {31'b0, x < z};
      E_EQF: return {31'b0, f32_equal(x, z)};
      E_LTF: return {31'b0, f32_below(x, z)};
      E_LEF: return {31'b0, f32_below(x, z) || f32_equal(x, z)};
      E_SELECT: return truth ? x : z;
      E_NEGF: return {!x[31], x[30:0]};
      E_ABSF: return {1'b0, x[30:0]};
      E_FLOORF: return f32_integral(x, x[31]);
      E_CEILF: return f32_integral(x, !x[31]);
      E_ROUNDF: return f32_roundeven(x);
      E_WHOLEF: return f32_integral(x, 0);
      E_FLOAT: return f32_from_i32(x);
      E_SET: return number;
      default: return x;
    endcase
  endfunction

  // One level: lane l of the result from lanes 2l and 2l + 1.
  function automatic words_t level(input lane_op_t op, input words_t x, input int lanes);
    level = x;
    for (int l = 0; l < D / 2; ++l)
      if (l < lanes)
        level[32*l+:32] = op == ROW_SUM ? f32_add(x[64*l+:32], x[64*l+32+:32]) : f32_maximum(x[64*l+:32], x[64*l+32+:32]);
  endfunction

  function automatic logic [31:0] sums_in(input logic first, input logic keep, input logic [31:0] old, input logic [31:0] sum);
    return first ? (keep ? old : 0) : sum;
  endfunction

  always_ff @(posedge clk) begin
    if (rst) valid <= 0;
    else if (enable) begin
      valid <= {valid[7:1], enter};

      if (enter) begin
        t1 <= tag;
        u1 <= tag.op == REQUANTISE ? p1 : p0;
        w1 <= p1;
        z1 <= b;
        c1 <= c;
        case (tag.op)
          REQUANTISE: for (int l = 0; l < D; ++l) x1[32*l+:32] <= a[32*l+:32] + p0[32*l+:32];
          ADD_CODES:
          for (int l = 0; l < D; ++l) begin
            x1[32*l+:32] <= extend(a[8*l+:8]) - extend(tag.za);
            z1[32*l+:32] <= extend(b[8*l+:8]) - extend(tag.zb);
          end
          MAX_CODES:
          for (int l = 0; l < D; ++l)
            x1[32*l+:32] <= tag.keep && $signed(b[8*l+:8]) > $signed(a[8*l+:8]) ? extend(b[8*l+:8]) : extend(a[8*l+:8]);
          LOOK_UP, LOOK_UP_QUANTISE: for (int l = 0; l < D; ++l) x1[32*l+:32] <= look_up(tag.which, a[8*l+:8]);
          ROW_LOOK_UP: begin
            for (int l = 0; l < D; ++l) x1[32*l+:32] <= l < 32'(tag.count) ? look_up(tag.which, a[8*l+:8]) : 0;
            if (!tag.keep) z1 <= 0;
          end
          ROW_SUM_CODES, ROW_SQUARES: begin
            for (int l = 0; l < D; ++l) x1[32*l+:32] <= l < 32'(tag.count) ? extend(a[8*l+:8]) - extend(tag.za) : 0;
            if (!tag.keep) z1 <= 0;
          end
          ROW_MAX_CODES: begin
            for (int l = 0; l < D; ++l) x1[32*l+:32] <= l < 32'(tag.count) ? extend(a[8*l+:8]) : 32'h80000000;
            if (!tag.keep) z1 <= {D{32'h80000000}};
          end
          BELOW: for (int l = 0; l < D; ++l) x1[32*l+:32] <= extend(a[8*l+:8]) - b[32*l+:32] + 127;
          LESS_MEAN:
          for (int l = 0; l < D; ++l) begin
            x1[32*l+:32] <= extend(a[8*l+:8]) - extend(tag.za);
            z1[32*l+:32] <= b[32*l+:32] ^ 32'h80000000;
          end
          SUM_CODES, DEQUANTISE: for (int l = 0; l < D; ++l) x1[32*l+:32] <= extend(a[8*l+:8]) - extend(tag.za);
          SUB: begin
            x1 <= a;
            for (int l = 0; l < D; ++l) z1[32*l+:32] <= b[32*l+:32] ^ 32'h80000000;
          end
          EACH:
          for (int l = 0; l < D; ++l) begin
            x1[32*l+:32] <= tag.bytes[0] ? extend(a[8*l+:8]) : a[32*l+:32];
            z1[32*l+:32] <= tag.bytes[1] ? extend(b[8*l+:8]) : b[32*l+:32];
          end
          ROW_SUM, ROW_MAX: begin  // lanes behind the row's end leave the others' bits as they are
            for (int l = 0; l < D; ++l)
              x1[32*l+:32] <= l < 32'(tag.count) ? a[32*l+:32] : tag.op == ROW_SUM ? 32'h80000000 : nothing_of(tag.op);
            if (!tag.keep) z1 <= {D{nothing_of(tag.op)}};
          end
          default: begin
            x1 <= a;
            if (tag.onto && !tag.keep) z1 <= {D{nothing_of(tag.op)}};
          end
        endcase
      end

      if (valid[1]) begin
        t2 <= t1;
        x2 <= x1;
        z2 <= z1;
        u2 <= u1;
        w2 <= w1;
        case (t1.op)
          REQUANTISE, DEQUANTISE, CONVERT, LOOK_UP_QUANTISE, LESS_MEAN:
          for (int l = 0; l < D; ++l) x2[32*l+:32] <= f32_from_i32(x1[32*l+:32]);
          ROW_SUM, ROW_MAX: x2 <= level(t1.op, x1, D / 2);
          ROW_SQUARES: for (int l = 0; l < D; ++l) x2[32*l+:32] <= x1[32*l+:32] * x1[32*l+:32];
          EACH:
          for (int l = 0; l < D; ++l)
            x2[32*l+:32] <= each(t1.each, x1[32*l+:32], z1[32*l+:32], $signed(c1[8*l+:8]) > 0, t1.number);
          NORMALISE: for (int l = 0; l < D; ++l) x2[32*l+:32] <= f32_mul(x1[32*l+:32], z1[32*l+:32]);
          ADD_CODES:
          for (int l = 0; l < D; ++l) begin
            x2[32*l+:32] <= f32_from_i32(x1[32*l+:32]);
            z2[32*l+:32] <= f32_from_i32(z1[32*l+:32]);
          end
          SUM_CODES:
          for (int l = 0; l < D; ++l) begin
            sums[32*l+:32] <= x1[32*l+:32] + sums_in(t1.first, t1.keep, u1[32*l+:32], sums[32*l+:32]);
            x2[32*l+:32] <= x1[32*l+:32] + sums_in(t1.first, t1.keep, u1[32*l+:32], sums[32*l+:32]);
          end
          default: ;
        endcase
      end

      if (valid[2]) begin
        t3 <= t2;
        x3 <= x2;
        z3 <= z2;
        case (t2.op)
          REQUANTISE, QUANTISE, DEQUANTISE: for (int l = 0; l < D; ++l) x3[32*l+:32] <= f32_mul(x2[32*l+:32], u2[32*l+:32]);
          NORMALISE: begin
            for (int l = 0; l < D; ++l) x3[32*l+:32] <= f32_mul(x2[32*l+:32], u2[32*l+:32]);
            w3 <= w2;
          end
          DIV: for (int l = 0; l < D; ++l) x3[32*l+:32] <= f32_div(x2[32*l+:32], z2[32*l+:32]);
          SQRT: for (int l = 0; l < D; ++l) x3[32*l+:32] <= f32_sqrt(x2[32*l+:32]);
          ROW_SUM_CODES, ROW_SQUARES, ROW_LOOK_UP, ROW_MAX_CODES: x3 <= level_of_codes(t2.op, x2, D / 2);
          ADD_CODES:
          for (int l = 0; l < D; ++l) begin
            x3[32*l+:32] <= f32_mul(x2[32*l+:32], u2[32*l+:32]);
            z3[32*l+:32] <= f32_mul(z2[32*l+:32], w2[32*l+:32]);
          end
          MUL, LOOK_UP_QUANTISE: for (int l = 0; l < D; ++l) x3[32*l+:32] <= f32_mul(x2[32*l+:32], z2[32*l+:32]);
          FUNCTION:
          for (int l = 0; l < D; ++l) begin
            automatic reduced_t s = reduce(which_t'(t2.which), x2[32*l+:32]);
            x3[32*l+:32] <= s.t;
            e3[l] <= s.scale;
            {z3[32*l+:32], u3[32*l+:32], w3[32*l+:32]} <= coefficients(which_t'(t2.which), s.index);
          end
          ROW_SUM, ROW_MAX: x3 <= level(t2.op, x2, D / 4);
          default: ;
        endcase
      end

      if (valid[3]) begin
        t4 <= t3;
        x4 <= x3;
        z4 <= z3;
        case (t3.op)
          NORMALISE: for (int l = 0; l < D; ++l) x4[32*l+:32] <= f32_add(x3[32*l+:32], w3[32*l+:32]);
          ROW_SUM_CODES, ROW_SQUARES, ROW_LOOK_UP, ROW_MAX_CODES: x4 <= level_of_codes(t3.op, x3, D / 4);
          ADD_CODES, ADD, SUB, LESS_MEAN: for (int l = 0; l < D; ++l) x4[32*l+:32] <= f32_add(x3[32*l+:32], z3[32*l+:32]);
          MAX: for (int l = 0; l < D; ++l) x4[32*l+:32] <= f32_max(x3[32*l+:32], z3[32*l+:32]);
          MOST: for (int l = 0; l < D; ++l) x4[32*l+:32] <= f32_maximum(x3[32*l+:32], z3[32*l+:32]);
          MIN: for (int l = 0; l < D; ++l) x4[32*l+:32] <= f32_min(x3[32*l+:32], z3[32*l+:32]);
          FUNCTION: begin
            for (int l = 0; l < D; ++l) z4[32*l+:32] <= f32_mul(z3[32*l+:32], x3[32*l+:32]);
            u4 <= u3;
            w4 <= w3;
            e4 <= e3;
          end
          ROW_SUM, ROW_MAX: x4 <= level(t3.op, x3, D / 8);
          default: ;
        endcase
      end

      if (valid[4]) begin
        t5 <= t4;
        x5 <= x4;
        z5 <= z4;
        case (t4.op)
          ROW_SUM_CODES, ROW_SQUARES, ROW_LOOK_UP, ROW_MAX_CODES: x5 <= level_of_codes(t4.op, x4, D / 8);
          REQUANTISE, ADD_CODES, QUANTISE, LOOK_UP_QUANTISE, NORMALISE: for (int l = 0; l < D; ++l) x5[32*l+:32] <= f32_roundeven(x4[32*l+:32]);
          FUNCTION: begin
            for (int l = 0; l < D; ++l) z5[32*l+:32] <= f32_add(u4[32*l+:32], z4[32*l+:32]);
            w5 <= w4;
            e5 <= e4;
          end
          ROW_SUM, ROW_MAX: if (LEVELS > 3) x5 <= level(t4.op, x4, D / 16);
          default: ;
        endcase
      end

      if (valid[5]) begin
        t6 <= t5;
        x6 <= x5;
        z6 <= z5;
        case (t5.op)
          ROW_SUM_CODES, ROW_SQUARES, ROW_LOOK_UP, ROW_MAX_CODES: if (LEVELS > 3) x6 <= level_of_codes(t5.op, x5, D / 16);
          REQUANTISE, ADD_CODES, QUANTISE, LOOK_UP_QUANTISE, NORMALISE: begin
            automatic logic [31:0] zp = f32_from_i32(extend(t5.zp));
            for (int l = 0; l < D; ++l) x6[32*l+:32] <= f32_add(x5[32*l+:32], zp);
          end
          FUNCTION: begin
            for (int l = 0; l < D; ++l) z6[32*l+:32] <= f32_mul(z5[32*l+:32], x5[32*l+:32]);
            w6 <= w5;
            e6 <= e5;
          end
          ROW_SUM, ROW_MAX: if (LEVELS > 4) x6 <= level(t5.op, x5, D / 32);
          default: ;
        endcase
      end

      if (valid[6]) begin
        t7 <= t6;
        x7 <= x6;
        z7 <= z6;
        case (t6.op)
          ROW_SUM_CODES, ROW_SQUARES, ROW_LOOK_UP, ROW_MAX_CODES: if (LEVELS > 4) x7 <= level_of_codes(t6.op, x6, D / 32);
          REQUANTISE, ADD_CODES, QUANTISE, LOOK_UP_QUANTISE, NORMALISE: begin
            automatic logic [31:0] lo = f32_from_i32(extend(t6.lo));
            automatic logic [31:0] hi = f32_from_i32(extend(t6.hi));
            for (int l = 0; l < D; ++l) x7[32*l+:32] <= {24'b0, f32_to_i8(f32_min(f32_max(x6[32*l+:32], lo), hi))};
          end
          FUNCTION, ROW_SUM: begin
            for (int l = 0; l < D; ++l)
              z7[32*l+:32] <= f32_add(t6.op == FUNCTION ? w6[32*l+:32] : x6[31:0], z6[32*l+:32]);
            e7 <= e6;
          end
          ROW_MAX: for (int l = 0; l < D; ++l) z7[32*l+:32] <= f32_maximum(x6[31:0], z6[32*l+:32]);
          default: ;
        endcase
      end

      if (valid[7]) begin
        t8 <= t7;
        x8 <= x7;
        case (t7.op)
          FUNCTION: for (int l = 0; l < D; ++l) x8[32*l+:32] <= finish(z7[32*l+:32], e7[l]);
          ROW_SUM_CODES, ROW_SQUARES, ROW_LOOK_UP, ROW_MAX_CODES:
          for (int l = 0; l < D; ++l) x8[32*l+:32] <= of_codes(t7.op, z7[32*l+:32], x7[31:0]);
          ROW_SUM, ROW_MAX: x8 <= z7;
          default: ;
        endcase
      end
    end
  end
endmodule
