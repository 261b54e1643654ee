// A banked memory: row r lies in bank r mod BANKS, and each bank serves one read and one write a cycle. Ports of lower
// number win; a port that loses tries again. Row ports move whole rows, chunk ports move CHUNK aligned bytes for the
// movers (part of a row, or two rows where rows are half a chunk). Data come the cycle after the grant.
//
// The banks are one array here: the arbitration is what makes it a banked memory, and one array simulates faster.
module simnpu_memory
  import simnpu_types::*;
#(
    parameter int ROW_BYTES = 16,
    parameter int ROWS = 16384,
    parameter int BANKS = 4,
    parameter int READERS = 4,
    parameter bit FORWARD = 0,  // reader 0 sees what writer 0 writes in the same cycle
    localparam int ROW_W = $clog2(ROWS),
    localparam int BITS = 8 * ROW_BYTES,
    localparam int CHUNK_W = $clog2(ROWS * ROW_BYTES / CHUNK)
) (
    input logic clk,
    input logic rst,
    // row readers
    input logic r_req[READERS],
    input logic [ROW_W-1:0] r_row[READERS],
    output logic r_grant[READERS],
    output logic [BITS-1:0] r_data[READERS],
    // chunk reader, after them
    input logic c_req,
    input logic [CHUNK_W-1:0] c_chunk,
    output logic c_grant,
    output logic [8*CHUNK-1:0] c_data,
    // row writers
    input logic w_req[2],
    input logic [ROW_W-1:0] w_row[2],
    input logic [BITS-1:0] w_data[2],
    output logic w_grant[2],
    // chunk writers, after them
    input logic x_req[2],
    input logic [CHUNK_W-1:0] x_chunk[2],
    input logic [8*CHUNK-1:0] x_data[2],
    input logic [CHUNK-1:0] x_strobe[2],
    output logic x_grant[2],
    output logic conflict  // somebody lost
);
  localparam int BANK_W = $clog2(BANKS);
  localparam int PARTS = ROW_BYTES >= CHUNK ? ROW_BYTES / CHUNK : 1;
  typedef logic [BANKS-1:0] banks_t;

  logic [BITS-1:0] mem[ROWS];

  function automatic banks_t row_bank(input logic [ROW_W-1:0] row);
    return banks_t'(1) << row[BANK_W-1:0];
  endfunction

  function automatic logic [ROW_W-1:0] chunk_row(input logic [CHUNK_W-1:0] chunk);
    return ROW_BYTES >= CHUNK ? ROW_W'(chunk / CHUNK_W'(PARTS)) : ROW_W'({chunk, 1'b0});
  endfunction

  function automatic banks_t chunk_banks(input logic [CHUNK_W-1:0] chunk);
    return ROW_BYTES >= CHUNK ? row_bank(chunk_row(chunk)) : row_bank(chunk_row(chunk)) | row_bank(chunk_row(chunk) + 1);
  endfunction

  logic read_conflict, write_conflict;
  assign conflict = read_conflict | write_conflict;

  always_comb begin
    automatic banks_t taken = 0;
    read_conflict = 0;
    for (int p = 0; p < READERS; ++p) begin
      r_grant[p] = 0;
      if (r_req[p]) begin
        r_grant[p] = (taken & row_bank(r_row[p])) == 0;
        read_conflict |= !r_grant[p];
        taken |= row_bank(r_row[p]);
      end
    end
    c_grant = c_req && (taken & chunk_banks(c_chunk)) == 0;
    read_conflict |= c_req && !c_grant;
  end

  always_comb begin
    automatic banks_t taken = 0;
    write_conflict = 0;
    for (int p = 0; p < 2; ++p) begin
      w_grant[p] = 0;
      if (w_req[p]) begin
        w_grant[p] = (taken & row_bank(w_row[p])) == 0;
        write_conflict |= !w_grant[p];
        taken |= row_bank(w_row[p]);
      end
    end
    for (int p = 0; p < 2; ++p) begin
      x_grant[p] = 0;
      if (x_req[p]) begin
        x_grant[p] = (taken & chunk_banks(x_chunk[p])) == 0;
        write_conflict |= !x_grant[p];
        if (x_grant[p]) taken |= chunk_banks(x_chunk[p]);
      end
    end
  end

  for (genvar p = 0; p < READERS; ++p) begin : g_read
    always_ff @(posedge clk)
      if (r_grant[p]) begin
        if (FORWARD && p == 0 && w_grant[0] && w_row[0] == r_row[0]) r_data[p] <= w_data[0];
        else r_data[p] <= mem[r_row[p]];
      end
  end

  if (ROW_BYTES < CHUNK) begin : g_pair
    always_ff @(posedge clk)
      if (c_grant) c_data <= {mem[{c_chunk, 1'b1}], mem[{c_chunk, 1'b0}]};
  end else if (PARTS == 1) begin : g_whole
    always_ff @(posedge clk) if (c_grant) c_data <= mem[c_chunk];
  end else begin : g_part
    always_ff @(posedge clk) begin
      if (c_grant) begin
        automatic logic [BITS-1:0] row = mem[chunk_row(c_chunk)];
        c_data <= row[8*CHUNK*32'(c_chunk%CHUNK_W'(PARTS))+:8*CHUNK];
      end
    end
  end

  function automatic logic [8*CHUNK-1:0] bit_mask(input logic [CHUNK-1:0] strobe);
    for (int n = 0; n < CHUNK; ++n) bit_mask[8*n+:8] = {8{strobe[n]}};
  endfunction

  for (genvar p = 0; p < 2; ++p) begin : g_write
    logic [8*CHUNK-1:0] mask;
    assign mask = x_grant[p] ? bit_mask(x_strobe[p]) : 0;

    always_ff @(posedge clk)
      if (w_grant[p]) mem[w_row[p]] <= w_data[p];

    if (ROW_BYTES < CHUNK) begin : g_pair
      always_ff @(posedge clk)
        if (x_grant[p]) begin
          mem[{x_chunk[p], 1'b0}] <= (mem[{x_chunk[p], 1'b0}] & ~mask[BITS-1:0]) | (x_data[p][BITS-1:0] & mask[BITS-1:0]);
          mem[{x_chunk[p], 1'b1}] <= (mem[{x_chunk[p], 1'b1}] & ~mask[2*BITS-1-:BITS]) |
              (x_data[p][2*BITS-1-:BITS] & mask[2*BITS-1-:BITS]);
        end
    end else if (PARTS == 1) begin : g_whole
      always_ff @(posedge clk)
        if (x_grant[p]) mem[x_chunk[p]] <= (mem[x_chunk[p]] & ~mask) | (x_data[p] & mask);
    end else begin : g_part
      logic [ROW_W-1:0] row;
      assign row = chunk_row(x_chunk[p]);
      always_ff @(posedge clk)
        if (x_grant[p])
          for (int part = 0; part < PARTS; ++part)
            if (x_chunk[p][$clog2(PARTS)-1:0] == $clog2(PARTS)'(part))
              mem[row][8*CHUNK*part+:8*CHUNK] <= (mem[row][8*CHUNK*part+:8*CHUNK] & ~mask) | (x_data[p] & mask);
    end
  end
endmodule
