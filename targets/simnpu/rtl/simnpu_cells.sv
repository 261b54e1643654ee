// The D x D cells of the weight-stationary array, as they are simulated: a row of A enters each cycle and its D sums are
// there D + 1 cycles later. The sums are formed at once and then wait in a ring, which on the ports is the same in every
// cycle as the array of simnpu_cells_systolic.sv, and several times faster. Weights and codes are kept sign-extended to
// words, which Verilator turns into plain multiplications.
module simnpu_cells
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    // a row of weights: row w_k of bank w_bank, or its column w_k
    input logic w_valid,
    input logic [BANK_W-1:0] w_bank,
    input logic w_column,
    input logic [$clog2(D)-1:0] w_k,
    input logic [BYTE_ROW-1:0] w_data,
    // a row of A, for the weights from row `weights_at` of the banks on
    input logic enter,
    input logic [WREG_ROW_W-1:0] weights_at,
    // or taps, those that are live: lane n of each is for column n
    input logic channels,
    input logic [BYTE_ROW-1:0] taps[ALL_TAPS],
    input logic [ALL_TAPS-1:0] live,
    input logic [7:0] zx,  // zero points of A and of the weights
    input logic [7:0] zw,
    input logic [BYTE_ROW-1:0] a_data,
    output logic [WORD_ROW-1:0] sums
);
  localparam int RING_W = $clog2(D);
  logic [WORD_ROW-1:0] weights[WREG_BANKS*D];  // [bank, k]: word n is column n
  logic [WORD_ROW-1:0] ring[D];
  logic [D-1:0] coming;
  logic [RING_W-1:0] turn;

  function automatic logic [31:0] extend(input logic [7:0] code);
    return {{24{code[7]}}, code};
  endfunction

  always_ff @(posedge clk) begin
    if (w_valid && !w_column) for (int n = 0; n < D; ++n) weights[{w_bank, w_k}][32*n+:32] <= extend(w_data[8*n+:8]);
    if (w_valid && w_column)
      for (int k = 0; k < D; ++k) weights[{w_bank, RING_W'(k)}][32*w_k+:32] <= extend(w_data[8*k+:8]);
    if (enter && channels) begin
      automatic logic [WORD_ROW-1:0] row = 0;
      for (int t = 0; t < ALL_TAPS; ++t)
        if (live[t])
          for (int n = 0; n < D; ++n)
            row[32*n+:32] += (extend(taps[t][8*n+:8]) - extend(zx)) * weights[weights_at+WREG_ROW_W'(t)][32*n+:32];
      ring[turn] <= row;
    end else if (enter) begin
      automatic logic [WORD_ROW-1:0] row = 0;
      automatic logic [31:0] whole = 0;
      for (int k = 0; k < D; ++k) begin
        automatic logic [31:0] x = extend(a_data[8*k+:8]) - extend(zx);
        whole += x;
        for (int n = 0; n < D; ++n) row[32*n+:32] += x * weights[weights_at+WREG_ROW_W'(k)][32*n+:32];
      end
      // The zero point of the weights takes off the same from every column.
      if (zw != 0) for (int n = 0; n < D; ++n) row[32*n+:32] -= extend(zw) * whole;
      ring[turn] <= row;
    end
    if (coming[D-1]) sums <= ring[turn];
    coming <= rst ? 0 : {coming[D-2:0], enter};
    turn <= rst ? 0 : turn + 1;
  end
endmodule
