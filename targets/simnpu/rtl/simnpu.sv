// The NPU: six queues, the units that they feed, the memories between them. Every size and field position comes from
// simnpu_pkg, which is generated from the description (simnpu.td).
module simnpu
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    // doorbell: starts when high for a cycle, with the registers below set
    input logic start,
    input address_t stream_base[QUEUES],
    input logic [31:0] stream_count[QUEUES],
    input address_t args[ARGUMENTS],
    output logic done,  // every command of every queue has completed
    // DRAM
    output logic [31:0] dram_latency,  // what the description says, for the model behind this port
    output logic dram_req_valid,
    output logic dram_req_write,
    output logic [3:0] dram_req_tag,
    output address_t dram_req_addr,
    output logic [8*CHUNK-1:0] dram_req_data,
    output logic [CHUNK-1:0] dram_req_strobe,
    input logic dram_req_ready,
    input logic dram_rsp_valid,
    input logic [3:0] dram_rsp_tag,
    input logic [8*CHUNK-1:0] dram_rsp_data,
    input logic [3:0] dram_acks,  // writes acknowledged in this cycle
    // observation
    output queues_t started,
    output queues_t completed,
    output queues_t illegal,  // the head command is none of this queue's instructions
    output queues_t waiting_for[QUEUES],  // tokens that the head command lacks
    output logic [31:0] commands_started[QUEUES],
    output logic [31:0] commands_completed[QUEUES],
    output queues_t finished,  // nothing more comes from this queue's stream
    output logic [63:0] counters[2*QUEUES+6]
);
  // Queues ------------------------------------------------------------------------------------------------------------
  logic fetch_req[QUEUES], fetch_ready[QUEUES], head_valid[QUEUES];
  address_t fetch_addr[QUEUES];
  command_t word[QUEUES], head[QUEUES];  // as fetched; as it runs
  logic [31:0] words_taken[QUEUES];
  logic word_valid[QUEUES], word_take[QUEUES], looping[QUEUES];
  queues_t waits[QUEUES], signals[QUEUES], available[QUEUES];
  queues_t may_start, takes, may_complete, completes, lasts, busy, running, holds;
  queues_t last_signals[QUEUES];
  logic valid[QUEUES];  // the head command is there, legal, and has its tokens

  logic rsp_valid;
  logic [3:0] rsp_tag;
  logic [8*CHUNK-1:0] rsp_data;
  logic [3:0] acks;
  logic [31:0] writes_sent, writes_acknowledged;
  logic store_fire;

  always_ff @(posedge clk) begin
    rsp_valid <= !rst && dram_rsp_valid;
    rsp_tag <= dram_rsp_tag;
    rsp_data <= dram_rsp_data;
    acks <= rst ? 0 : dram_acks;
  end

  function automatic logic legal(input int q, input logic [7:0] op);
    case (q)
      Q_L0: return op == OP_LDS0 || op == OP_LDA0 || op == OP_LDR0;
      Q_L1: return op == OP_LDS1 || op == OP_LDA1 || op == OP_LDR1;
      Q_WX: return op == OP_WLD || op == OP_WLDT || op == OP_WLDR;
      Q_MX: return op == OP_MMA || op == OP_MMC3 || op == OP_MMC3X2 || op == OP_MMC5 || op == OP_MMC5X2;
      Q_ST: return op == OP_STS || op == OP_STA;
      default:
      case (op)
        OP_VRQ, OP_VADDQ, OP_VQ, OP_VMAXQ, OP_VSUMQ, OP_VDQ, OP_VI2F, OP_VADD, OP_VSUB, OP_VMUL, OP_VMAX, OP_VMIN,
        OP_VSUM, OP_VMOST, OP_VEXP2, OP_VRECIP, OP_VRSQRT, OP_VRSUM, OP_VRMAX, OP_VDIV, OP_VSQRT, OP_VLUT, OP_VLUTQ, OP_VRMAXQ, OP_VRSUMQ, OP_VRSQQ, OP_VRLUT, OP_VBELOW, OP_VSUBQ, OP_VNQ,
        OP_VADDW, OP_VSUBW, OP_VMULW, OP_VMAXW, OP_VMINW, OP_VANDW, OP_VORW, OP_VXORW, OP_VSHLW, OP_VSHRW, OP_VSHRUW, OP_VMAXF,
        OP_VMINF, OP_VADDB, OP_VSUBB, OP_VMULB, OP_VMAXB, OP_VMINB, OP_VANDB, OP_VORB, OP_VXORB, OP_VEQW, OP_VEQF, OP_VEQB,
        OP_VLTW, OP_VLTF, OP_VLTB, OP_VLEW, OP_VLEF, OP_VLEB, OP_VLTUW, OP_VSELW, OP_VSELF, OP_VSELB, OP_VNEG, OP_VABS, OP_VFLOOR,
        OP_VCEIL, OP_VROUND, OP_VWHOLE, OP_VBITS, OP_VOFBITS, OP_VWIDEN, OP_VB2F, OP_VNARROW, OP_VSETW, OP_VSETF, OP_VSETB: return 1;
        default: return 0;
      endcase
    endcase
  endfunction

  for (genvar q = 0; q < QUEUES; ++q) begin : g_queue
    simnpu_fetch #(.DEPTH(QUEUE_DEPTH[q])) fetch (
        .clk, .rst, .start, .base(stream_base[q]), .count(stream_count[q]),
        .req_valid(fetch_req[q]), .req_addr(fetch_addr[q]), .req_ready(fetch_ready[q]),
        .rsp_valid(rsp_valid && rsp_tag == 4'(q)), .rsp_data,
        .cmd_valid(word_valid[q]), .cmd(word[q]), .cmd_take(word_take[q]));

    simnpu_loop loop (
        .clk, .rst(rst || start), .word_valid(word_valid[q]), .word(word[q]), .word_take(word_take[q]),
        .cmd_valid(head_valid[q]), .cmd(head[q]), .cmd_take(takes[q]), .running(looping[q]));

    assign waits[q] = head[q][WAIT_BIT+:QUEUES];
    assign waiting_for[q] = waits[q] & ~available[q] & {QUEUES{head_valid[q]}};
    assign illegal[q] = head_valid[q] && !legal(q, head[q][7:0]);
    assign valid[q] = head_valid[q] && may_start[q] && !illegal[q];

    simnpu_complete complete (
        .clk, .rst, .last(lasts[q]), .last_signals(last_signals[q]),
        .sent(q == Q_ST ? writes_sent + 32'(store_fire) : 0), .acknowledged(q == Q_ST ? writes_acknowledged : 0),
        .hold(holds[q]), .signals(signals[q]), .may_complete(may_complete[q]), .complete(completes[q]));

    assign running[q] = words_taken[q] != stream_count[q] || looping[q] || commands_completed[q] != commands_started[q];

    always_ff @(posedge clk)
      if (rst || start) begin
        commands_started[q] <= 0;
        commands_completed[q] <= 0;
        words_taken[q] <= 0;
      end else begin
        if (word_take[q]) words_taken[q] <= words_taken[q] + 1;
        if (takes[q]) commands_started[q] <= commands_started[q] + 1;
        if (completes[q]) commands_completed[q] <= commands_completed[q] + 1;
      end
  end

  assign dram_latency = DRAM_LATENCY;
  assign started = takes;
  assign completed = completes;
  assign done = running == 0;
  assign finished = ~running;

  simnpu_tokens tokens (
      .clk, .rst(rst || start), .waits, .may_start, .starts(takes), .signals, .may_complete, .completes, .available);

  always_ff @(posedge clk)
    if (rst) begin
      writes_sent <= 0;
      writes_acknowledged <= 0;
    end else begin
      writes_sent <= writes_sent + 32'(store_fire);
      writes_acknowledged <= writes_acknowledged + 32'(acks);
    end

  // Memories ----------------------------------------------------------------------------------------------------------
  // Readers of the scratchpad: array (a line of a window each), weights, vector x 3. Of the accumulator: array,
  // vector x 2, vector's parameters.
  localparam int SPAD_CHUNK_W = $clog2(SPAD_BYTES / CHUNK);
  localparam int ACC_CHUNK_W = $clog2(ACC_BYTES / CHUNK);
  localparam int SPAD_READERS = LINES + 4;
  logic sr_req[SPAD_READERS], sr_grant[SPAD_READERS], ar_req[4], ar_grant[4];
  logic [SPAD_ROW_W-1:0] sr_row[SPAD_READERS], sw_row[2];
  logic [ACC_ROW_W-1:0] ar_row[4], aw_row[2];
  logic [BYTE_ROW-1:0] sr_data[SPAD_READERS], sw_data[2];
  logic [WORD_ROW-1:0] ar_data[4], aw_data[2];
  logic sw_req[2], sw_grant[2], aw_req[2], aw_grant[2];
  logic sc_req, sc_grant, ac_req, ac_grant;
  logic [8*CHUNK-1:0] sc_data, ac_data;
  logic sx_req[2], sx_grant[2], ax_req[2], ax_grant[2];
  logic [SPAD_CHUNK_W-1:0] sx_chunk[2];
  logic [ACC_CHUNK_W-1:0] ax_chunk[2];
  logic [8*CHUNK-1:0] x_data[2];
  logic [CHUNK-1:0] x_strobe[2];
  address_t store_src;
  logic spad_conflict, acc_conflict;

  simnpu_memory #(.ROW_BYTES(SPAD_ROW_BYTES), .ROWS(SPAD_ROWS), .BANKS(SPAD_BANKS), .READERS(SPAD_READERS)) spad (
      .clk, .rst, .r_req(sr_req), .r_row(sr_row), .r_grant(sr_grant), .r_data(sr_data),
      .c_req(sc_req), .c_chunk(SPAD_CHUNK_W'(store_src / CHUNK)), .c_grant(sc_grant), .c_data(sc_data),
      .w_req(sw_req), .w_row(sw_row), .w_data(sw_data), .w_grant(sw_grant),
      .x_req(sx_req), .x_chunk(sx_chunk), .x_data, .x_strobe, .x_grant(sx_grant), .conflict(spad_conflict));

  simnpu_memory #(
      .ROW_BYTES(ACC_ROW_BYTES), .ROWS(ACC_ROWS), .BANKS(ACC_BANKS), .READERS(4), .FORWARD(1)
  ) acc (
      .clk, .rst, .r_req(ar_req), .r_row(ar_row), .r_grant(ar_grant), .r_data(ar_data),
      .c_req(ac_req), .c_chunk(ACC_CHUNK_W'(store_src / CHUNK)), .c_grant(ac_grant), .c_data(ac_data),
      .w_req(aw_req), .w_row(aw_row), .w_data(aw_data), .w_grant(aw_grant),
      .x_req(ax_req), .x_chunk(ax_chunk), .x_data, .x_strobe, .x_grant(ax_grant), .conflict(acc_conflict));

  // Movers ------------------------------------------------------------------------------------------------------------
  logic load_req[2], load_ready[2];
  address_t load_addr[2];
  localparam int LOAD_QUEUE[2] = '{Q_L0, Q_L1};

  for (genvar m = 0; m < 2; ++m) begin : g_load
    localparam int Q = LOAD_QUEUE[m];
    move_t move;
    logic dst_valid, dst_acc, unused_src_acc;
    address_t dst_addr;
    simnpu_move_decode decode (.valid(takes[Q]), .cmd(head[Q]), .args, .move);
    simnpu_mover #(.BUFFER(LOAD_BUFFER), .COMMANDS(16)) mover (
        .clk, .rst, .cmd_valid(valid[Q]), .cmd(move), .cmd_take(takes[Q]),
        .src_valid(load_req[m]), .src_addr(load_addr[m]), .src_acc(unused_src_acc), .src_ready(load_ready[m]),
        .rsp_valid(rsp_valid && rsp_tag == 4'(QUEUES + m)), .rsp_data,
        .dst_valid, .dst_addr, .dst_acc, .dst_data(x_data[m]), .dst_strobe(x_strobe[m]),
        .dst_ready(sx_grant[m] || ax_grant[m]),
        .hold(holds[Q]), .last(lasts[Q]), .last_signals(last_signals[Q]), .busy(busy[Q]));
    assign sx_req[m] = dst_valid && !dst_acc;
    assign ax_req[m] = dst_valid && dst_acc;
    assign sx_chunk[m] = SPAD_CHUNK_W'(dst_addr / CHUNK);
    assign ax_chunk[m] = ACC_CHUNK_W'(dst_addr / CHUNK);
  end

  logic store_req, store_ready, store_src_valid, store_src_acc, store_coming, store_coming_acc, unused_dst_acc;
  address_t store_addr;
  logic [8*CHUNK-1:0] store_data;
  logic [CHUNK-1:0] store_strobe;
  move_t store_move;
  simnpu_move_decode #(.STORE(1)) store_decode (.valid(takes[Q_ST]), .cmd(head[Q_ST]), .args, .move(store_move));
  simnpu_mover #(.BUFFER(STORE_BUFFER)) store (
      .clk, .rst, .cmd_valid(valid[Q_ST]), .cmd(store_move), .cmd_take(takes[Q_ST]),
      .src_valid(store_src_valid), .src_addr(store_src), .src_acc(store_src_acc), .src_ready(sc_grant || ac_grant),
      .rsp_valid(store_coming), .rsp_data(store_coming_acc ? ac_data : sc_data),
      .dst_valid(store_req), .dst_addr(store_addr), .dst_acc(unused_dst_acc), .dst_data(store_data), .dst_strobe(store_strobe),
      .dst_ready(store_ready),
      .hold(holds[Q_ST]), .last(lasts[Q_ST]), .last_signals(last_signals[Q_ST]), .busy(busy[Q_ST]));
  assign sc_req = store_src_valid && !store_src_acc;
  assign ac_req = store_src_valid && store_src_acc;
  assign store_fire = store_req && store_ready;
  always_ff @(posedge clk) begin
    store_coming <= !rst && (sc_grant || ac_grant);
    store_coming_acc <= ac_grant;
  end

  logic [1:0] reads_fetch_load;
  simnpu_dram_port dram (
      .clk, .rst, .fetch_req, .fetch_addr, .fetch_ready, .load_req, .load_addr, .load_ready,
      .store_req, .store_addr, .store_data, .store_strobe, .store_ready,
      .req_valid(dram_req_valid), .req_write(dram_req_write), .req_tag(dram_req_tag), .req_addr(dram_req_addr),
      .req_data(dram_req_data), .req_strobe(dram_req_strobe), .req_ready(dram_req_ready), .reads_fetch_load);

  // Array -------------------------------------------------------------------------------------------------------------
  logic w_valid, w_column, mma_row;
  logic a_req[LINES], a_grant[LINES];
  logic [SPAD_ROW_W-1:0] a_row[LINES];
  logic [BYTE_ROW-1:0] a_data[LINES];
  logic [BANK_W-1:0] w_bank;
  logic [$clog2(D)-1:0] w_k;

  for (genvar l = 0; l < LINES; ++l) begin : g_line
    assign sr_req[l] = a_req[l];
    assign sr_row[l] = a_row[l];
    assign a_grant[l] = sr_grant[l];
    assign a_data[l] = sr_data[l];
  end

  simnpu_weights weights (
      .clk, .rst, .cmd_valid(valid[Q_WX]), .cmd(head[Q_WX]), .cmd_take(takes[Q_WX]),
      .r_req(sr_req[LINES]), .r_row(sr_row[LINES]), .r_grant(sr_grant[LINES]), .w_valid, .w_bank, .w_column, .w_k,
      .hold(holds[Q_WX]), .last(lasts[Q_WX]), .last_signals(last_signals[Q_WX]), .busy(busy[Q_WX]));

  simnpu_array array (
      .clk, .rst, .cmd_valid(valid[Q_MX]), .cmd(head[Q_MX]), .cmd_take(takes[Q_MX]),
      .w_valid, .w_bank, .w_column, .w_k, .w_data(sr_data[LINES]),
      .a_req, .a_row, .a_grant, .a_data,
      .c_req(ar_req[0]), .c_row(ar_row[0]), .c_data(ar_data[0]),
      .y_req(aw_req[0]), .y_row(aw_row[0]), .y_data(aw_data[0]),
      .hold(holds[Q_MX]), .last(lasts[Q_MX]), .last_signals(last_signals[Q_MX]), .busy(busy[Q_MX]), .row_done(mma_row));

  // Vector unit -------------------------------------------------------------------------------------------------------
  logic v_sreq[3], v_sgrant[3], v_areq[2], v_agrant[2];
  logic [SPAD_ROW_W-1:0] v_srow[3];
  logic [ACC_ROW_W-1:0] v_arow[2];
  logic [BYTE_ROW-1:0] v_sdata[3];
  logic [WORD_ROW-1:0] v_adata[2];

  for (genvar s = 0; s < 3; ++s) begin : g_bytes
    assign sr_req[LINES+1+s] = v_sreq[s];
    assign sr_row[LINES+1+s] = v_srow[s];
    assign v_sgrant[s] = sr_grant[LINES+1+s];
    assign v_sdata[s] = sr_data[LINES+1+s];
  end
  for (genvar s = 0; s < 2; ++s) begin : g_words
    assign ar_req[1+s] = v_areq[s];
    assign ar_row[1+s] = v_arow[s];
    assign v_agrant[s] = ar_grant[1+s];
    assign v_adata[s] = ar_data[1+s];
  end
  assign sw_req[1] = 0;
  assign sw_row[1] = 0;
  assign sw_data[1] = 0;

  simnpu_vector vector (
      .clk, .rst, .cmd_valid(valid[Q_VX]), .cmd(head[Q_VX]), .cmd_take(takes[Q_VX]),
      .spad_req(v_sreq), .spad_row(v_srow), .spad_grant(v_sgrant), .spad_data(v_sdata),
      .acc_req(v_areq), .acc_row(v_arow), .acc_grant(v_agrant), .acc_data(v_adata),
      .par_req(ar_req[3]), .par_row(ar_row[3]), .par_grant(ar_grant[3]), .par_data(ar_data[3]),
      .spad_wreq(sw_req[0]), .spad_wrow(sw_row[0]), .spad_wdata(sw_data[0]), .spad_wgrant(sw_grant[0]),
      .acc_wreq(aw_req[1]), .acc_wrow(aw_row[1]), .acc_wdata(aw_data[1]), .acc_wgrant(aw_grant[1]),
      .hold(holds[Q_VX]), .last(lasts[Q_VX]), .last_signals(last_signals[Q_VX]), .busy(busy[Q_VX]));

  // Counters: busy and stall cycles of each queue, DRAM bytes, rows of the array, cycles with a bank conflict ----------
  logic going;
  always_ff @(posedge clk) begin
    if (rst) begin
      going <= 0;
      for (int n = 0; n < 2 * QUEUES + 6; ++n) counters[n] <= 0;
    end else begin
      going <= start || (going && !done);
      if (going && !done) begin
        for (int q = 0; q < QUEUES; ++q) begin
          if (busy[q]) counters[q] <= counters[q] + 1;
          else if (running[q]) counters[QUEUES+q] <= counters[QUEUES+q] + 1;
        end
        counters[2*QUEUES] <= counters[2*QUEUES] + 1;
        if (reads_fetch_load[0]) counters[2*QUEUES+1] <= counters[2*QUEUES+1] + CHUNK;
        if (store_fire) counters[2*QUEUES+2] <= counters[2*QUEUES+2] + CHUNK;
        if (reads_fetch_load[1]) counters[2*QUEUES+3] <= counters[2*QUEUES+3] + CHUNK;
        if (mma_row) counters[2*QUEUES+4] <= counters[2*QUEUES+4] + 1;
        if (spad_conflict || acc_conflict) counters[2*QUEUES+5] <= counters[2*QUEUES+5] + 1;
      end
    end
  end
endmodule
