// The D x D cells as they would be built: weights stay, element k of a row of A enters row k of the cells k cycles later
// than element 0 and goes to all its columns, sums move down one row a cycle. A tap of a window enters the row of its
// weights as late, lane n for column n alone. Takes the place of simnpu_cells in a build of its own, on which the tests
// run the same programs.
module simnpu_cells
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input logic w_valid,
    input logic [BANK_W-1:0] w_bank,
    input logic w_column,
    input logic [$clog2(D)-1:0] w_k,
    input logic [BYTE_ROW-1:0] w_data,
    input logic enter,
    input logic [WREG_ROW_W-1:0] weights_at,
    input logic channels,
    input logic [BYTE_ROW-1:0] taps[ALL_TAPS],
    input logic [ALL_TAPS-1:0] live,
    input logic [7:0] zx,
    input logic [7:0] zw,
    input logic [BYTE_ROW-1:0] a_data,
    output logic [WORD_ROW-1:0] sums
);
  // The edge between cells of row k - 1 and row k; row D is the way out.
  logic [WORD_ROW-1:0] down[D+1];
  localparam int K_W = $clog2(D);
  logic by_lane[D+1];
  logic [7:0] zeros[D+1];  // of the weights
  logic unused_rst;
  assign unused_rst = rst;
  assign down[0] = 0;
  assign by_lane[0] = channels;
  assign zeros[0] = zw;

  for (genvar k = 0; k < D; ++k) begin : g_row
    logic [8:0] skew[k+1];  // element k on its way in, less its zero point
    assign skew[0] = enter ? {a_data[8*k+7], a_data[8*k+:8]} - {zx[7], zx} : 0;
    // which tap this row has, and in which bank its weights lie: rows in front of the first tap's are of the next bank
    logic [K_W-1:0] tap;
    logic [WREG_ROW_W-1:0] at;
    logic [BANK_W-1:0] bank[k+1];
    logic [9*D-1:0] lanes[k+1];
    assign tap = K_W'(k) - weights_at[K_W-1:0];
    assign at = weights_at + WREG_ROW_W'(tap);
    assign bank[0] = at[WREG_ROW_W-1:K_W];
    for (genvar n = 0; n < D; ++n) begin : g_lane
      always_comb begin
        lanes[0][9*n+:9] = 0;
        for (int t = 0; t < ALL_TAPS; ++t)
          if (enter && live[t] && tap == K_W'(t)) lanes[0][9*n+:9] = {taps[t][8*n+7], taps[t][8*n+:8]} - {zx[7], zx};
      end
    end
    for (genvar s = 0; s < k; ++s) begin : g_skew
      always_ff @(posedge clk) begin
        skew[s+1] <= skew[s];
        lanes[s+1] <= lanes[s];
        bank[s+1] <= bank[s];
      end
    end
    always_ff @(posedge clk) by_lane[k+1] <= by_lane[k];
    always_ff @(posedge clk) zeros[k+1] <= zeros[k];

    for (genvar n = 0; n < D; ++n) begin : g_cell
      logic signed [7:0] weight[WREG_BANKS];
      always_ff @(posedge clk) begin
        if (w_valid && !w_column && w_k == k) weight[w_bank] <= w_data[8*n+:8];
        if (w_valid && w_column && w_k == n) weight[w_bank] <= w_data[8*k+:8];
        down[k+1][32*n+:32] <= down[k][32*n+:32] +
            32'($signed(by_lane[k] ? lanes[k][9*n+:9] : skew[k])) * (32'(weight[bank[k]]) - 32'($signed(zeros[k])));
      end
    end
  end

  always_ff @(posedge clk) sums <= down[D];
endmodule
