// A vector command's fields, by the positions that the description gives each instruction.
`define FIELD(INSN, NAME) cmd[INSN``_``NAME``_LSB +: INSN``_``NAME``_W]
`define WINDOW(INSN, ACC, B) '{used: 1, acc: ACC, row: row_t'(`FIELD(INSN, B)), \
                               i_step: row_t'(`FIELD(INSN, B``I)), j_step: row_t'(`FIELD(INSN, B``J))}
`define CODES(INSN) begin \
  job.y = `WINDOW(INSN, 0, Y); job.tag.zp = `FIELD(INSN, ZP); job.tag.lo = `FIELD(INSN, LO); job.tag.hi = `FIELD(INSN, HI); end
`define BINARY(INSN, OP) begin \
  job.tag.op = OP; job.y = `WINDOW(INSN, 1, Y); job.s[0] = `WINDOW(INSN, 1, A); job.s[1] = `WINDOW(INSN, 1, B); end
`define UNARY(INSN, OP) begin job.tag.op = OP; job.y = `WINDOW(INSN, 1, Y); job.s[0] = `WINDOW(INSN, 1, A); end
`define ONTO(INSN, OP) begin \
  `UNARY(INSN, OP) job.tag.onto = 1; job.tag.keep = `FIELD(INSN, ACC); job.s[1] = job.y; job.s[1].used = job.tag.keep; end
`define REDUCE(INSN, OP) begin `ONTO(INSN, OP) job.tag.count = `FIELD(INSN, NN); end

`define ROW_CODES(INSN, OP) begin \
  job.tag.op = OP; job.y = `WINDOW(INSN, 1, Y); job.s[0] = `WINDOW(INSN, 0, A); job.tag.keep = `FIELD(INSN, ACC); \
  job.tag.count = `FIELD(INSN, NN); job.s[1] = job.y; job.s[1].used = job.tag.keep; end
`define TABLE(INSN) begin job.tabled = 1; job.table_row = ACC_ROW_W'(`FIELD(INSN, PT)); end

// Those that compute any function in steps share their fields' places: windows on the scratchpad (0) or the accumulator (1).
`define EACH_Y(FN, TO) begin job.tag.op = EACH; job.tag.each = FN; job.y = `WINDOW(VSELW, TO, Y); end
`define EACH_1(FN, TO, FROM) begin \
  `EACH_Y(FN, TO) job.s[0] = `WINDOW(VSELW, FROM, A); job.tag.bytes[0] = !job.s[0].acc; end
`define EACH_2(FN, TO, FROM) begin \
  `EACH_1(FN, TO, FROM) job.s[1] = `WINDOW(VSELW, FROM, B); job.tag.bytes[1] = !job.s[1].acc; end
`define EACH_3(FN, TO, FROM) begin `EACH_2(FN, TO, FROM) job.s[2] = `WINDOW(VSELW, 0, C); end
`define EACH_W_B(NAME, FN) OP_``NAME``W: `EACH_2(FN, 1, 1) OP_``NAME``B: `EACH_2(FN, 0, 0)
`define EACH_TRUTH(NAME, FN) \
  OP_``NAME``W: `EACH_2(FN, 0, 1) OP_``NAME``F: `EACH_2(FN``F, 0, 1) OP_``NAME``B: `EACH_2(FN, 0, 0)

module simnpu_vector_decode
  import simnpu_pkg::*;
  import simnpu_types::*;
  import simnpu_lane_types::*;
  import simnpu_function::*;
