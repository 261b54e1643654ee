// Reads the rows of a window in order, as fast as its memory grants them, into a small buffer.
module simnpu_stream
  import simnpu_types::*;
  import simnpu_lane_types::*;
(
    input logic clk,
    input logic rst,
    input logic load,  // only when done
    input window_t window,
    input logic [11:0] ni,
    input logic [11:0] nj,
    output logic done,  // nothing left to ask for after this cycle
    output logic spad_req,
    output logic [SPAD_ROW_W-1:0] spad_row,
    input logic spad_grant,
    input logic [BYTE_ROW-1:0] spad_data,
    output logic acc_req,
    output logic [ACC_ROW_W-1:0] acc_row,
    input logic acc_grant,
    input logic [WORD_ROW-1:0] acc_data,
    input logic pop,
    output logic [WORD_ROW-1:0] out,
    output logic empty
);
  localparam int DEPTH = 4;
  window_t w;
  logic active, grant, j_end, coming, coming_acc, unused_full;
  logic [11:0] i, j, i_count, j_count;
  row_t first, now;
  logic [2:0] credits;

  assign spad_req = active && !w.acc && credits != 0;
  assign acc_req = active && w.acc && credits != 0;
  assign spad_row = SPAD_ROW_W'(now);
  assign acc_row = ACC_ROW_W'(now);
  assign grant = spad_grant | acc_grant;
  assign j_end = j + 1 >= j_count;
  assign done = !active || (grant && j_end && i + 1 >= i_count);

  simnpu_fifo #(.WIDTH(WORD_ROW), .DEPTH(DEPTH)) rows (
      .clk, .rst, .push(coming), .in(coming_acc ? acc_data : WORD_ROW'(spad_data)), .pop, .out, .empty, .full(unused_full));

  always_ff @(posedge clk) begin
    if (rst) begin
      active <= 0;
      coming <= 0;
      credits <= 3'(DEPTH);
    end else begin
      coming <= grant;
      coming_acc <= acc_grant;
      credits <= credits + 3'(pop) - 3'(grant);
      if (load) begin
        w <= window;
        active <= 1;
        i <= 0;
        j <= 0;
        i_count <= ni;
        j_count <= nj;
        first <= window.row;
        now <= window.row;
      end else if (grant) begin
        if (done) active <= 0;
        if (j_end) begin
          j <= 0;
          i <= i + 1;
          first <= first + w.i_step;
          now <= first + w.i_step;
        end else begin
          j <= j + 1;
          now <= now + w.j_step;
        end
      end
    end
  end
endmodule
