// WLD: D rows of weights from the scratchpad into a bank of the array, a row a cycle. WLDT: each row into a column.
// WLDR: some rows, from any row of the banks on.
module simnpu_weights
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input logic cmd_valid,
    input command_t cmd,
    output logic cmd_take,
    output logic r_req,
    output logic [SPAD_ROW_W-1:0] r_row,
    input logic r_grant,
    output logic w_valid,  // the row granted in the last cycle is weight row w_k of bank w_bank
    output logic [BANK_W-1:0] w_bank,
    output logic w_column,  // column w_k
    output logic [$clog2(D)-1:0] w_k,
    input logic hold,
    output logic last,
    output queues_t last_signals,
    output logic busy
);
  localparam int K_W = $clog2(D);
  logic active, turned;
  logic [WREG_ROW_W-1:0] at;  // [bank, row]
  logic [WLDR_NK_W-1:0] left;
  logic [SPAD_ROW_W-1:0] row;
  logic [WLD_SK_W-1:0] step;
  queues_t signals;
  logic final_row, done;

  assign final_row = left <= 1;
  assign r_req = active && !(hold && final_row);
  assign r_row = row;
  assign done = r_grant && final_row;
  assign cmd_take = cmd_valid && (!active || done);
  assign busy = active;

  always_ff @(posedge clk) begin
    w_valid <= r_grant;
    w_bank <= at[WREG_ROW_W-1-:BANK_W];
    w_column <= turned;
    w_k <= at[K_W-1:0];
    last <= done;
    last_signals <= signals;
    if (rst) begin
      active <= 0;
      last <= 0;
      w_valid <= 0;
    end else if (cmd_take) begin
      active <= 1;
      left <= cmd[7:0] == OP_WLDR ? cmd[WLDR_NK_LSB+:WLDR_NK_W] : WLDR_NK_W'(D);
      row <= SPAD_ROW_W'(cmd[WLD_SRC_LSB+:WLD_SRC_W]);
      step <= cmd[WLD_SK_LSB+:WLD_SK_W];
      turned <= cmd[7:0] == OP_WLDT;
      at <= cmd[7:0] == OP_WLDR ? WREG_ROW_W'(cmd[WLDR_W_LSB+:WLDR_W_W]) : {cmd[WLD_W_LSB+:WLD_W_W], K_W'(0)};
      signals <= cmd[SIGNAL_BIT+:QUEUES];
    end else begin
      if (done) active <= 0;
      if (r_grant) begin
        at <= at + 1;
        left <= left - 1;
        row <= row + SPAD_ROW_W'(step);
      end
    end
  end
endmodule
