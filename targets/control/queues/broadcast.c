#include "targets/control/queues/broadcast.h"

#include "core/base/arena.h"
#include "core/base/table.h"

#include <stdlib.h>
#include <string.h>

// The loads of one core: what each reads, and once that is known, for which cores.
typedef struct loads {
  int32_t* reads;
  size_t count, capacity, at;
  uint32_t* cores;
} loads;

struct pb_broadcasts {
  int count, core; // of cores; whose commands come
  pb_table known;  // what is read, by number
  int32_t reads;
  pb_arena keys;
  loads cores[];
};

// What a load reads: all that its fields say but where it writes.
typedef struct key {
  int64_t insn, call, values[32];
} key;

pb_broadcasts* pb_broadcasts_start(const pb_chip* chip, int cores) {
  if (cores < 2 || !pb_chip_broadcasts(chip)) return NULL;
  pb_broadcasts* b = calloc(1, sizeof *b + (size_t)cores * sizeof b->cores[0]);
  if (!b) pb_no_memory(sizeof *b);
  b->count = cores;
  return b;
}

void pb_broadcasts_free(pb_broadcasts* b) {
  for (int core = 0; b && core < b->count; ++core) {
    free(b->cores[core].reads);
    free(b->cores[core].cores);
  }
  if (b) pb_table_free(&b->known);
  if (b) pb_arena_free(&b->keys);
  free(b);
}

void pb_broadcasts_turn(pb_broadcasts* b, int core) {
  b->core = core;
  b->cores[core].at = 0;
}

// Kernels may differ in the numbers that boxes are filled with, and share what is found here (alike.h): of two calls
// these need not be equal.
static key key_of(const pb_unrolled* c) {
  const pb_insn* insn = c->command.insn;
  const pb_operand *to = &insn->operands[insn->dest], *from = &insn->operands[insn->expr[0].operand];
  key k = {.insn = insn->index, .call = from->has_box && from->fill >= 0 ? c->call : -1};
  memcpy(k.values, c->command.values, sizeof k.values);
  for (int f = 0; f < insn->field_count; ++f)
    if (c->idle >> f & 1 || f == to->base || f == insn->broadcast) k.values[f] = 0;
  for (int d = 0; d < to->rank; ++d)
    if (to->strides[d].kind == PB_STRIDE_FIELD && !insn->fields[to->strides[d].field].shared)
      k.values[to->strides[d].field] = 0;
  return k;
}

pb_status pb_broadcasts_show(void* user, const pb_unrolled* c) {
  pb_broadcasts* b = user;
  if (c->command.insn->broadcast < 0) return PB_OK;
  key k = key_of(c);
  int number = pb_table_find(&b->known, &k, sizeof k);
  if (number < 0) {
    key* kept = pb_alloc(&b->keys, sizeof *kept);
    *kept = k;
    number = b->reads++;
    pb_table_add(&b->known, kept, sizeof *kept, number);
  }
  loads* own = &b->cores[b->core];
  PB_PUSH(own->reads, own->count, own->capacity, number);
  return PB_OK;
}

// How often each core will read what it reads from where it is on: left[number * cores + core].
static int32_t* count_reads(const pb_broadcasts* b) {
  int32_t* left = calloc((size_t)b->reads * (size_t)b->count + 1, sizeof *left);
  if (!left) pb_no_memory((size_t)b->reads * (size_t)b->count * sizeof *left);
  for (int core = 0; core < b->count; ++core)
    for (size_t n = 0; n < b->cores[core].count; ++n) ++left[b->cores[core].reads[n] * b->count + core];
  return left;
}

static int count_bits(uint32_t bits) { return __builtin_popcount(bits); }

// The cores whose next load is the same: such that nobody else has it yet to come, or else the most. 0: all are
// through.
static uint32_t next_together(const pb_broadcasts* b, const int32_t* left) {
  uint32_t most = 0;
  for (int core = 0; core < b->count; ++core) {
    const loads* own = &b->cores[core];
    if (own->at == own->count) continue;
    int32_t read = own->reads[own->at];
    uint32_t same = 0, later = 0;
    for (int other = 0; other < b->count; ++other) {
      const loads* o = &b->cores[other];
      if (o->at < o->count && o->reads[o->at] == read)
        same |= 1u << other;
      else if (left[read * b->count + other])
        later |= 1u << other;
    }
    if (!later) return same;
    if (count_bits(same) > count_bits(most)) most = same;
  }
  return most;
}

void pb_broadcasts_match(pb_broadcasts* b) {
  int32_t* left = count_reads(b);
  for (int core = 0; core < b->count; ++core) {
    b->cores[core].at = 0;
    b->cores[core].cores = calloc(b->cores[core].count + 1, sizeof *b->cores[core].cores);
    if (!b->cores[core].cores) pb_no_memory(b->cores[core].count * sizeof(uint32_t));
  }
  for (uint32_t together; (together = next_together(b, left));)
    for (int core = 0; core < b->count; ++core) {
      if (!(together >> core & 1)) continue;
      loads* own = &b->cores[core];
      own->cores[own->at] = count_bits(together) > 1 ? together : 0;
      --left[own->reads[own->at++] * b->count + core];
    }
  free(left);
}

void pb_broadcasts_set(pb_broadcasts* b, pb_command* command) {
  loads* own = &b->cores[b->core];
  if (command->insn->broadcast >= 0 && own->at < own->count)
    command->values[command->insn->broadcast] = own->cores[own->at++];
}
