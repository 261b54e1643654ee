// One queue's command fetcher: reads its stream from DRAM, DEPTH commands ahead.
module simnpu_fetch
  import simnpu_pkg::*;
  import simnpu_types::*;
#(
    parameter int DEPTH = 4
) (
    input logic clk,
    input logic rst,
    input logic start,  // doorbell: base and count are valid
    input address_t base,
    input logic [31:0] count,
    output logic req_valid,
    output address_t req_addr,
    input logic req_ready,
    input logic rsp_valid,
    input logic [8*CHUNK-1:0] rsp_data,
    output logic cmd_valid,
    output command_t cmd,
    input logic cmd_take
);
  localparam int BEATS = COMMAND_BYTES / CHUNK;
  localparam int CREDIT_W = $clog2(DEPTH * BEATS + 1);

  address_t next_addr;
  logic [32:0] beats_left;
  logic [CREDIT_W-1:0] credits;  // beats that there is room for
  logic half, empty, unused_full;
  logic [8*CHUNK-1:0] low;

  assign req_valid = beats_left != 0 && credits != 0;
  assign req_addr = next_addr;
  assign cmd_valid = !empty;

  simnpu_fifo #(.WIDTH(COMMAND_BITS), .DEPTH(DEPTH)) commands (
      .clk, .rst(rst || start), .push(rsp_valid && half), .in({rsp_data, low}), .pop(cmd_take), .out(cmd), .empty,
      .full(unused_full));

  always_ff @(posedge clk) begin
    if (rst || start) begin
      next_addr <= base;
      beats_left <= rst ? 0 : {count, 1'b0};
      credits <= CREDIT_W'(DEPTH * BEATS);
      half <= 0;
    end else begin
      if (req_valid && req_ready) begin
        next_addr <= next_addr + CHUNK;
        beats_left <= beats_left - 1;
      end
      credits <= credits - CREDIT_W'(req_valid && req_ready) + (cmd_take ? CREDIT_W'(BEATS) : 0);
      if (rsp_valid) begin
        half <= !half;
        if (!half) low <= rsp_data;
      end
    end
  end

  if (BEATS != 2) $error("a command is taken to be two beats of DRAM");
endmodule
