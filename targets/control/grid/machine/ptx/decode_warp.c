// What lanes of a warp say to each other: shfl, vote, match, activemask, redux (9.7.9, 9.7.13 of the PTX ISA).
#include "targets/control/grid/machine/ptx/decode.h"

// shfl.sync.mode.b32 d{|p}, a, b, c, mask
static void shuffle(ptx_decoder* d) {
  static const char* const modes[] = {"up", "down", "bfly", "idx"};
  int mode = -1;
  for (int k = 0; k < 4; ++k)
    if (ptx__drop(d, modes[k])) mode = k;
  if (mode < 0 || !ptx__drop(d, "sync") || d->word_count != 2)
    ptx__wrong(d, "a shuffle that the machine does not know");
  ptx__operands(d, 5, 5);
  const ptx_operand* to = ptx__operand(d, 0);
  uint32_t* list = PB_NEW_ARRAY(d->r->arena, uint32_t, 2);
  list[0] = to->kind == PTX_OPERAND_PAIR ? ptx__destination(d, &to->parts[1], 0) : GRID_NONE;
  uint32_t out = ptx__destination(d, to->kind == PTX_OPERAND_PAIR ? &to->parts[0] : to, 4);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 4), b = ptx__source(d, ptx__operand(d, 2), 4);
  uint32_t c = ptx__source(d, ptx__operand(d, 3), 4);
  list[1] = ptx__source(d, ptx__operand(d, 4), 4);
  d->class = GRID_CLASS_MOVE;
  grid_insn* i = ptx__emit(d, GRID_OP_SHUFFLE);
  i->mode = (uint8_t)mode;
  i->d = out;
  i->size = 4;
  i->a = a;
  i->b = b;
  i->c = c;
  i->list = list;
}

static void vote(ptx_decoder* d) {
  static const char* const modes[] = {"all", "any", "uni", "ballot"};
  int mode = -1;
  for (int k = 0; k < 4; ++k)
    if (ptx__drop(d, modes[k])) mode = k;
  if (mode < 0 || !ptx__drop(d, "sync") || d->word_count != 2) ptx__wrong(d, "a vote that the machine does not know");
  ptx__operands(d, 3, 3);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 0), mask = ptx__source(d, ptx__operand(d, 2), 4);
  uint32_t to = ptx__destination(d, ptx__operand(d, 0), mode == 3 ? 4 : 0);
  grid_insn* i = ptx__emit(d, GRID_OP_VOTE);
  i->mode = (uint8_t)mode;
  i->d = to;
  i->a = a;
  i->b = mask;
}

// match.any|all.sync.b32|b64 d{|p}, a, mask
static void match(ptx_decoder* d) {
  bool all = ptx__drop(d, "all");
  if ((!all && !ptx__drop(d, "any")) || !ptx__drop(d, "sync") || d->word_count != 2)
    ptx__wrong(d, "a match that the machine does not know");
  ptx__operands(d, 3, 3);
  uint32_t bytes = ptx__type_bytes(ptx__last(d));
  if (bytes != 4 && bytes != 8) ptx__wrong(d, "a match that the machine does not know");
  const ptx_operand* to = ptx__operand(d, 0);
  uint32_t p = to->kind == PTX_OPERAND_PAIR ? ptx__destination(d, &to->parts[1], 0) : GRID_NONE;
  uint32_t out = ptx__destination(d, to->kind == PTX_OPERAND_PAIR ? &to->parts[0] : to, 4);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), bytes), mask = ptx__source(d, ptx__operand(d, 2), 4);
  grid_insn* i = ptx__emit(d, GRID_OP_MATCH);
  i->mode = all;
  i->bytes = (uint8_t)bytes;
  i->d = out;
  i->a = a;
  i->b = mask;
  i->c = p;
}

static void reduce(ptx_decoder* d) {
  static const char* const ops[] = {"add", "min", "max", "and", "or", "xor"};
  int op = -1;
  for (int k = 0; k < 6; ++k)
    if (ptx__drop(d, ops[k])) op = k;
  const char* type = ptx__last(d);
  if (op < 0 || !ptx__drop(d, "sync") || d->word_count != 2 || ptx__type_bytes(type) != 4 || *type == 'f')
    ptx__wrong(d, "a redux that the machine does not know");
  ptx__operands(d, 3, 3);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 4), mask = ptx__source(d, ptx__operand(d, 2), 4);
  uint32_t to = ptx__destination(d, ptx__operand(d, 0), 4);
  grid_insn* i = ptx__emit(d, GRID_OP_REDUX);
  i->mode = (uint8_t)op;
  i->extend = *type == 's';
  i->d = to;
  i->a = a;
  i->b = mask;
}

bool ptx__decode_warp(ptx_decoder* d) {
  const char* op = d->words[0];
  if (!strcmp(op, "shfl")) {
    shuffle(d);
  } else if (!strcmp(op, "vote")) {
    vote(d);
  } else if (!strcmp(op, "match")) {
    match(d);
  } else if (!strcmp(op, "redux")) {
    reduce(d);
  } else if (!strcmp(op, "activemask")) {
    ptx__operands(d, 1, 1);
    uint32_t to = ptx__destination(d, ptx__operand(d, 0), 4);
    ptx__emit(d, GRID_OP_ACTIVE)->d = to;
  } else if (!strcmp(op, "elect")) {
    ptx__wrong(d, "the machine does not know it yet");
  } else {
    return false;
  }
  return true;
}
