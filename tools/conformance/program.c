// Programs: filling the chip, draining it, and running all of it on devices beside the judge.
#include "suite.h"

#include "targets/control/queues/reroll.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MOVED = 32768, SKIP_STEPS = 4096 };

static void begin_judge(suite* s) {
  judge_reset(s->judge);
  for (int a = 0; a < s->argument_count; ++a) {
    judge_space* space = judge_space_at(s->judge, JUDGE_ARGUMENTS + a);
    memcpy(space->data, s->image[a], (size_t)space->bytes);
    memset(space->valid, 1, (size_t)space->bytes);
  }
}

// Boxes that hold everything, immediates that do no harm.
static void plain_fields(suite* s, pb_command* c) {
  for (int o = 0; o < c->insn->operand_count; ++o) {
    const pb_operand* x = &c->insn->operands[o];
    if (x->memory < 0 && x->type == PB_I1) c->values[x->base] = 0;
    if (x->memory < 0 && x->type != PB_I1) {
      float one = 1.0f;
      uint32_t bits;
      memcpy(&bits, &one, sizeof bits);
      c->values[x->base] = x->type == PB_F32 ? pb_field_bits(&c->insn->fields[x->base], bits) : (int64_t)draw(s, 2);
    }
    for (int k = 0; x->memory >= 0 && x->has_box && k < x->rank; ++k)
      if (x->box_lo[k] >= 0) c->values[x->box_lo[k]] = 0, c->values[x->box_hi[k]] = command_extent(c, x->dims[k]);
  }
}

// Places the sources of a command whose extents stand, somewhere in what is there.
static bool lay_sources(suite* s, pb_command* c, bool extremes) {
  for (int o = 0; o < c->insn->operand_count; ++o) {
    const pb_operand* x = &c->insn->operands[o];
    if (x->memory < 0 || o == c->insn->dest) continue;
    bool words = pb_type_bits(x->type) > 8;
    region r = s->regions[extremes ? REGION_EXTREMES : words ? REGION_WORDS : REGION_BYTES];
    int number = pb_constants_number(s->chip, x->memory);
    if (number >= 0) r = s->regions[REGION_CONSTANTS + number];
    if (!suite_is_outside(s, x)) r = s->memories[x->memory].parts[0];
    if (x->slot >= 0) c->values[x->slot] = r.space - JUDGE_ARGUMENTS;
    int64_t unit = x->unit > 64 ? x->unit : x->unit * 64, room = (r.last - r.first) / 2;
    int64_t at = r.first + (room > 0 ? draw_between(s, 0, room / unit) * unit : 0);
    if (!command_lay(s, c, o, at, r.last - at, false)) {
      if (!command_lay(s, c, o, r.first, INT64_MAX, false)) return false;
    }
  }
  return true;
}

// Where to go on behind the bytes [at, end). Windows that begin at blocks alone go over the end of what was filled
// again, so that no hole stays behind it.
static int64_t next_place(const pb_insn* filler, const pb_operand* d, int64_t at, int64_t end) {
  int64_t block = pb_base_unit(filler, d), back = end / block * block;
  if (block > d->unit && back > at) return back;
  return (end + block - 1) / block * block;
}

static void fill_memory(suite* s, program* p, int memory, bool extremes) {
  const memory_plan* m = &s->memories[memory];
  const pb_operand* d = &m->filler->operands[m->filler->dest];
  for (int k = 0; k < m->count; ++k)
    for (int64_t at = m->parts[k].first; at < m->parts[k].last;) {
      pb_command c = {.insn = m->filler};
      char why[JUDGE_WHY];
      int64_t left = m->parts[k].last - at, most = m->tile > MOST_MOVED ? m->tile : MOST_MOVED;
      if (most > left) most = left;
      for (int n = 0; n < m->filler->dim_count; ++n)
        if (m->filler->dims[n].field >= 0) c.values[m->filler->dims[n].field] = m->filler->dims[n].min;
      int64_t bytes = command_lay(s, &c, m->filler->dest, at, most, true);
      plain_fields(s, &c);
      bool put = bytes && lay_sources(s, &c, extremes) && program_put(s, p, &c, why);
      if (!put && left > d->unit * SKIP_STEPS) break;
      at = next_place(m->filler, d, at, at + (put ? bytes : d->unit));
    }
}