(
    input logic valid,  // there is a command: without one there is nothing to simulate
    input command_t cmd,
    output job_t job
);
  function automatic row_t last_row(input window_t w, input logic [11:0] ni, input logic [11:0] nj);
    return w.row + row_t'(ni - 1) * w.i_step + row_t'(nj - 1) * w.j_step;
  endfunction

  // Rows of i lie behind those of the i before.
  function automatic logic apart(input window_t w, input logic [11:0] ni, input logic [11:0] nj);
    return (nj == 1 || w.j_step != 0) && (ni == 1 || 32'(w.i_step) > 32'(nj - 1) * 32'(w.j_step));
  endfunction

  always_comb begin
    job = '0;
    if (valid) begin
      job.tag.signals = cmd[SIGNAL_BIT+:QUEUES];
      job.ni = `FIELD(VRQ, NI);
      job.nj = `FIELD(VRQ, NJ);
      case (cmd[7:0])
        OP_VRQ: begin
          `CODES(VRQ)
          job.tag.op = REQUANTISE;
          job.s[0] = `WINDOW(VRQ, 1, A);
          job.par_used = 3;
          job.par_row[0] = ACC_ROW_W'(`FIELD(VRQ, PB));
          job.par_row[1] = ACC_ROW_W'(`FIELD(VRQ, PS));
        end
        OP_VADDQ: begin
          `CODES(VADDQ)
          job.tag.op = ADD_CODES;
          job.s[0] = `WINDOW(VADDQ, 0, A);
          job.s[1] = `WINDOW(VADDQ, 0, B);
          job.par_used = 3;
          job.par_row[0] = ACC_ROW_W'(`FIELD(VADDQ, PSA));
          job.par_row[1] = ACC_ROW_W'(`FIELD(VADDQ, PSB));
          job.tag.za = `FIELD(VADDQ, ZA);
          job.tag.zb = `FIELD(VADDQ, ZB);
        end
        OP_VQ: begin
          `CODES(VQ)
          job.tag.op = QUANTISE;
          job.s[0] = `WINDOW(VQ, 1, A);
          job.par_used = 1;
          job.par_row[0] = ACC_ROW_W'(`FIELD(VQ, PS));
        end
        OP_VMAXQ: begin
          job.y = `WINDOW(VMAXQ, 0, Y);
          job.tag.op = MAX_CODES;
          job.s[0] = `WINDOW(VMAXQ, 0, A);
          job.tag.keep = `FIELD(VMAXQ, ACC);
          job.s[1] = job.y;
          job.s[1].used = job.tag.keep;
        end
        OP_VSUMQ: begin  // one row of sums: read as a parameter, written after the last row of codes
          job.y = '{used: 1, acc: 1, row: row_t'(`FIELD(VSUMQ, Y)), i_step: 0, j_step: 0};
          job.tag.op = SUM_CODES;
          job.s[0] = `WINDOW(VSUMQ, 0, A);
          job.tag.keep = `FIELD(VSUMQ, ACC);
          job.par_used = {1'b0, job.tag.keep};
          job.par_row[0] = ACC_ROW_W'(`FIELD(VSUMQ, Y));
        end
        OP_VDQ: begin
          job.y = `WINDOW(VDQ, 1, Y);
          job.tag.op = DEQUANTISE;
          job.s[0] = `WINDOW(VDQ, 0, A);
          job.par_used = 1;
          job.par_row[0] = ACC_ROW_W'(`FIELD(VDQ, PS));
          job.tag.za = `FIELD(VDQ, ZA);
        end
        OP_VI2F: `UNARY(VI2F, CONVERT)
        OP_VADD: `BINARY(VADD, ADD)
        OP_VSUB: `BINARY(VSUB, SUB)
        OP_VMUL: `BINARY(VMUL, MUL)
        OP_VMAX: `BINARY(VMAX, MAX)
        OP_VMIN: `BINARY(VMIN, MIN)
        OP_VEXP2: begin `UNARY(VEXP2, FUNCTION) job.tag.which = EXP2; end
        OP_VRECIP: begin `UNARY(VRECIP, FUNCTION) job.tag.which = RECIP; end
        OP_VRSQRT: begin `UNARY(VRSQRT, FUNCTION) job.tag.which = RSQRT; end
        OP_VSUM: `ONTO(VSUM, ADD)
        OP_VMOST: `ONTO(VMOST, MOST)
        OP_VRSUM: `REDUCE(VRSUM, ROW_SUM)
        OP_VRMAX: `REDUCE(VRMAX, ROW_MAX)
        OP_VDIV: `BINARY(VDIV, DIV)
        OP_VSQRT: `UNARY(VSQRT, SQRT)
        OP_VLUT: begin
          job.y = `WINDOW(VLUT, 0, Y);
          job.tag.op = LOOK_UP;
          job.s[0] = `WINDOW(VLUT, 0, A);
          `TABLE(VLUT)
        end
        OP_VLUTQ: begin
          `CODES(VLUTQ)
          job.tag.op = LOOK_UP_QUANTISE;
          job.s[0] = `WINDOW(VLUTQ, 0, A);
          job.s[1] = `WINDOW(VLUTQ, 1, B);
          `TABLE(VLUTQ)
        end
        OP_VRMAXQ: `ROW_CODES(VRMAXQ, ROW_MAX_CODES)
        OP_VRSUMQ: begin `ROW_CODES(VRSUMQ, ROW_SUM_CODES) job.tag.za = `FIELD(VRSUMQ, ZA); end
        OP_VRSQQ: begin `ROW_CODES(VRSQQ, ROW_SQUARES) job.tag.za = `FIELD(VRSQQ, ZA); end
        OP_VRLUT: begin `ROW_CODES(VRLUT, ROW_LOOK_UP) `TABLE(VRLUT) end
        OP_VBELOW: begin
          job.y = `WINDOW(VBELOW, 0, Y);
          job.tag.op = BELOW;
          job.s[0] = `WINDOW(VBELOW, 0, A);
          job.s[1] = `WINDOW(VBELOW, 1, B);
        end
        OP_VSUBQ: begin
          job.y = `WINDOW(VSUBQ, 1, Y);
          job.tag.op = LESS_MEAN;
          job.s[0] = `WINDOW(VSUBQ, 0, A);
          job.s[1] = `WINDOW(VSUBQ, 1, B);
          job.tag.za = `FIELD(VSUBQ, ZA);
        end
        OP_VNQ: begin
          `CODES(VNQ)
          job.tag.op = NORMALISE;
          job.s[0] = `WINDOW(VNQ, 1, A);
          job.s[1] = `WINDOW(VNQ, 1, B);
          job.par_used = 3;
          job.par_row[0] = ACC_ROW_W'(`FIELD(VNQ, PS));
          job.par_row[1] = ACC_ROW_W'(`FIELD(VNQ, PB));
        end
        `EACH_W_B(VADD, E_ADD)
        `EACH_W_B(VSUB, E_SUB)
        `EACH_W_B(VMUL, E_MUL)
        `EACH_W_B(VMAX, E_MAX)
        `EACH_W_B(VMIN, E_MIN)
        `EACH_W_B(VAND, E_AND)
        `EACH_W_B(VOR, E_OR)
        `EACH_W_B(VXOR, E_XOR)
        OP_VSHLW: `EACH_2(E_SHL, 1, 1)
        OP_VSHRW: `EACH_2(E_SHR, 1, 1)
        OP_VSHRUW: `EACH_2(E_SHRU, 1, 1)
        OP_VMAXF: `EACH_2(E_MAXF, 1, 1)
        OP_VMINF: `EACH_2(E_MINF, 1, 1)
        `EACH_TRUTH(VEQ, E_EQ)
        `EACH_TRUTH(VLT, E_LT)
        `EACH_TRUTH(VLE, E_LE)
        OP_VLTUW: `EACH_2(E_LTU, 0, 1)
        OP_VSELW, OP_VSELF: `EACH_3(E_SELECT, 1, 1)
        OP_VSELB: `EACH_3(E_SELECT, 0, 0)
        OP_VNEG: `EACH_1(E_NEGF, 1, 1)
        OP_VABS: `EACH_1(E_ABSF, 1, 1)
        OP_VFLOOR: `EACH_1(E_FLOORF, 1, 1)
        OP_VCEIL: `EACH_1(E_CEILF, 1, 1)
        OP_VROUND: `EACH_1(E_ROUNDF, 1, 1)
        OP_VWHOLE: `EACH_1(E_WHOLEF, 1, 1)
        OP_VBITS, OP_VOFBITS: `EACH_1(E_SAME, 1, 1)
        OP_VWIDEN: `EACH_1(E_SAME, 1, 0)
        OP_VB2F: `EACH_1(E_FLOAT, 1, 0)
        OP_VNARROW: `EACH_1(E_SAME, 0, 1)
        OP_VSETW, OP_VSETF: begin `EACH_Y(E_SET, 1) job.tag.number = `FIELD(VSETW, NUMBER); end
        OP_VSETB: begin `EACH_Y(E_SET, 0) job.tag.number = `FIELD(VSETB, NUMBER); end
        default: ;
      endcase
      job.tag.to_acc = job.y.acc;
      for (int n = 0; n < 3; ++n) job.s_last[n] = last_row(job.s[n], job.ni, job.nj);
      job.s_long = apart(job.s[1], job.ni, job.nj) && 24'(job.ni) * 24'(job.nj) >= 24'(UNDER_WAY);
      job.y_last = last_row(job.y, job.ni, job.nj);
    end
  end
endmodule
`undef FIELD
`undef WINDOW
`undef CODES
`undef BINARY
`undef UNARY
`undef ONTO
`undef REDUCE
`undef ROW_CODES
`undef TABLE
`undef EACH_Y
`undef EACH_1
`undef EACH_2
`undef EACH_3
`undef EACH_W_B
`undef EACH_TRUTH
