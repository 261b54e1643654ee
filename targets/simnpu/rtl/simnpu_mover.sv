// A mover: reads runs of bytes as aligned chunks from one memory, shifts them to the alignment of the other, and writes
// them as chunks with byte strobes. The requester runs ahead of the writer by as much as the buffer holds, over the end
// of a command into the next, so that the latency of the source shows once only. Both walk the same runs.
module simnpu_mover
  import simnpu_types::*;
#(
    parameter int BUFFER = 128,  // chunks asked for and not yet written
    parameter int COMMANDS = 4  // between the two, so that short ones hide the latency too
) (
    input logic clk,
    input logic rst,
    input logic cmd_valid,
    input move_t cmd,
    output logic cmd_take,
    // source
    output logic src_valid,
    output address_t src_addr,
    output logic src_acc,
    input logic src_ready,
    input logic rsp_valid,
    input logic [8*CHUNK-1:0] rsp_data,
    // destination
    output logic dst_valid,
    output address_t dst_addr,
    output logic dst_acc,
    output logic [8*CHUNK-1:0] dst_data,
    output logic [CHUNK-1:0] dst_strobe,
    input logic dst_ready,
    // the last chunk of a command is written; held back while hold
    input logic hold,
    output logic last,
    output queues_t last_signals,
    output logic busy
);
  localparam int OFF_W = $clog2(CHUNK);
  localparam int CREDIT_W = $clog2(BUFFER + 1);
  typedef logic [OFF_W-1:0] offset_t;
  typedef logic [10:0] chunks_t;  // chunks of one run

  function automatic chunks_t run_chunks(input offset_t offset, input logic [13:0] len);
    return chunks_t'((15'(offset) + 15'(len) + 15'(CHUNK - 1)) >> OFF_W);
  endfunction

  // Requester -------------------------------------------------------------------------------------------------------
  move_t r;
  logic r_active;
  logic [11:0] r_i, r_j;
  address_t r_row, r_run;  // addresses of run (i, 0) and run (i, j)
  chunks_t r_chunk;
  logic [CREDIT_W-1:0] credits;
  logic r_inside, r_step, r_run_done, r_done, pending_full, consume;

  assign r_inside = r_i >= r.ilo && r_i < r.ihi && r_j >= r.jlo && r_j < r.jhi && r.valid != 0;
  assign src_valid = r_active && r_inside && credits != 0;
  assign src_addr = {r_run[31:OFF_W] + (32 - OFF_W)'(r_chunk), OFF_W'(0)};
  assign src_acc = r.src_acc;
  assign r_step = src_valid && src_ready;
  assign r_run_done = r_active && (!r_inside || (r_step && r_chunk + 1 == run_chunks(r_run[OFF_W-1:0], r.valid)));
  assign r_done = r_run_done && r_j + 1 >= r.nj && r_i + 1 >= r.ni;
  assign cmd_take = cmd_valid && !pending_full && (!r_active || r_done);

  always_ff @(posedge clk) begin
    if (rst) begin
      r_active <= 0;
      credits <= CREDIT_W'(BUFFER);
    end else begin
      if (r_step != consume) credits <= r_step ? credits - 1 : credits + 1;
      if (cmd_take) begin
        r <= cmd;
        r_active <= 1;
        r_i <= 0;
        r_j <= 0;
        r_row <= cmd.src;
        r_run <= cmd.src;
        r_chunk <= 0;
      end else if (r_active) begin
        if (r_done) r_active <= 0;
        if (r_run_done) begin
          r_chunk <= 0;
          if (r_j + 1 >= r.nj) begin
            r_j <= 0;
            r_i <= r_i + 1;
            r_row <= r_row + 32'(r.si);
            r_run <= r_row + 32'(r.si);
          end else begin
            r_j <= r_j + 1;
            r_run <= r_run + 32'(r.sj);
          end
        end else if (r_step) r_chunk <= r_chunk + 1;
      end
    end
  end

  // Between -----------------------------------------------------------------------------------------------------------
  move_t pending;
  logic pending_empty, w_take;
  simnpu_fifo #(.WIDTH($bits(move_t)), .DEPTH(COMMANDS)) commands (
      .clk, .rst, .push(cmd_take), .in(cmd), .pop(w_take), .out(pending), .empty(pending_empty), .full(pending_full));

  logic [8*CHUNK-1:0] chunk;
  logic data_empty, unused_full;
  simnpu_fifo #(.WIDTH(8 * CHUNK), .DEPTH(BUFFER)) data (
      .clk, .rst, .push(rsp_valid), .in(rsp_data), .pop(consume), .out(chunk), .empty(data_empty), .full(unused_full));

  // Writer ------------------------------------------------------------------------------------------------------------
  move_t w;
  logic w_active;
  logic [11:0] w_i, w_j;
  offset_t s_row, s_run;  // where in a chunk what is read of run (i, 0) and (i, j) starts
  address_t d_row, d_run;
  chunks_t in_count, out_count;  // chunks of this run that came and went
  logic [8*CHUNK-1:0] former;  // the chunk before, rotated

  offset_t shift, first;  // where in a chunk the first byte that was read goes
  logic w_inside, ahead, filling, have, emit, w_step, w_run_done, w_done, more;
  chunks_t in_total, out_total, lead;
  logic [14:0] past;
  logic [8*CHUNK-1:0] rotated;

  assign w_inside = w_i >= w.ilo && w_i < w.ihi && w_j >= w.jlo && w_j < w.jhi && w.valid != 0;
  assign first = d_run[OFF_W-1:0] + w.skip[OFF_W-1:0];
  assign lead = chunks_t'((15'(d_run[OFF_W-1:0]) + 15'(w.skip)) >> OFF_W);  // the chunk that it goes to
  assign past = 15'(d_run[OFF_W-1:0]) + 15'(w.skip) + 15'(w.valid);  // behind the last one, from the first chunk's start
  assign filling = out_count < lead;
  assign shift = first - s_run;
  assign ahead = first >= s_run;  // the first chunk read has all that the first chunk written of it needs
  assign in_total = run_chunks(s_run, w.valid);
  assign out_total = run_chunks(d_run[OFF_W-1:0], w.len);
  assign more = w_inside && in_count != in_total;
  assign have = !more || filling || !data_empty;
  assign emit = w_active && have && !(more && !filling && !ahead && in_count == 0 && in_total != 1);
  assign dst_valid = emit && !(hold && out_count + 1 == out_total && w_j + 1 >= w.nj && w_i + 1 >= w.ni);
  assign w_step = dst_valid && dst_ready;
  assign consume = w_active && more && !filling && !data_empty && (!emit || w_step);
  assign w_run_done = w_step && out_count + 1 == out_total;
  assign w_done = w_run_done && w_j + 1 >= w.nj && w_i + 1 >= w.ni;
  assign w_take = !pending_empty && (!w_active || w_done);

  assign dst_addr = {d_run[31:OFF_W] + (32 - OFF_W)'(out_count), OFF_W'(0)};
  assign dst_acc = w.dst_acc;
  assign last = w_done;
  assign last_signals = w.signals;
  assign busy = r_active || w_active || !pending_empty;

  always_comb begin
    automatic logic [2*8*CHUNK-1:0] twice = 0;
    automatic logic [8*CHUNK-1:0] low = 0;
    automatic offset_t finish = 0;
    automatic logic [CHUNK-1:0] read = 0;  // bytes of the chunk that were read
    rotated = chunk;
    dst_data = 0;
    dst_strobe = 0;
    if (w_active) begin
      if (shift != 0 && more) begin
        twice = {chunk, chunk} << {shift, 3'b0};
        rotated = twice[2*8*CHUNK-1-:8*CHUNK];
      end
      // Bytes below the shift come from the chunk before, unless the run lies within one chunk read.
      if (!more) dst_data = former;
      else if (shift == 0 || (!ahead && in_total == 1)) dst_data = rotated;
      else begin
        low = ~({8 * CHUNK{1'b1}} << {shift, 3'b0});
        dst_data = (former & low) | (rotated & ~low);
      end
      read = w_inside && !filling && out_count <= chunks_t'(past >> OFF_W) ? '1 : 0;
      if (out_count == lead) read &= {CHUNK{1'b1}} << first;
      if (out_count == chunks_t'(past >> OFF_W)) read &= ~({CHUNK{1'b1}} << past[OFF_W-1:0]);
      for (int b = 0; b < CHUNK; ++b) if (!read[b]) dst_data[8*b+:8] = w.fill;
      dst_strobe = '1;
      if (out_count == 0) dst_strobe &= {CHUNK{1'b1}} << d_run[OFF_W-1:0];
      if (out_count + 1 == out_total) begin
        finish = d_run[OFF_W-1:0] + w.len[OFF_W-1:0];
        if (finish != 0) dst_strobe &= ~({CHUNK{1'b1}} << finish);
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) w_active <= 0;
    else if (w_take) begin
      w <= pending;
      w_active <= 1;
      w_i <= 0;
      w_j <= 0;
      s_row <= pending.src[OFF_W-1:0];
      s_run <= pending.src[OFF_W-1:0];
      d_row <= pending.dst;
      d_run <= pending.dst;
      in_count <= 0;
      out_count <= 0;
    end else if (w_active) begin
      if (w_done) w_active <= 0;
      if (w_run_done) begin
        in_count <= 0;
        out_count <= 0;
        if (w_j + 1 >= w.nj) begin
          w_j <= 0;
          w_i <= w_i + 1;
          s_row <= s_row + w.si[OFF_W-1:0];
          s_run <= s_row + w.si[OFF_W-1:0];
          d_row <= d_row + 32'(w.di);
          d_run <= d_row + 32'(w.di);
        end else begin
          w_j <= w_j + 1;
          s_run <= s_run + w.sj[OFF_W-1:0];
          d_run <= d_run + 32'(w.dj);
        end
      end else begin
        if (w_step) out_count <= out_count + 1;
        if (consume) in_count <= in_count + 1;
      end
    end
    if (consume) former <= rotated;
  end
endmodule