void program_begin(suite* s, program* p, bool extremes) {
  *p = (program){.semaphore = -1};
  suite_images(s);
  begin_judge(s);
  for (int depth = 0; depth < PB_MAX_MEMORIES; ++depth)
    for (int m = 0; m < s->chip->memory_count; ++m)
      if (s->memories[m].filler && s->memories[m].depth == depth) fill_memory(s, p, m, extremes);
  p->body = p->count;
}

static void drain_memory(suite* s, program* p, int memory, int64_t* to) {
  const memory_plan* m = &s->memories[memory];
  region r = s->regions[REGION_DRAIN];
  int source = m->drainer->expr[0].operand;
  const pb_operand *x = &m->drainer->operands[source], *d = &m->drainer->operands[m->drainer->dest];
  for (int k = 0; k < m->count; ++k)
    for (int64_t at = m->parts[k].first; at < m->parts[k].last;) {
      pb_command c = {.insn = m->drainer};
      char why[JUDGE_WHY];
      int64_t left = m->parts[k].last - at, most = m->tile > MOST_MOVED ? m->tile : MOST_MOVED;
      if (most > left) most = left;
      if (most > r.last - *to) return;
      for (int n = 0; n < m->drainer->dim_count; ++n)
        if (m->drainer->dims[n].field >= 0) c.values[m->drainer->dims[n].field] = m->drainer->dims[n].min;
      if (d->slot >= 0) c.values[d->slot] = r.space - JUDGE_ARGUMENTS;
      plain_fields(s, &c);
      int64_t bytes = command_lay(s, &c, source, at, most, true);
      plain_fields(s, &c);
      int64_t span = bytes ? command_lay(s, &c, m->drainer->dest, *to, r.last - *to, false) : 0;
      if (span && program_put(s, p, &c, why)) {
        drained one = {s->space[memory], at, bytes, *to};
        PB_PUSH(p->drains, p->drain_count, p->drain_capacity, one);
        *to += (span + 63) / 64 * 64;
        at += bytes;
      } else if (left > x->unit * SKIP_STEPS)
        break;
      else
        at += x->unit;
      at = (at + x->unit - 1) / x->unit * x->unit;
    }
}

// What stands where nothing can be copied from shows in what instructions make of it.
static void observe(suite* s, program* p) {
  for (int m = 0; m < s->chip->memory_count; ++m) {
    bool written = false;
    for (size_t k = p->body; k < p->tail; ++k)
      written |=
          p->commands[k].insn->operand_count && p->commands[k].insn->operands[p->commands[k].insn->dest].memory == m;
    if (!written || s->memories[m].drainer || pb_is_outside(&s->chip->memories[m])) continue;
    for (int i = 0, seen = 0; i < s->chip->insn_count && seen < 2; ++i) {
      const pb_insn* insn = &s->chip->insns[i];
      bool reads = false;
      char why[JUDGE_WHY];
      for (int o = 0; o < insn->operand_count; ++o) reads |= o != insn->dest && insn->operands[o].memory == m;
      if (!reads || insn->operands[insn->dest].memory == m) continue;
      for (int k = 0; k < 6; ++k) (void)program_draw(s, p, insn, (wish){.shape = SHAPE_RANDOM, .flag = -1}, why);
      ++seen;
    }
  }
}

void program_end(suite* s, program* p) {
  p->tail = p->count;
  observe(s, p);
  banks_empty(s, p);
  p->tail = p->count;
  int64_t to = s->regions[REGION_DRAIN].first;
  for (int m = 0; m < s->chip->memory_count; ++m)
    if (s->memories[m].drainer) drain_memory(s, p, m, &to);
  program_order(s, p);
}

void program_free(program* p) {
  free(p->commands);
  free(p->touches);
  free(p->drains);
  *p = (program){0};
}

// Running -------------------------------------------------------------------------------------------------------------

static bool device_says(const target_device* d, char** text, pb_arena* arena) {
  *text = pb_printf(arena, "%s: %s", d->name, d->ops->last_fault(d->handle));
  return false;
}

// The command, unless it is there to order others alone, between those that wait and signal for it. How many there are.
static size_t put_with_semaphores(const suite* s, const pb_command* c, uint8_t* words) {
  pb_command own[PB_MAX_SEMAPHORES];
  size_t count = 0, bytes = (size_t)s->chip->command_bytes;
  for (int behind = 0; behind < 2; ++behind) {
    int made = pb_semaphore_commands(s->chip, c->insn->queue, c, behind, own);
    for (int k = 0; k < made; ++k)
      if (pb_encode(s->chip, &own[k], words + bytes * count++, NULL) != PB_OK) abort(); // `check` sees to its fields
    if (!behind && !program_only_orders(s, c) && pb_encode(s->chip, c, words + bytes * count++, NULL) != PB_OK) abort();
  }
  return count;
}

