// MMA: rows of A into the array's cells, sums out of them into rows of C.
//
// The array's ports win every arbitration, so nothing here ever stalls. A row of C is read one cycle before it is
// written, and the accumulator forwards, so that commands follow each other without a gap even on the same rows.
module simnpu_array
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input logic cmd_valid,
    input command_t cmd,
    output logic cmd_take,
    // weights
    input logic w_valid,
    input logic [BANK_W-1:0] w_bank,
    input logic w_column,
    input logic [$clog2(D)-1:0] w_k,
    input logic [BYTE_ROW-1:0] w_data,
    // rows of A
    output logic a_req,
    output logic [SPAD_ROW_W-1:0] a_row,
    input logic [BYTE_ROW-1:0] a_data,
    // rows of C
    output logic c_req,
    output logic [ACC_ROW_W-1:0] c_row,
    input logic [WORD_ROW-1:0] c_data,
    output logic y_req,
    output logic [ACC_ROW_W-1:0] y_row,
    output logic [WORD_ROW-1:0] y_data,
    input logic hold,  // no room for another completion
    output logic last,
    output queues_t last_signals,
    output logic busy,
    output logic row_done
);
  // Issue -------------------------------------------------------------------------------------------------------------
  typedef struct packed {
    logic [SPAD_ROW_W-1:0] ai, aj;
    logic [ACC_ROW_W-1:0] ci, cj;
    logic [11:0] ni, nj;
    logic [BANK_W-1:0] bank;
    logic [7:0] zx, zw;
    logic acc;
    queues_t signals;
  } job_t;
  job_t job;
  logic active, j_end, finish;
  logic [11:0] i, j;
  logic [SPAD_ROW_W-1:0] a_first, a_now;
  logic [ACC_ROW_W-1:0] c_first, c_now;

  assign j_end = j + 1 >= job.nj;
  assign finish = active && j_end && i + 1 >= job.ni;
  assign cmd_take = cmd_valid && !hold && (!active || finish);
  assign a_req = active;
  assign a_row = a_now;
  assign busy = active;

  always_ff @(posedge clk) begin
    if (rst) active <= 0;
    else if (cmd_take) begin
      active <= 1;
      i <= 0;
      j <= 0;
      a_first <= SPAD_ROW_W'(cmd[MMA_A_LSB+:MMA_A_W]);
      a_now <= SPAD_ROW_W'(cmd[MMA_A_LSB+:MMA_A_W]);
      c_first <= ACC_ROW_W'(cmd[MMA_C_LSB+:MMA_C_W]);
      c_now <= ACC_ROW_W'(cmd[MMA_C_LSB+:MMA_C_W]);
      job <= '{
          ai: SPAD_ROW_W'(cmd[MMA_AI_LSB+:MMA_AI_W]),
          aj: SPAD_ROW_W'(cmd[MMA_AJ_LSB+:MMA_AJ_W]),
          ci: ACC_ROW_W'(cmd[MMA_CI_LSB+:MMA_CI_W]),
          cj: ACC_ROW_W'(cmd[MMA_CJ_LSB+:MMA_CJ_W]),
          ni: cmd[MMA_NI_LSB+:MMA_NI_W],
          nj: cmd[MMA_NJ_LSB+:MMA_NJ_W],
          bank: cmd[MMA_W_LSB+:MMA_W_W],
          zx: cmd[MMA_ZX_LSB+:MMA_ZX_W],
          zw: cmd[MMA_ZW_LSB+:MMA_ZW_W],
          acc: cmd[MMA_ACC_LSB],
          signals: cmd[SIGNAL_BIT+:QUEUES]
      };
    end else if (active) begin
      if (finish) active <= 0;
      if (j_end) begin
        j <= 0;
        i <= i + 1;
        a_first <= a_first + job.ai;
        a_now <= a_first + job.ai;
        c_first <= c_first + job.ci;
        c_now <= c_first + job.ci;
      end else begin
        j <= j + 1;
        a_now <= a_now + job.aj;
        c_now <= c_now + job.cj;
      end
    end
  end

  // The array ---------------------------------------------------------------------------------------------------------
  typedef struct packed {
    logic valid, acc, last;
    logic [ACC_ROW_W-1:0] row;
    queues_t signals;
  } tag_t;
  localparam int RING_W = $clog2(D);

  tag_t entering, leaving, adding;
  logic [BANK_W-1:0] entering_bank;
  logic [7:0] entering_zx, entering_zw;
  logic [RING_W-1:0] turn;
  tag_t tags_ring[D];
  logic [WORD_ROW-1:0] sums, adding_sums;

  simnpu_cells cells (
      .clk, .rst, .w_valid, .w_bank, .w_column, .w_k, .w_data, .enter(entering.valid), .bank(entering_bank),
      .zx(entering_zx), .zw(entering_zw), .a_data, .sums);

  always_ff @(posedge clk) begin
    entering <= '{valid: active, acc: job.acc, last: finish, row: c_now, signals: job.signals};
    entering_bank <= job.bank;
    entering_zx <= job.zx;
    entering_zw <= job.zw;
    turn <= turn + 1;
    tags_ring[turn] <= entering;
    leaving <= tags_ring[turn];
    adding <= leaving;
    if (leaving.valid) adding_sums <= sums;
    if (rst) begin
      turn <= 0;
      entering <= 0;
      leaving <= 0;
      adding <= 0;
      for (int n = 0; n < D; ++n) tags_ring[n] <= 0;
    end
  end

  // Accumulation ------------------------------------------------------------------------------------------------------
  assign c_req = leaving.valid && leaving.acc;
  assign c_row = leaving.row;
  assign y_req = adding.valid;
  assign y_row = adding.row;
  assign last = adding.valid && adding.last;
  assign last_signals = adding.signals;
  assign row_done = adding.valid;
  always_comb begin
    y_data = adding_sums;
    if (adding.valid && adding.acc) for (int n = 0; n < D; ++n) y_data[32*n+:32] = adding_sums[32*n+:32] + c_data[32*n+:32];
  end
endmodule
