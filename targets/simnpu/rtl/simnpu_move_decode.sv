// A mover's command in bytes. LDS, LDA and LDR, STS and STA share their fields' places: the checks below say so.
module simnpu_move_decode
  import simnpu_pkg::*;
  import simnpu_types::*;
#(
    parameter bit STORE = 0
) (
    input logic valid,  // there is a command: without one there is nothing to simulate
    input command_t cmd,
    input address_t args[ARGUMENTS],
    output move_t move
);
`define FIELD(NAME) cmd[LDS0_``NAME``_LSB +: LDS0_``NAME``_W]
`define SAME(NAME) \
  if (LDS0_``NAME``_LSB != LDS1_``NAME``_LSB || LDS0_``NAME``_LSB != LDA0_``NAME``_LSB || \
      LDS0_``NAME``_LSB != LDA1_``NAME``_LSB || LDS0_``NAME``_LSB != STS_``NAME``_LSB || \
      LDS0_``NAME``_LSB != STA_``NAME``_LSB || LDS0_``NAME``_LSB != LDR0_``NAME``_LSB || \
      LDS0_``NAME``_LSB != LDR1_``NAME``_LSB) $error("the movers' fields lie apart");
  `SAME(ARG) `SAME(OFF) `SAME(SI) `SAME(SJ) `SAME(NI) `SAME(NJ) `SAME(NB) `SAME(LOC) `SAME(LI) `SAME(LJ)
  if (LDR0_BLO_LSB != LDS0_JLO_LSB || LDR0_BHI_LSB != LDS0_JHI_LSB || LDR1_BLO_LSB != LDS0_JLO_LSB || LDR1_BHI_LSB != LDS0_JHI_LSB)
    $error("the box of runs lies apart");

  address_t dram;
  logic words, boxed, runs;
  logic [13:0] finish;
  always_comb begin
    words = 0;
    boxed = 0;
    runs = 0;
    finish = 0;
    dram = 0;
    move = '0;
    if (valid) begin
      words = cmd[7:0] == OP_LDA0 || cmd[7:0] == OP_LDA1 || cmd[7:0] == OP_STA;
      boxed = !STORE;
      runs = cmd[7:0] == OP_LDR0 || cmd[7:0] == OP_LDR1;
      dram = args[`FIELD(ARG)] + `FIELD(OFF);
      move.src = STORE ? 32'(`FIELD(LOC)) : dram;
      move.si = STORE ? 24'(`FIELD(LI)) : 24'(`FIELD(SI));
      move.sj = STORE ? 24'(`FIELD(LJ)) : 24'(`FIELD(SJ));
      move.src_acc = words;
      move.dst = STORE ? dram : 32'(`FIELD(LOC));
      move.di = STORE ? 24'(`FIELD(SI)) : 24'(`FIELD(LI));
      move.dj = STORE ? 24'(`FIELD(SJ)) : 24'(`FIELD(LJ));
      move.dst_acc = words;
      move.ni = `FIELD(NI);
      move.nj = `FIELD(NJ);
      move.len = words ? {`FIELD(NB), 2'b0} : 14'(`FIELD(NB));
      move.ilo = boxed ? `FIELD(ILO) : 0;
      move.ihi = boxed ? `FIELD(IHI) : '1;
      move.jlo = boxed && !runs ? `FIELD(JLO) : 0;
      move.jhi = boxed && !runs ? `FIELD(JHI) : '1;
      finish = runs && `FIELD(JHI) < `FIELD(NB) ? 14'(`FIELD(JHI)) : move.len;
      move.skip = runs ? 14'(`FIELD(JLO)) : 0;
      move.valid = move.skip < finish ? finish - move.skip : 0;
      if (runs) move.src = dram + 32'(`FIELD(JLO));
      move.fill = words ? 0 : `FIELD(FILL);
      move.signals = cmd[SIGNAL_BIT+:QUEUES];
    end
  end
`undef FIELD
`undef SAME
endmodule