size_t program_room(const suite* s, const program* p) {
  size_t each = 2 + 2 * (size_t)(s->chip->wait_field ? s->chip->semaphore_count : 0);
  return (each * p->count + 1) * (size_t)s->chip->command_bytes;
}

size_t program_words(suite* s, const program* p, int stream, uint8_t* words) {
  size_t count = 0, bytes = (size_t)s->chip->command_bytes;
  for (size_t n = 0; n < p->count; ++n) {
    const pb_command* c = &p->commands[n];
    pb_command fence = s->chip->fence ? pb_fence(s->chip, c->waits) : (pb_command){0};
    if (!s->chip->fence && c->insn->queue != stream) continue;
    if (s->chip->wait_field) {
      count += put_with_semaphores(s, c, words + bytes * count);
      continue;
    }
    if (s->chip->fence && c->waits && pb_encode(s->chip, &fence, words + bytes * count++, NULL) != PB_OK)
      return SIZE_MAX;
    if (pb_encode(s->chip, c, words + bytes * count++, NULL) != PB_OK) return SIZE_MAX;
  }
  size_t whole = count;
  if (p->rolled && s->chip->loop) count = pb_reroll(s->chip, words, count);
  s->looped |= count < whole;
  return count;
}

// The streams of all cores.
typedef struct words_of {
  uint64_t* at;
  uint32_t *count, streams;
} words_of;

// The words of the program as that core fetches them.
static bool put_streams(suite* s, const program* p, const target_device* d, int core, words_of* words,
                        pb_arena* arena) {
  int streams = pb_chip_streams(s->chip) / s->chip->cores, first = core * streams;
  size_t bytes = (size_t)s->chip->command_bytes;
  uint8_t* stream = pb_alloc(arena, program_room(s, p));
  if (words->streams < (uint32_t)(first + streams)) words->streams = (uint32_t)(first + streams);
  for (int q = 0; q < streams; ++q) {
    size_t count = program_words(s, p, q, stream);
    if (count == SIZE_MAX) return false;
    words->count[first + q] = (uint32_t)count;
    if (!count) continue;
    if (d->ops->alloc(d->handle, count * bytes, 64, &words->at[first + q])) return false;
    if (d->ops->copy_in(d->handle, words->at[first + q], stream, count * bytes)) return false;
  }
  return true;
}

static bool submit_program(suite* s, const program* p, const target_device* d, const uint64_t* arguments,
                           pb_arena* arena) {
  pb_submission kernel = {.arg_count = (uint32_t)s->argument_count, .cycle_limit = s->limit};
  memcpy(kernel.args, arguments, sizeof kernel.args);
  size_t streams = (size_t)pb_chip_streams(s->chip);
  words_of words = {PB_NEW_ARRAY(arena, uint64_t, streams), PB_NEW_ARRAY(arena, uint32_t, streams), 0};
  if (!put_streams(s, p, d, s->core, &words, arena)) return false;
  program others = {0};
  bool good = true;
  if (p->together) broadcast_partners(s, p, &others);
  for (int core = 0; core < s->chip->cores && good; ++core)
    if (core != s->core && p->together && p->together >> core & 1)
      good = put_streams(s, &others, d, core, &words, arena);
  program_free(&others);
  kernel.queue_count = words.streams;
  if (streams > PB_DEVICE_MAX_QUEUES) {
    kernel.streams = words.at;
    kernel.counts = words.count;
  } else {
    memcpy(kernel.stream, words.at, streams * sizeof *words.at);
    memcpy(kernel.count, words.count, streams * sizeof *words.count);
  }
  return good && !d->ops->submit(d->handle, &kernel) && !d->ops->wait(d->handle);
}

// Room for an argument where it lies. Nonzero: the device refused.
static int allocate(suite* s, const target_device* d, int argument, uint64_t* address) {
  uint64_t bytes = (uint64_t)s->argument_bytes[argument];
  int number = suite_constants_of(s, argument);
  if (number < 0) return d->ops->alloc(d->handle, bytes, 64, address);
  if (s->chip->constant_memory_count == 1) return d->ops->alloc_constants(d->handle, bytes, 64, address);
  return d->ops->alloc_constants_in(d->handle, (uint32_t)number, bytes, 64, address);
}

