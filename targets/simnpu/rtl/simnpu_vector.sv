// The vector unit: commands, operand streams, hazards. The arithmetic is in simnpu_lanes.
//
// A command passes three places. `prep`: its parameter rows are read, and its table. `read`: streams fetch its operand rows, each at
// its own pace into a small buffer, so that two operands that step alike cost nothing after the first row even in one
// bank. `issue`: rows enter the lanes. A command that reads what an earlier one has yet to write stays in prep until the
// unit is empty; whether it does is judged by the range of rows from the first to the last that each touches. One that
// adds to exactly the rows that the one before it writes follows on its heels: it reads them in the order in which they
// are written, and where there are more of them than can be under way, each is there in time.
module simnpu_vector
  import simnpu_pkg::*;
  import simnpu_types::*;
  import simnpu_lane_types::*;
(
    input logic clk,
    input logic rst,
    input logic cmd_valid,
    input command_t cmd,
    output logic cmd_take,
    // operand streams: two from either memory, one from the scratchpad
    output logic spad_req[3],
    output logic [SPAD_ROW_W-1:0] spad_row[3],
    input logic spad_grant[3],
    input logic [BYTE_ROW-1:0] spad_data[3],
    output logic acc_req[2],
    output logic [ACC_ROW_W-1:0] acc_row[2],
    input logic acc_grant[2],
    input logic [WORD_ROW-1:0] acc_data[2],
    // parameter rows
    output logic par_req,
    output logic [ACC_ROW_W-1:0] par_row,
    input logic par_grant,
    input logic [WORD_ROW-1:0] par_data,
    // results
    output logic spad_wreq,
    output logic [SPAD_ROW_W-1:0] spad_wrow,
    output logic [BYTE_ROW-1:0] spad_wdata,
    input logic spad_wgrant,
    output logic acc_wreq,
    output logic [ACC_ROW_W-1:0] acc_wrow,
    output logic [WORD_ROW-1:0] acc_wdata,
    input logic acc_wgrant,
    input logic hold,  // no room for another completion
    output logic last,
    output queues_t last_signals,
    output logic busy
);
  // Prep --------------------------------------------------------------------------------------------------------------
  job_t decoded, prep, read;
  logic prep_valid, cleared, to_read, unit_empty, hazard;
  logic [1:0] par_ask;  // parameter rows not yet asked for
  logic par_coming, par_coming_which, par_which;
  logic [WORD_ROW-1:0] prep_p[2];
  // Tables take turns: those of the commands in read and issue stand while prep's is read.
  logic [WORD_ROW-1:0] tables[TABLES*TABLE_ROWS];
  logic [1:0] turn;  // the table of the last command that has one
  logic [$clog2(TABLE_ROWS):0] table_left;  // rows not yet asked for
  logic table_coming;
  logic [$clog2(TABLE_ROWS)-1:0] table_at, table_coming_at;

  simnpu_vector_decode decode (.valid(cmd_take), .cmd, .job(decoded));

  // Rows that commands in read, issue and the lanes will write, by memory.
  logic [1:0] hull_valid;
  row_t hull_lo[2], hull_hi[2];

  function automatic logic meets(input logic acc, input row_t lo, input row_t hi);
    return hull_valid[acc] && lo <= hull_hi[acc] && hull_lo[acc] <= hi;
  endfunction

  logic follows;
  assign follows = prep.s[1].acc == read.y.acc && prep.s[1].row == read.y.row && prep.s[1].i_step == read.y.i_step &&
      prep.s[1].j_step == read.y.j_step && prep.ni == read.ni && prep.nj == read.nj && prep.s_long;

  always_comb begin
    hazard = 0;
    if (prep_valid && !cleared && hull_valid != 0)
      for (int n = 0; n < 3; ++n)
        if (prep.s[n].used && !(n == 1 && follows)) hazard |= meets(prep.s[n].acc, prep.s[n].row, prep.s_last[n]);
    if (prep_valid && !cleared && hull_valid != 0)
      for (int n = 0; n < 2; ++n) begin
        if (prep.par_used[n]) hazard |= meets(1, row_t'(prep.par_row[n]), row_t'(prep.par_row[n]));
        if (prep.tabled) hazard |= meets(1, row_t'(prep.table_row), row_t'(prep.table_row) + row_t'(TABLE_ROWS - 1));
      end
  end

  localparam int TABLES_W = $clog2(TABLES * TABLE_ROWS);
  logic [1:0] next_turn;
  assign next_turn = turn == 2'(TABLES - 1) ? 0 : turn + 1;
  assign cmd_take = cmd_valid && !hold && (!prep_valid || to_read);
  assign par_which = !par_ask[0];
  assign table_at = ($clog2(TABLE_ROWS))'(TABLE_ROWS - 32'(table_left));
  assign par_req = prep_valid && cleared && (par_ask != 0 || table_left != 0);
  assign par_row = par_ask != 0 ? prep.par_row[par_which] : prep.table_row + ACC_ROW_W'(table_at);

  always_ff @(posedge clk) begin
    if (rst) begin
      prep_valid <= 0;
      par_coming <= 0;
      table_coming <= 0;
      turn <= 0;
      hull_valid <= 0;
    end else begin
      par_coming <= par_grant && par_ask != 0;
      par_coming_which <= par_which;
      table_coming <= par_grant && par_ask == 0;
      table_coming_at <= table_at;
      if (table_coming) tables[TABLES_W'(prep.tag.which) * TABLES_W'(TABLE_ROWS) + TABLES_W'(table_coming_at)] <= par_data;
      if (par_coming) prep_p[par_coming_which] <= par_data;
      if (cmd_take) begin
        prep <= decoded;
        prep_valid <= 1;
        par_ask <= decoded.par_used;
        table_left <= decoded.tabled ? ($clog2(TABLE_ROWS) + 1)'(TABLE_ROWS) : 0;
        if (decoded.tabled) begin
          turn <= next_turn;
          prep.tag.which <= next_turn;
        end
        cleared <= 0;
      end else begin
        if (to_read) prep_valid <= 0;
        if (par_grant && par_ask != 0) par_ask[par_which] <= 0;
        if (par_grant && par_ask == 0) table_left <= table_left - 1;
        if (!hazard || unit_empty) cleared <= 1;
      end
      if (unit_empty) hull_valid <= 0;
      if (to_read) begin
        automatic logic y = prep.y.acc;
        automatic logic grow = hull_valid[y] && !unit_empty;
        hull_valid[y] <= 1;
        hull_lo[y] <= grow && hull_lo[y] < prep.y.row ? hull_lo[y] : prep.y.row;
        hull_hi[y] <= grow && hull_hi[y] > prep.y_last ? hull_hi[y] : prep.y_last;
      end
    end
  end

  // Read --------------------------------------------------------------------------------------------------------------
  logic read_valid, handed, to_issue, streams_done;
  logic stream_done[3], empty[3];
  logic [WORD_ROW-1:0] read_p[2], operand[3];
  logic pop[3];

  // The streams are free once their last rows are asked for, though these may still wait in the buffers.
  assign streams_done = stream_done[0] && stream_done[1] && stream_done[2];
  assign to_read = prep_valid && cleared && par_ask == 0 && !par_coming && table_left == 0 && !table_coming && (!read_valid || (streams_done && (handed || to_issue)));

  for (genvar s = 0; s < 2; ++s) begin : g_stream
    simnpu_stream stream (
        .clk, .rst, .load(to_read && prep.s[s].used), .window(prep.s[s]), .ni(prep.ni), .nj(prep.nj),
        .done(stream_done[s]),
        .spad_req(spad_req[s]), .spad_row(spad_row[s]), .spad_grant(spad_grant[s]), .spad_data(spad_data[s]),
        .acc_req(acc_req[s]), .acc_row(acc_row[s]), .acc_grant(acc_grant[s]), .acc_data(acc_data[s]),
        .pop(pop[s]), .out(operand[s]), .empty(empty[s]));
  end

  logic no_acc_req;
  logic [ACC_ROW_W-1:0] no_acc_row;
  simnpu_stream truths (
      .clk, .rst, .load(to_read && prep.s[2].used), .window(prep.s[2]), .ni(prep.ni), .nj(prep.nj),
      .done(stream_done[2]),
      .spad_req(spad_req[2]), .spad_row(spad_row[2]), .spad_grant(spad_grant[2]), .spad_data(spad_data[2]),
      .acc_req(no_acc_req), .acc_row(no_acc_row), .acc_grant(1'b0), .acc_data('0),
      .pop(pop[2]), .out(operand[2]), .empty(empty[2]));

  always_ff @(posedge clk) begin
    if (rst) read_valid <= 0;
    else if (to_read) begin
      read <= prep;
      read_valid <= 1;
      handed <= 0;
      read_p <= prep_p;
    end else begin
      if (to_issue) handed <= 1;
      if (streams_done && (handed || to_issue)) read_valid <= 0;
    end
  end

  // Issue -------------------------------------------------------------------------------------------------------------
  job_t issue;
  lane_tag_t tag;
  logic issue_valid, enable, enter, issue_done, j_end, lanes_empty;
  logic [11:0] i, j;
  row_t y_first, y_now;
  logic [WORD_ROW-1:0] issue_p[2];

  always_comb begin
    enter = issue_valid && enable;
    for (int s = 0; s < 3; ++s) if (issue.s[s].used && empty[s]) enter = 0;
    for (int s = 0; s < 3; ++s) pop[s] = enter && issue.s[s].used;
  end
  assign j_end = j + 1 >= issue.nj;
  assign issue_done = enter && tag.last;
  assign to_issue = read_valid && !handed && (!issue_valid || issue_done);
  assign unit_empty = !read_valid && !issue_valid && lanes_empty;
  assign busy = prep_valid || !unit_empty;

  always_comb begin
    tag = issue.tag;
    tag.first = i == 0 && j == 0;
    tag.last = j_end && i + 1 >= issue.ni;
    tag.row = y_now;
  end

  always_ff @(posedge clk) begin
    if (rst) issue_valid <= 0;
    else if (to_issue) begin
      issue <= read;
      issue_p <= read_p;
      issue_valid <= 1;
      i <= 0;
      j <= 0;
      y_first <= read.y.row;
      y_now <= read.y.row;
    end else if (enter) begin
      if (tag.last) issue_valid <= 0;
      if (j_end) begin
        j <= 0;
        i <= i + 1;
        y_first <= y_first + issue.y.i_step;
        y_now <= y_first + issue.y.i_step;
      end else begin
        j <= j + 1;
        y_now <= y_now + issue.y.j_step;
      end
    end
  end

  // Results -----------------------------------------------------------------------------------------------------------
  lane_tag_t out_tag;
  logic out_valid, out_write;
  logic [WORD_ROW-1:0] out;

  simnpu_lanes lanes (
      .clk, .rst, .enable, .enter, .tag, .a(operand[0]), .b(operand[1]), .c(operand[2][BYTE_ROW-1:0]), .p0(issue_p[0]), .p1(issue_p[1]), .tables,
      .empty(lanes_empty), .out_valid, .out_tag, .out);

  // Sums over rows come out once.
  assign out_write = out_valid && (out_tag.op != SUM_CODES || out_tag.last);
  assign enable = !out_write || (out_tag.to_acc ? acc_wgrant : spad_wgrant);
  assign acc_wreq = out_write && out_tag.to_acc;
  assign acc_wrow = ACC_ROW_W'(out_tag.row);
  assign acc_wdata = out;
  assign spad_wreq = out_write && !out_tag.to_acc;
  assign spad_wrow = SPAD_ROW_W'(out_tag.row);
  always_comb begin
    spad_wdata = 0;
    if (spad_wreq) for (int n = 0; n < D; ++n) spad_wdata[8*n+:8] = out[32*n+:8];
  end
  assign last = out_valid && out_tag.last && enable;
  assign last_signals = out_tag.signals;
endmodule
