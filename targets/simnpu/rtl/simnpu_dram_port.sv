// The one way to DRAM: a beat a cycle, reads and writes together. Command fetches go first (they are few and everything
// waits for them); the movers take turns.
module simnpu_dram_port
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input logic fetch_req[QUEUES],
    input address_t fetch_addr[QUEUES],
    output logic fetch_ready[QUEUES],
    input logic load_req[2],
    input address_t load_addr[2],
    output logic load_ready[2],
    input logic store_req,
    input address_t store_addr,
    input logic [8*CHUNK-1:0] store_data,
    input logic [CHUNK-1:0] store_strobe,
    output logic store_ready,
    // to DRAM; tag: the queue for fetches, QUEUES + mover for loads
    output logic req_valid,
    output logic req_write,
    output logic [3:0] req_tag,
    output address_t req_addr,
    output logic [8*CHUNK-1:0] req_data,
    output logic [CHUNK-1:0] req_strobe,
    input logic req_ready,
    output logic [1:0] reads_fetch_load  // what is read in this cycle
);
  logic [1:0] turn;  // the mover that goes first
  logic [2:0] wants;  // L0, L1, ST
  logic [1:0] chosen;

  assign wants = {store_req, load_req[1], load_req[0]};
  assign req_data = store_data;
  assign req_strobe = store_strobe;

  always_comb begin
    automatic logic fetching = 0;
    req_valid = 0;
    req_write = 0;
    req_tag = 0;
    req_addr = store_addr;
    reads_fetch_load = 0;
    store_ready = 0;
    load_ready[0] = 0;
    load_ready[1] = 0;
    for (int q = 0; q < QUEUES; ++q) fetch_ready[q] = 0;
    for (int q = 0; q < QUEUES; ++q)
      if (fetch_req[q] && !fetching) begin
        fetching = 1;
        req_tag = 4'(q);
        req_addr = fetch_addr[q];
        fetch_ready[q] = req_ready;
      end
    case (turn)
      0: chosen = wants[0] ? 0 : wants[1] ? 1 : 2;
      1: chosen = wants[1] ? 1 : wants[2] ? 2 : 0;
      default: chosen = wants[2] ? 2 : wants[0] ? 0 : 1;
    endcase
    req_valid = fetching || wants != 0;
    if (fetching) reads_fetch_load[1] = req_ready;
    else if (wants != 0) begin
      if (chosen == 2) begin
        req_write = 1;
        store_ready = req_ready;
      end else begin
        req_tag = 4'(QUEUES) + {2'b0, chosen};
        req_addr = load_addr[chosen[0]];
        load_ready[chosen[0]] = req_ready;
        reads_fetch_load[0] = req_ready;
      end
    end
  end

  always_ff @(posedge clk)
    if (rst) turn <= 0;
    else if (load_ready[0] || load_ready[1] || store_ready) turn <= chosen == 2 ? 0 : chosen + 1;
endmodule