// What each argument holds afterwards; false: the device refused.
static bool run_on(suite* s, const program* p, const target_device* d, uint8_t** results, pb_arena* arena) {
  uint64_t addresses[PB_DEVICE_MAX_ARGS] = {0};
  if (d->ops->free_all(d->handle)) return false;
  for (int a = 0; a < s->argument_count; ++a) {
    uint64_t bytes = (uint64_t)s->argument_bytes[a];
    if (allocate(s, d, a, &addresses[a]) || d->ops->copy_in(d->handle, addresses[a], s->image[a], bytes)) return false;
  }
  if (!submit_program(s, p, d, addresses, arena)) return false;
  for (int a = 0; a < s->argument_count; ++a) {
    results[a] = pb_alloc(arena, (size_t)s->argument_bytes[a]);
    if (d->ops->copy_out(d->handle, addresses[a], results[a], (uint64_t)s->argument_bytes[a])) return false;
  }
  return true;
}

typedef struct difference {
  int argument;
  int64_t at;
  unsigned expected, found;
} difference;

static bool compare(suite* s, uint8_t** results, difference* first) {
  for (int a = 0; a < s->argument_count; ++a) {
    const judge_space* space = judge_space_at(s->judge, JUDGE_ARGUMENTS + a);
    for (int64_t k = 0; k < space->bytes; ++k)
      if (results[a][k] != space->data[k]) {
        *first = (difference){a, k, space->data[k], results[a][k]};
        return false;
      }
  }
  return true;
}

// The program without the commands of its body from `end` on, as the judge has it then.
static void cut(suite* s, const program* p, size_t end, program* part) {
  *part = (program){
      .body = p->body < end ? p->body : end, .rolled = p->rolled, .drains = p->drains, .drain_count = p->drain_count};
  part->semaphore = p->semaphore, part->taker = p->taker, part->together = p->together;
  begin_judge(s);
  for (size_t n = 0; n < p->count; ++n) {
    uint8_t bytes[PB_COMMAND_BITS / 8];
    judge_command read;
    char why[JUDGE_WHY];
    if (n == p->tail) banks_empty(s, part), part->tail = part->count;
    if ((n >= end && n < p->tail) || program_only_orders(s, &p->commands[n])) continue; // those are made anew
    pb_command c = p->commands[n];
    c.waits = c.signals = 0, c.counts = 0;
    if (pb_encode(s->chip, &c, bytes, NULL) != PB_OK || !judge_read(s->judge, bytes, &read, why)) continue;
    judge_run(s->judge, &read);
    program_push(s, part, &c, &read);
  }
  banks_empty(s, part);
  program_order(s, part);
}

static bool runs_right(suite* s, const program* p, size_t end, const target_device* d, difference* first, bool* fault) {
  program part;
  pb_arena arena = {0};
  uint8_t* results[PB_DEVICE_MAX_ARGS] = {0};
  cut(s, p, end, &part);
  *fault = !run_on(s, &part, d, results, &arena);
  bool right = !*fault && compare(s, results, first);
  part.drains = NULL;
  program_free(&part);
  pb_arena_free(&arena);
  return right;
}

static char* place_text(const suite* s, const program* p, const difference* x, pb_arena* arena) {
  for (size_t k = 0; k < p->drain_count; ++k) {
    const drained* d = &p->drains[k];
    if (JUDGE_ARGUMENTS + x->argument == s->regions[REGION_DRAIN].space && x->at >= d->at && x->at < d->at + d->bytes)
      return pb_printf(arena, "byte %lld of %s", (long long)(d->address + x->at - d->at),
                       judge_space_at(s->judge, d->space)->name);
  }
  return pb_printf(arena, "byte %lld of argument %d", (long long)x->at, x->argument);
}

// Where a source lies in a memory that nothing can be copied from: who wrote it, as its result shows here first.
static char* writers(const suite* s, const program* p, size_t at, pb_arena* arena) {
  char* text = pb_strdup(arena, "");
  const pb_insn* insn = p->commands[at].insn;
  for (int o = 0; o < insn->operand_count; ++o) {
    int m = insn->operands[o].memory;
    if (m < 0 || suite_is_outside(s, &insn->operands[o]) || s->memories[m].drainer || o == insn->dest) continue;
    for (size_t n = at; n-- > 0;) {
      const touched* t = &p->touches[n];
      bool meets = false;
      for (int a = 0; a < t->count; ++a)
        for (int b = 0; b < p->touches[at].count; ++b)
          meets |= t->of[a].written && t->of[a].space == s->space[m] && p->touches[at].of[b].space == s->space[m] &&
                   t->of[a].first < p->touches[at].of[b].last && p->touches[at].of[b].first < t->of[a].last;
      if (!meets) continue;
      text = pb_printf(arena, "%s\n    its '%s' was written last by %s", text, insn->operands[o].name,
                       pb_disassemble(s->chip, &p->commands[n], arena));
      break;
    }
  }
  return text;
}

