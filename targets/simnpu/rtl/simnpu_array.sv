// MMA: rows of A into the array's cells, sums out of them into rows of C. MMC: columns of a window, a row from each of
// its lines, are kept in front of the array, and the window's taps go into the cells.
//
// The array's ports win every arbitration, so nothing here ever waits for others; lines that lie in one bank are read
// one after the other. A row of C is read one cycle before it is written, and the accumulator forwards, so that commands
// follow each other without a gap even on the same rows.
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
    output logic a_req[LINES],
    output logic [SPAD_ROW_W-1:0] a_row[LINES],
    input logic a_grant[LINES],
    input logic [BYTE_ROW-1:0] a_data[LINES],
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
  localparam int RING_W = $clog2(D);

  // Issue -------------------------------------------------------------------------------------------------------------
  typedef struct packed {
    logic [SPAD_ROW_W-1:0] ai, aj;
    logic [ACC_ROW_W-1:0] ci, cj;
    logic [11:0] ni, nj;
    logic [WREG_ROW_W-1:0] weights;  // the first row of them
    logic [7:0] zx, zw;
    logic acc;
    logic channels;  // MMC
    logic wide;  // its weights lie as for lines of 5
    logic skips;  // its window steps by two
    logic [MMC3_NR_W-1:0] lines;
    logic [MMC3_NT_W-1:0] taps;
    queues_t signals;
  } job_t;
  job_t job;
  logic active, j_end, finish, column, row;
  logic [11:0] i, j;
  logic [SPAD_ROW_W-1:0] a_first, a_now, line[LINES];  // line: from the first one
  logic [ACC_ROW_W-1:0] c_first, c_now;
  logic [MMC3_NT_W-1:0] ahead;  // columns before the one that completes a window
  logic [LINES-1:0] needed, got, missed;

  logic channels;
  assign channels = cmd[7:0] != OP_MMA;

  for (genvar l = 0; l < LINES; ++l) begin : g_line
    assign needed[l] = l == 0 || (job.channels && l < job.lines);
    assign a_req[l] = active && needed[l] && !got[l];
    assign a_row[l] = a_now + line[l];
    assign missed[l] = a_req[l] && !a_grant[l];
    always_ff @(posedge clk)
      if (cmd_take) line[l] <= SPAD_ROW_W'(l * 32'(cmd[MMC3_AR_LSB+:MMC3_AR_W]));
  end

  assign column = active && missed == 0;  // all of it is read
  assign row = column && ahead == 0;
  assign j_end = j + 1 >= job.nj;
  assign finish = row && j_end && i + 1 >= job.ni;
  assign cmd_take = cmd_valid && !hold && (!active || finish);
  assign busy = active;

  always_ff @(posedge clk) begin
    got <= rst || column || !active ? 0 : ~missed;
    if (cmd_take) ahead <= channels ? cmd[MMC3_NT_LSB+:MMC3_NT_W] - 1 : 0;
    else if (row) ahead <= job.channels ? (j_end ? job.taps - 1 : MMC3_NT_W'(job.skips)) : 0;
    else if (column) ahead <= ahead - 1;
  end

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
          aj: channels ? 1 : SPAD_ROW_W'(cmd[MMA_AJ_LSB+:MMA_AJ_W]),  // of channels, from column to column
          ci: ACC_ROW_W'(cmd[MMA_CI_LSB+:MMA_CI_W]),
          cj: ACC_ROW_W'(cmd[MMA_CJ_LSB+:MMA_CJ_W]),
          ni: cmd[MMA_NI_LSB+:MMA_NI_W],
          nj: cmd[MMA_NJ_LSB+:MMA_NJ_W],
          weights: channels ? WREG_ROW_W'(cmd[MMC3_W_LSB+:MMC3_W_W]) : {cmd[MMA_W_LSB+:MMA_W_W], RING_W'(0)},
          zx: cmd[MMA_ZX_LSB+:MMA_ZX_W],
          zw: channels ? 0 : cmd[MMA_ZW_LSB+:MMA_ZW_W],
          acc: cmd[MMA_ACC_LSB],
          channels: channels,
          wide: cmd[7:0] == OP_MMC5 || cmd[7:0] == OP_MMC5X2,
          skips: cmd[7:0] == OP_MMC3X2 || cmd[7:0] == OP_MMC5X2,
          lines: cmd[MMC3_NR_LSB+:MMC3_NR_W],
          taps: cmd[MMC3_NT_LSB+:MMC3_NT_W],
          signals: cmd[SIGNAL_BIT+:QUEUES]
      };
    end else if (column) begin
      if (finish) active <= 0;
      if (!row) begin
        a_now <= a_now + job.aj;
      end else if (j_end) begin
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
  tag_t entering, leaving, adding;
  logic [WREG_ROW_W-1:0] entering_weights;
  logic [7:0] entering_zx, entering_zw;
  logic entering_channels, entering_wide, column_read;
  logic [MMC3_NR_W-1:0] entering_lines;
  logic [MMC3_NT_W-1:0] entering_taps;
  logic [BYTE_ROW-1:0] earlier[TAPS-1][LINES];  // the columns before the one that is there
  logic [BYTE_ROW-1:0] taps[ALL_TAPS];  // of the window, in the order of their weights
  logic [ALL_TAPS-1:0] live;
  logic [RING_W-1:0] turn;
  tag_t tags_ring[D];
  logic [WORD_ROW-1:0] sums, adding_sums;

  simnpu_cells cells (
      .clk, .rst, .w_valid, .w_bank, .w_column, .w_k, .w_data, .enter(entering.valid), .weights_at(entering_weights),
      .channels(entering_channels), .taps, .live,
      .zx(entering_zx), .zw(entering_zw), .a_data(a_data[0]), .sums);

  // Tap t of the window is in the column that was read taps - 1 - t before the last one.
  always_comb begin
    for (int n = 0; n < ALL_TAPS; ++n) begin
      automatic int r = entering_wide ? n / 5 : n / 3;
      automatic int t = entering_wide ? n % 5 : n % 3;
      automatic int age = 32'(entering_taps) - 1 - t;
      live[n] = r < 32'(entering_lines) && age >= 0;
      taps[n] = 0;
      for (int l = 0; l < LINES; ++l)
        if (l == r) taps[n] = age <= 0 || age >= TAPS ? a_data[l] : earlier[age-1][l];
    end
  end

  always_ff @(posedge clk) begin
    column_read <= column && job.channels;
    if (column_read) begin
      earlier[0] <= a_data;
      for (int c = 1; c < TAPS - 1; ++c) earlier[c] <= earlier[c-1];
    end
    entering <= '{valid: row, acc: job.acc, last: finish, row: c_now, signals: job.signals};
    entering_weights <= job.weights;
    entering_channels <= job.channels;
    entering_wide <= job.wide;
    entering_lines <= job.lines;
    entering_taps <= job.taps;
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
