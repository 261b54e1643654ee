// The D x D cells as they would be built: weights stay, element k of a row of A enters row k of the cells k cycles later
// than element 0 and goes to all its columns, sums move down one row a cycle. Takes the place of simnpu_cells in a build
// of its own, on which the tests run the same programs.
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
    input logic [BANK_W-1:0] bank,
    input logic [7:0] zx,
    input logic [7:0] zw,
    input logic [BYTE_ROW-1:0] a_data,
    output logic [WORD_ROW-1:0] sums
);
  // The edge between cells of row k - 1 and row k; row D is the way out.
  logic [WORD_ROW-1:0] down[D+1];
  logic [BANK_W-1:0] banks[D+1];
  logic [7:0] zeros[D+1];  // of the weights
  logic unused_rst;
  assign unused_rst = rst;
  assign down[0] = 0;
  assign banks[0] = bank;
  assign zeros[0] = zw;

  for (genvar k = 0; k < D; ++k) begin : g_row
    logic [8:0] skew[k+1];  // element k on its way in, less its zero point
    assign skew[0] = enter ? {a_data[8*k+7], a_data[8*k+:8]} - {zx[7], zx} : 0;
    for (genvar s = 0; s < k; ++s) begin : g_skew
      always_ff @(posedge clk) skew[s+1] <= skew[s];
    end
    always_ff @(posedge clk) banks[k+1] <= banks[k];
    always_ff @(posedge clk) zeros[k+1] <= zeros[k];

    for (genvar n = 0; n < D; ++n) begin : g_cell
      logic signed [7:0] weight[WREG_BANKS];
      always_ff @(posedge clk) begin
        if (w_valid && !w_column && w_k == k) weight[w_bank] <= w_data[8*n+:8];
        if (w_valid && w_column && w_k == n) weight[w_bank] <= w_data[8*k+:8];
        down[k+1][32*n+:32] <= down[k][32*n+:32] +
            32'($signed(skew[k])) * (32'(weight[banks[k]]) - 32'($signed(zeros[k])));
      end
    end
  end

  always_ff @(posedge clk) sums <= down[D];
endmodule
