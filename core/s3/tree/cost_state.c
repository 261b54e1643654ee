// What commands that write configuration state cost a queue. S4 puts one in front of a command when a value that the
// command needs is not there (targets/control/queues/state.c), so how many there are is known when commands are: here
// they are counted by what moves. A base in state is another one in each iteration of the loops that move its window;
// strides and immediates are other ones when several nests of a kernel want the field.
#include "core/s3/tree/cost.h"

// The fields of `writer` that the instruction reads as state.
static uint32_t fields_of(const pb_insn* insn, int writer) {
  uint32_t fields = 0;
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer == writer) fields |= 1u << insn->fields[f].state_field;
  return fields;
}

static bool in_state(const pb_insn* insn, int field, int writer) {
  return field >= 0 && insn->fields[field].state_writer == writer;
}

// The loop right around the nest takes another copy of the access's buffer in each iteration.
static bool takes_turns(const pb_tiling* t, const pb_nest* nest, const pb_access* access) {
  if (!pb__is_buffer(access)) return false;
  const pb_buffer* buffer = &t->buffers[access->buffer];
  return buffer->depth > 1 && buffer->level == nest->outer_count;
}

// How often a base that `writer` holds is another one while the nest's commands go by, the first time included; 0:
// never. `moves`: one of them is another one in each iteration of the loops around.
static int64_t changes_of(const pb_tiling* t, const pb_nest* nest, const pb_match* match, int writer, bool* moves) {
  int64_t changes = 0;
  for (int o = 0; o < match->insn->operand_count; ++o) {
    int access = match->access_of[o];
    int64_t iterations = 1;
    if (access < 0 || !in_state(match->insn, match->insn->operands[o].base, writer)) continue;
    for (int k = 0; k < match->loop_count; ++k) {
      iterations *= match->nest.extent[match->loops[k]];
      if (match->nest.access[access].stride[match->loops[k]] && iterations > changes) changes = iterations;
    }
    for (int k = 0; k < nest->outer_count; ++k) *moves |= pb_access_uses(&nest->access[access], PB_NEST_DIMS + k);
    *moves |= takes_turns(t, nest, &nest->access[access]);
  }
  return changes;
}

int64_t pb__state_writes(const pb_tiling* t, const pb_nest* nest, const pb_match* match, int64_t* taken) {
  int64_t writes = 0;
  for (int w = 0; t->writers && w < t->chip->insn_count; ++w) {
    const pb_insn* writer = &t->chip->insns[w];
    uint32_t fields = fields_of(match->insn, w);
    if (!fields) continue;
    bool moves = false, computes = writer->operand_count > 0; // then a nest of its own is its first write
    int64_t changes = changes_of(t, nest, match, w, &moves);
    int64_t own = changes > 1 ? changes : moves || (fields & t->writers[w].others);
    if (computes && own) --own;
    writes += own;
    const pb_insn* alone = computes ? pb_state_alone(t->chip, writer) : NULL;
    const pb_insn* says = alone ? alone : writer;
    // what a writer computes besides is as much as it can be
    taken[says->unit] += own * (pb_cycles_at_most(says) + pb__until_next(says));
  }
  return writes;
}

static void count(pb_tiling* t, const pb_tree* tree) {
  for (const pb_tree* node = tree->first; node; node = node->next) {
    if (node->kind == PB_TREE_LOOP) count(t, node);
    pb_flat flat;
    pb_match match;
    const char* why;
    if (node->kind != PB_TREE_NEST) continue;
    pb_tiling_flat(t, node->nest, &flat);
    if (!pb_select_again(t->group->memo, &flat, &match, &why)) continue;
    for (int w = 0; w < t->chip->insn_count; ++w) {
      uint32_t fields = fields_of(match.insn, w);
      t->writers[w].others |= t->writers[w].read & fields;
      t->writers[w].read |= fields;
    }
  }
}

void pb__state_count(pb_tiling* t) {
  bool any = false;
  for (int i = 0; i < t->chip->insn_count; ++i)
    for (int f = 0; f < t->chip->insns[i].field_count; ++f) any |= t->chip->insns[i].fields[f].state_writer >= 0;
  t->writers = any ? PB_NEW_ARRAY(t->arena, pb_state_reads, (size_t)t->chip->insn_count) : NULL;
  if (any) count(t, &t->root);
}