// The first command without which all is right: found by halving.
static char* explain(suite* s, const program* p, const target_device* d, difference x, const char* said,
                     pb_arena* arena) {
  size_t good = 0, bad = p->tail;
  bool fault = said != NULL;
  difference at_bad = x;
  while (good + 1 < bad) {
    size_t middle = good + (bad - good) / 2;
    difference here;
    bool here_fault;
    if (runs_right(s, p, middle, d, &here, &here_fault))
      good = middle;
    else
      bad = middle, at_bad = here, fault = here_fault;
  }
  const pb_command* c = &p->commands[bad ? bad - 1 : 0];
  size_t index = 0;
  for (size_t k = 0; k + 1 < bad; ++k) index += p->commands[k].insn->queue == c->insn->queue;
  char* head = pb_printf(
      arena, "%s: the first command that differs is %s in queue %s (number %zu there, %zu of the program): %s", d->name,
      c->insn->name, pb_chip_queue_name(s->chip, s->core * s->chip->queue_count + c->insn->queue), index,
      bad ? bad - 1 : 0, pb_disassemble(s->chip, c, arena));
  if (fault) return pb_printf(arena, "%s\n    the device says: %s", head, said ? said : d->ops->last_fault(d->handle));
  return pb_printf(arena, "%s\n    %s: expected 0x%02x, found 0x%02x%s", head, place_text(s, p, &at_bad, arena),
                   at_bad.expected, at_bad.found, writers(s, p, bad ? bad - 1 : 0, arena));
}

static uint64_t cycles_of(const target_device* d) {
  const char* name;
  for (uint32_t k = 0; (name = d->ops->counter_name(d->handle, k)); ++k)
    if (!strcmp(name, "cycles")) return d->ops->counter(d->handle, k);
  return 0;
}

// On the core at hand.
static bool runs_on_core(suite* s, const program* p, const target_device* d, pb_arena* scratch, char** text) {
  uint8_t* results[PB_DEVICE_MAX_ARGS] = {0};
  difference x = {0};
  char* said = NULL;
  uint64_t before = cycles_of(d);
  timeline times;
  timeline_begin(s, d, &times);
  bool ran = run_on(s, p, d, results, scratch);
  char* late = timeline_end(s, p, d, &times, &s->arena);
  if (ran && !s->limit) s->limit = 50 * (cycles_of(d) - before) + 100000;
  if (!ran) (void)device_says(d, &said, &s->arena);
  bool right = ran && compare(s, results, &x);
  if (!right)
    *text = explain(s, p, d, x, said, &s->arena);
  else if (late)
    *text = late;
  return right && !late;
}

typedef struct guarded_run {
  suite* s;
  const program* p;
  const target_device* d;
  pb_arena scratch;
  char* text;
  bool right;
} guarded_run;

static void run_guarded(void* data) {
  guarded_run* r = data;
  r->right = runs_on_core(r->s, r->p, r->d, &r->scratch, &r->text);
}

// The same where the device may crash.
static bool runs_on_device(suite* s, const program* p, const target_device* d, char** text) {
  guarded_run run = {.s = s, .p = p, .d = d};
  const char* crash = suite_guard(run_guarded, &run);
  pb_arena_free(&run.scratch);
  if (run.text) *text = run.text;
  if (!crash) return run.right;
  s->crashed = d->name;
  *text = pb_printf(&s->arena,
                    "%s: crashed (%s) in a program of %zu commands, the last before the chip is drained is %s", d->name,
                    crash, p->count, p->tail ? pb_disassemble(s->chip, &p->commands[p->tail - 1], &s->arena) : "none");
  return false;
}

bool program_check(suite* s, const program* p, char** text) {
  bool right = true;
  s->limit = 0;
  for (int k = 0; k < s->device_count && right; ++k)
    for (s->core = 0; s->core < s->chip->cores && right; ++s->core)
      if (!p->together || p->together >> s->core & 1) right = runs_on_device(s, p, &s->devices[k], text);
  s->core = 0;
  return right;
}
