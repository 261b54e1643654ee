// Completed commands of a queue that have yet to hand out their tokens: in order, each when its counters have room and,
// for stores, when DRAM has acknowledged as many writes as were sent by then.
module simnpu_complete
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input logic last,
    input queues_t last_signals,
    input logic [31:0] sent,  // writes, with this cycle's; 0 where writes need no acknowledgement
    input logic [31:0] acknowledged,
    output logic hold,  // no more commands, please: those on their way still fit
    output queues_t signals,
    input logic may_complete,
    output logic complete
);
  // The array can have a command in each of its rows on the way.
  localparam int DEPTH = 64;
  localparam int ON_THE_WAY = D + 6;
  logic [31:0] target;
  logic empty, unused_full;
  logic [6:0] count;

  assign hold = count >= 7'(DEPTH - ON_THE_WAY);
  assign complete = !empty && may_complete && $signed(acknowledged - target) >= 0;

  simnpu_fifo #(.WIDTH(QUEUES + 32), .DEPTH(DEPTH)) completions (
      .clk, .rst, .push(last), .in({last_signals, sent}), .pop(complete), .out({signals, target}), .empty,
      .full(unused_full));

  always_ff @(posedge clk)
    if (rst) count <= 0;
    else count <= count + 7'(last) - 7'(complete);
endmodule
