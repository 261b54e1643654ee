// The token counters: one for each ordered pair of queues. A command starts when every counter it waits for is above
// zero, and takes one from each; a command that completes adds one to each counter it signals, or waits while one is full.
module simnpu_tokens
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input queues_t waits[QUEUES],  // of the head command of each queue
    output queues_t may_start,
    input queues_t starts,
    input queues_t signals[QUEUES],  // of the completing command of each queue
    output queues_t may_complete,
    input queues_t completes,
    output queues_t available[QUEUES]  // [consumer][producer]: the counter is above zero
);
  localparam int W = $clog2(MAX_TOKENS + 1);

  logic [W-1:0] counter[QUEUES][QUEUES];  // [producer][consumer]
  queues_t full[QUEUES];  // [producer][consumer]

  always_comb
    for (int q = 0; q < QUEUES; ++q) begin
      may_start[q] = (waits[q] & ~available[q]) == 0;
      may_complete[q] = (signals[q] & full[q]) == 0;
    end

  always_ff @(posedge clk) begin
    if (rst)
      for (int p = 0; p < QUEUES; ++p) begin
        available[p] <= 0;
        full[p] <= 0;
        for (int c = 0; c < QUEUES; ++c) counter[p][c] <= 0;
      end
    else if (starts != 0 || completes != 0)
      for (int p = 0; p < QUEUES; ++p)
        for (int c = 0; c < QUEUES; ++c) begin
          automatic logic [W-1:0] next = counter[p][c] + W'(completes[p] & signals[p][c]) - W'(starts[c] & waits[c][p]);
          counter[p][c] <= next;
          available[c][p] <= next != 0;
          full[p][c] <= next == W'(QUEUE_TOKENS[p]);
        end
  end
endmodule
