// A hardware loop between a queue's fetcher and its unit. Words that are no loop pass through in the same cycle. Behind a
// loop's header come pairs, a command and its step: the first turn runs while they come, and keeps each command plus its
// step; later turns run from what was kept and add the step again.
module simnpu_loop
  import simnpu_pkg::*;
  import simnpu_types::*;
(
    input logic clk,
    input logic rst,
    input logic word_valid,
    input command_t word,
    output logic word_take,
    output logic cmd_valid,
    output command_t cmd,
    input logic cmd_take,
    output logic running  // between a header and the last command of the last turn
);
  localparam int BODY_W = $clog2(MAX_BODY);

  command_t kept[MAX_BODY], steps[MAX_BODY], first;
  logic [LOOP_TURNS_W-1:0] turns_left;  // with this one
  logic [BODY_W-1:0] at, last;
  logic filling, have_first, is_loop, ends_turn;

  assign is_loop = word[7:0] == OP_LOOP;
  assign ends_turn = at == last;

  always_comb begin
    if (!running) begin
      cmd_valid = word_valid && !is_loop;
      cmd = word;
      word_take = word_valid && (is_loop || cmd_take);
    end else if (filling) begin
      cmd_valid = have_first && word_valid;
      cmd = first;
      word_take = word_valid && (!have_first || cmd_take);
    end else begin
      cmd_valid = 1;
      cmd = kept[at];
      word_take = 0;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      running <= 0;
      filling <= 0;
      have_first <= 0;
    end else if (!running) begin
      if (word_valid && is_loop) begin
        running <= 1;
        filling <= 1;
        have_first <= 0;
        at <= 0;
        last <= BODY_W'(word[LOOP_BODY_LSB+:LOOP_BODY_W] - 1);
        turns_left <= word[LOOP_TURNS_LSB+:LOOP_TURNS_W];
      end
    end else if (filling && word_valid && !have_first) begin
      first <= word;
      have_first <= 1;
    end else if (cmd_valid && cmd_take) begin
      have_first <= 0;
      kept[at] <= filling ? first + word : kept[at] + steps[at];
      if (filling) steps[at] <= word;
      at <= ends_turn ? 0 : at + 1;
      if (ends_turn) begin
        filling <= 0;
        turns_left <= turns_left - 1;
        if (turns_left == 1) running <= 0;
      end
    end
  end
endmodule
