// A queue of DEPTH entries; what was pushed can be popped in the next cycle.
module simnpu_fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 4
) (
    input logic clk,
    input logic rst,
    input logic push,  // only when not full
    input logic [WIDTH-1:0] in,
    input logic pop,  // only when not empty
    output logic [WIDTH-1:0] out,
    output logic empty,
    output logic full
);
  localparam int W = $clog2(DEPTH);
  logic [WIDTH-1:0] entries[DEPTH];
  logic [W-1:0] head, tail;
  logic [W:0] count;

  assign out = entries[head];
  assign empty = count == 0;
  assign full = count == (W + 1)'(DEPTH);

  always_ff @(posedge clk) begin
    if (rst) begin
      head <= 0;
      tail <= 0;
      count <= 0;
    end else begin
      if (push) begin
        entries[tail] <= in;
        tail <= tail == W'(DEPTH - 1) ? 0 : tail + 1;
      end
      if (pop) head <= head == W'(DEPTH - 1) ? 0 : head + 1;
      count <= count + (W + 1)'(push) - (W + 1)'(pop);
    end
  end
endmodule
