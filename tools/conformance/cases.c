// What is run: encodings, every instruction in every shape, every ordered pair of queues, random programs.
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double suite_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool suite_wants(const suite* s, const char* name) {
  if (s->crashed || (s->options->first && s->failed)) return false;
  return !s->options->filter || strstr(name, s->options->filter);
}

void suite_record(suite* s, const char* name, outcome how, const char* text, double seconds) {
  static const char* const words[] = {"ok", "FAILED", "skipped"};
  case_result r = {pb_strdup(&s->arena, name), pb_strdup(&s->arena, text ? text : ""), how, seconds};
  PB_PUSH(s->results, s->result_count, s->result_capacity, r);
  s->failed |= how == FAILED;
  bool refused = how == SKIPPED && (!strncmp(name, "kernel/", 7) || !strncmp(name, "network/", 8));
  if (how == FAILED || refused || s->options->verbose) {
    printf("%-8s %s\n%s%s%s", words[how], name, *r.text ? "    " : "", r.text, *r.text ? "\n" : "");
    fflush(stdout);
  }
}

// Encodings -----------------------------------------------------------------------------------------------------------

// A command's bytes, read by the judge and by the SDK's decoder, say what was put in.
static bool encodes(suite* s, const pb_command* c, char* why) {
  uint8_t bytes[PB_COMMAND_BITS / 8];
  judge_command read;
  pb_command back;
  if (pb_encode(s->chip, c, bytes, NULL) != PB_OK) return snprintf(why, JUDGE_WHY, "it cannot be encoded"), false;
  if (!judge_decode(s->judge, bytes, &read, why)) return false;
  int at = judge_insn(s->judge, c->insn->name);
  if (read.insn != at) return snprintf(why, JUDGE_WHY, "its bits are those of another instruction"), false;
  if (read.waits != c->waits || read.signals != c->signals || read.counts != c->counts)
    return snprintf(why, JUDGE_WHY, "waits 0x%x and signals 0x%x were put in, 0x%x and 0x%x stand there%s", c->waits,
                    c->signals, read.waits, read.signals, read.counts != c->counts ? ", for other numbers" : ""),
           false;
  int spare = judge_spare_bit(s->judge, at, bytes);
  if (spare >= 0) return snprintf(why, JUDGE_WHY, "bit %d is set, which says nothing", spare), false;
  bool decoded = pb_decode(s->chip, bytes, &back, NULL) == PB_OK && back.insn == c->insn && back.counts == c->counts;
  for (int f = 0; f < c->insn->field_count; ++f) {
    const pb_field* field = &c->insn->fields[f];
    int k = judge_field(s->judge, at, field->name);
    if (field->bits[0] < 0) continue; // held in state, or not used
    if (k < 0 || read.values[k] != c->values[f])
      return snprintf(why, JUDGE_WHY, "field '%s': %lld was put in, %lld stands there", field->name,
                      (long long)c->values[f], k < 0 ? 0 : (long long)read.values[k]),
             false;
    if (decoded && back.values[f] != c->values[f])
      return snprintf(why, JUDGE_WHY, "field '%s': %lld was put in, %lld is decoded", field->name,
                      (long long)c->values[f], (long long)back.values[f]),
             false;
  }
  return decoded || (snprintf(why, JUDGE_WHY, "it is not decoded as itself"), false);
}

// A command that waits for a semaphore of its queue, or signals one; others say nothing of any.
static void draw_semaphore(suite* s, pb_command* c, uint32_t most) {
  const pb_queue* queue = &s->chip->queues[c->insn->queue];
  c->waits = c->signals = 0;
  for (int side = 0; side < 2; ++side) {
    int by = side ? c->insn->signals_by : c->insn->waits_by, k = 0;
    if (!by) continue;
    do k = (int)draw(s, (uint32_t)s->chip->semaphore_count);
    while (!((side ? queue->signals : queue->waits) >> k & 1));
    c->values[by - 1] = k;
    *(side ? &c->signals : &c->waits) = 1u << k;
    uint64_t count = side || !c->insn->counts_by ? 1 : 1 + draw(s, most);
    if (!side) c->counts = count << 4 * k;
    if (!side && c->insn->counts_by) c->values[c->insn->counts_by - 1] = (int64_t)count;
  }
}

// Values that the field can carry; dims stay within theirs.
static void draw_values(suite* s, pb_command* c, int pattern) {
  for (int f = 0; f < c->insn->field_count; ++f) {
    int64_t least = pb_field_min(&c->insn->fields[f]), most = pb_field_max(&c->insn->fields[f]);
    for (int d = 0; d < c->insn->dim_count; ++d)
      if (c->insn->dims[d].field == f) least = c->insn->dims[d].min, most = c->insn->dims[d].max;
    c->values[f] = pb_field_nearest(&c->insn->fields[f], pattern == 0   ? least
                                                         : pattern == 1 ? most
                                                                        : draw_between(s, least, most));
  }
  uint32_t all = (1u << pb_chip_counters(s->chip)) - 1;
  const pb_queue* queue = &s->chip->queues[c->insn->queue];
  if (s->chip->fence) return; // a command of a list says nothing of others
  c->waits = queue->waits & (pattern == 0 ? 0 : pattern == 1 ? all : draw(s, all + 1));
  c->signals = queue->signals & (pattern == 1 ? 0 : draw(s, all + 1));
  uint32_t most = (1u << s->chip->semaphore_wait_bits) - 1;
  if (s->chip->wait_field) {
    draw_semaphore(s, c, most);
    return;
  }
  for (int k = 0; k < s->chip->semaphore_count; ++k)
    if (c->waits >> k & 1) c->counts |= (uint64_t)(pattern == 1 ? most : 1 + draw(s, most)) << 4 * k;
}

// A fence's bytes, read by the judge and by the SDK's decoder, say which queues were put in.
static void encode_fences(suite* s) {
  char name[160], why[JUDGE_WHY] = "";
  snprintf(name, sizeof name, "encoding/%s", s->chip->fence->name);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  bool good = true;
  for (uint32_t k = 0; k < 64 && good; ++k) {
    uint8_t bytes[PB_COMMAND_BITS / 8];
    uint32_t all = (1u << s->chip->queue_count) - 1, read = 0;
    pb_command c = pb_fence(s->chip, k < 2 ? k * all : draw(s, all + 1)), back;
    good = pb_encode(s->chip, &c, bytes, NULL) == PB_OK && judge_fence(s->judge, bytes, &read) &&
           pb_decode(s->chip, bytes, &back, NULL) == PB_OK && back.insn == c.insn && back.waits == c.waits;
    if (good && read == c.waits) continue;
    snprintf(why, sizeof why, "queues 0x%x were put in, 0x%x stand there", c.waits, read);
    good = false;
  }
  suite_record(s, name, good ? PASSED : FAILED, good ? NULL : why, suite_seconds() - start);
}

void suite_encodings(suite* s) {
  if (s->chip->fence) encode_fences(s);
  for (int i = 0; i < s->chip->insn_count; ++i) {
    const pb_insn* insn = &s->chip->insns[i];
    char name[160], why[JUDGE_WHY] = "";
    snprintf(name, sizeof name, "encoding/%s", insn->name);
    if (!suite_wants(s, name)) continue;
    double start = suite_seconds();
    bool good = judge_insn(s->judge, insn->name) >= 0;
    for (int k = 0; k < 16 && good; ++k) {
      pb_command c = {.insn = insn};
      draw_values(s, &c, k);
      good = encodes(s, &c, why);
    }
    suite_record(s, name, good ? PASSED : FAILED, good ? NULL : pb_printf(&s->arena, "%s: %s", insn->name, why),
                 suite_seconds() - start);
  }
}

// Instructions --------------------------------------------------------------------------------------------------------

static bool has_flag(const pb_insn* insn) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory < 0 && insn->operands[o].type == PB_I1) return true;
  return false;
}

static bool has_box(const pb_insn* insn) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && insn->operands[o].has_box) return true;
  return false;
}

// Judges the program, writes its vectors where they are wanted, and frees it.
static bool judge_program(suite* s, program* p, bool vectors, const char* name, char** text) {
  bool good = program_check(s, p, text);
  if (vectors && s->options->vectors && !suite_vectors(s, p, name))
    *text = pb_printf(&s->arena, "vectors cannot be written"), good = false;
  program_free(p);
  return good;
}

static bool finish_program(suite* s, program* p, const char* name, char** text) {
  program_end(s, p);
  return judge_program(s, p, true, name, text);
}

static void run_shape(suite* s, const pb_insn* insn, wish w, const char* suffix) {
  char name[160], why[JUDGE_WHY] = "", *text = NULL;
  snprintf(name, sizeof name, "insn/%s/%s%s", insn->name, shape_names[w.shape], suffix);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  program p;
  if (w.shape == SHAPE_LARGEST)
    suite_parts_for(s, insn, w.which);
  else
    suite_parts(s);
  program_begin(s, &p, w.shape == SHAPE_EXTREME);
  int drawn = 0, repeats = w.shape == SHAPE_LARGEST ? 1 : 3;
  for (int k = 0; k < repeats; ++k)
    for (int flag = 0; flag <= has_flag(insn); ++flag) {
      w.flag = w.shape == SHAPE_REPEAT && has_flag(insn) ? 1 : has_flag(insn) ? flag : -1;
      if (w.shape == SHAPE_OVERLAP) w.which = k;
      drawn += program_draw(s, &p, insn, w, why);
    }
  if (!drawn) {
    program_free(&p);
    suite_record(s, name, SKIPPED, why, suite_seconds() - start);
    return;
  }
  bool good = finish_program(s, &p, name, &text);
  suite_record(s, name, good ? PASSED : FAILED, text, suite_seconds() - start);
}

// Whether two sources walk a dim that the result lacks.
static bool is_product(const pb_insn* insn) {
  for (int d = 0; d < insn->dim_count; ++d) {
    int walks = 0;
    for (int o = 0; o < insn->operand_count; ++o)
      for (int k = 0; k < insn->operands[o].rank && insn->operands[o].memory >= 0; ++k)
        if (insn->operands[o].dims[k] == d) walks += o == insn->dest ? -PB_MAX_OPERANDS : 1;
    if (walks > 1) return true;
  }
  return false;
}

static void run_instruction(suite* s, const pb_insn* insn) {
  static const shape plain[] = {SHAPE_SMALLEST, SHAPE_RAGGED, SHAPE_UNALIGNED, SHAPE_EXTREME,
                                SHAPE_OVERLAP,  SHAPE_FIRST,  SHAPE_LAST,      SHAPE_RANDOM};
  static const char* const sides[] = {"-whole", "-low", "-high", "-empty", "-any", "-inside"};
  for (size_t k = 0; k < sizeof plain / sizeof *plain; ++k) run_shape(s, insn, (wish){.shape = plain[k]}, "");
  for (int d = 0; d < insn->dim_count; ++d) {
    char suffix[80];
    snprintf(suffix, sizeof suffix, "-%s", insn->dims[d].name);
    if (insn->dims[d].field >= 0) run_shape(s, insn, (wish){.shape = SHAPE_LARGEST, .which = d}, suffix);
  }
  for (int o = 0, which = 0; o < insn->operand_count; ++o) {
    char suffix[80];
    snprintf(suffix, sizeof suffix, "-%s", insn->operands[o].name);
    if (command_walks_alike(insn, o)) run_shape(s, insn, (wish){.shape = SHAPE_IN_PLACE, .which = which++}, suffix);
  }
  // Elements of a result lie apart, but those of a product, which may add rows onto one row.
  if (insn->reduce == PB_ACC_ADD && is_product(insn)) run_shape(s, insn, (wish){.shape = SHAPE_REPEAT}, "");
  for (int side = 0; has_box(insn) && side < 6; ++side)
    run_shape(s, insn, (wish){.shape = SHAPE_BOX, .which = side}, sides[side]);
}

void suite_instructions(suite* s) {
  for (int i = 0; i < s->chip->insn_count; ++i)
    if (s->chip->insns[i].operand_count) run_instruction(s, &s->chip->insns[i]);
  suite_parts(s);
}

// Queues --------------------------------------------------------------------------------------------------------------

// Memories so small that commands meet.
static void narrow_parts(suite* s) {
  for (int m = 0; m < s->chip->memory_count; ++m) {
    memory_plan* plan = &s->memories[m];
    int64_t bytes = 48 * s->chip->memories[m].row_bytes;
    if (bytes < 2 * plan->tile) bytes = 2 * plan->tile;
    if (plan->count && plan->parts[0].last - plan->parts[0].first > bytes)
      plan->parts[0].last = plan->parts[0].first + bytes;
    if (plan->count) plan->count = 1;
  }
}

static const pb_insn* any_of(suite* s, int queue) {
  const pb_insn* found = NULL;
  int seen = 0;
  for (int i = 0; i < s->chip->insn_count; ++i) {
    const pb_insn* insn = &s->chip->insns[i];
    if (insn->queue == queue && insn->operand_count && draw(s, (uint32_t)++seen) == 0) found = insn;
  }
  return found;
}

// An edge where nothing that the queues touch makes one: of any two commands.
static void add_edge(const suite* s, program* p, int from, int to) {
  for (size_t n = 0; n < p->tail; ++n)
    if (p->commands[n].insn->queue == to && (p->commands[n].waits >> from & 1)) return;
  for (size_t m = p->body; m < p->tail; ++m) {
    bool gives = p->commands[m].insn->queue == from && !(p->commands[m].signals >> to & 1); // that token is another's
    for (size_t n = m + 1; n < p->tail && gives; ++n)
      if (p->commands[n].insn->queue == to) {
        p->commands[m].signals |= s->chip->fence ? 0 : 1u << to;
        p->commands[n].waits |= 1u << from;
        return;
      }
  }
}

static void note_edges(suite* s, const program* p) {
  for (size_t n = 0; n < p->count; ++n) {
    s->waited[p->commands[n].insn->queue] |= p->commands[n].waits;
    s->gave[p->commands[n].insn->queue] |= p->commands[n].signals;
  }
}

static void run_pair(suite* s, int from, int to) {
  char name[160], why[JUDGE_WHY], *text = NULL;
  snprintf(name, sizeof name, "queues/%s-%s", s->chip->queues[from].name, s->chip->queues[to].name);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  bool good = true;
  for (int round = 0; round < 4 && good; ++round) {
    program p;
    suite_parts(s);
    narrow_parts(s);
    program_begin(s, &p, false);
    for (int k = 0; k < 12; ++k) {
      const pb_insn* insn = any_of(s, k % 2 ? to : from);
      shape how = draw(s, 3) ? SHAPE_RANDOM : SHAPE_RAGGED;
      if (insn) (void)program_draw(s, &p, insn, (wish){.shape = how, .flag = -1}, why);
    }
    program_end(s, &p);
    if (!s->chip->semaphore_count) add_edge(s, &p, from, to);
    note_edges(s, &p);
    good = judge_program(s, &p, round == 0, name, &text);
  }
  suite_parts(s);
  suite_record(s, name, good ? PASSED : FAILED, text, suite_seconds() - start);
}

// More tokens than the counter holds: the giver waits, and none is lost.
static void run_full(suite* s, int from, int to) {
  char name[160], why[JUDGE_WHY], *text = NULL;
  snprintf(name, sizeof name, "queues/%s-%s/full", s->chip->queues[from].name, s->chip->queues[to].name);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  program p;
  int count = s->chip->queues[from].tokens + 3;
  size_t first[2];
  program_begin(s, &p, false);
  for (int side = 0; side < 2; ++side) {
    first[side] = p.count;
    for (int k = 0; k < count; ++k) {
      const pb_insn* insn = any_of(s, side ? to : from);
      if (insn) (void)program_draw(s, &p, insn, (wish){.shape = SHAPE_SMALLEST, .flag = -1}, why);
    }
  }
  banks_empty(s, &p);
  p.tail = p.count;
  program_order(s, &p);
  // The order that the data asks for may use the counter too; then it is full already.
  bool used = false;
  for (size_t n = 0; n < p.count; ++n)
    used |= p.commands[n].insn->queue == to && (p.commands[n].waits >> from & 1) && n >= p.body;
  size_t given = 0, taken = 0;
  for (size_t n = first[0]; n < first[1] && !used; ++n) {
    if (p.commands[n].insn->queue != from) continue;
    p.commands[n].signals |= 1u << to;
    ++given;
  }
  for (size_t n = first[1]; n < p.count && taken < given; ++n) {
    if (p.commands[n].insn->queue != to) continue;
    p.commands[n].waits |= 1u << from;
    ++taken;
  }
  for (size_t n = first[1]; n-- > first[0] && given > taken;)
    if (p.commands[n].insn->queue == from) p.commands[n].signals &= ~(1u << to), --given;
  bool good = judge_program(s, &p, false, name, &text);
  suite_record(s, name, good ? PASSED : FAILED, text, suite_seconds() - start);
}

// A queue waits for all that give a semaphore, again and again, while they run ahead.
static void run_semaphore(suite* s, int semaphore, int taker) {
  char name[160], why[JUDGE_WHY], *text = NULL;
  const pb_semaphore* x = &s->chip->semaphores[semaphore];
  snprintf(name, sizeof name, "semaphores/%s-%s", x->name, s->chip->queues[taker].name);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  bool good = true;
  for (int round = 0; round < 4 && good; ++round) {
    program p;
    suite_parts(s);
    if (round % 2) narrow_parts(s);
    program_begin(s, &p, false);
    p.semaphore = semaphore;
    p.taker = taker;
    for (int k = 0; k < 8; ++k)
      for (int q = 0; q <= s->chip->queue_count; ++q) { // the taker last
        bool last = q == s->chip->queue_count;
        const pb_insn* insn = last || x->givers >> q & 1 ? any_of(s, last ? taker : q) : NULL;
        if (insn) (void)program_draw(s, &p, insn, (wish){.shape = SHAPE_SMALLEST, .flag = -1}, why);
      }
    program_end(s, &p);
    note_edges(s, &p);
    good = judge_program(s, &p, round == 0, name, &text);
  }
  suite_parts(s);
  suite_record(s, name, good ? PASSED : FAILED, text, suite_seconds() - start);
}

void suite_queues(suite* s) {
  for (int k = 0; k < s->chip->semaphore_count; ++k)
    for (int q = 0; q < s->chip->queue_count; ++q)
      if (s->chip->semaphores[k].takers >> q & 1) run_semaphore(s, k, q);
  for (int from = 0; from < s->chip->queue_count; ++from)
    for (int to = 0; to < s->chip->queue_count; ++to) {
      if (!(s->chip->queues[from].gives >> to & 1)) continue;
      run_pair(s, from, to);
      if (s->chip->queues[from].tokens && from != to && s->chip->queues[from].tokens <= 256) run_full(s, from, to);
    }
}

// Random programs -----------------------------------------------------------------------------------------------------

// The last command again and again, each time one step on: a loop, once it is rolled.
static void repeat_last(suite* s, program* p) {
  pb_command c = p->commands[p->count - 1];
  const pb_insn* insn = c.insn;
  if (!insn->operand_count) return;
  const pb_operand* o = &insn->operands[draw(s, (uint32_t)insn->operand_count)];
  if (banks_on(s, o)) return;
  int field = o->base, turns = 3 + (int)draw(s, 8);
  int64_t step = ((int64_t)draw(s, 5) - 2) * (o->memory >= 0 && o->unit == 1 ? 16 : 1);
  for (int t = 0; t < turns; ++t) {
    char why[JUDGE_WHY];
    c.values[field] += step;
    if (!pb_field_holds(&insn->fields[field], c.values[field])) return;
    uint8_t bytes[PB_COMMAND_BITS / 8];
    judge_command read;
    if (pb_encode(s->chip, &c, bytes, NULL) != PB_OK || !judge_read(s->judge, bytes, &read, why)) return;
    const judge_window* d = &read.windows[read.dest];
    bool inside = judge_apart(d);
    for (int k = 0; k < read.count; ++k) {
      const judge_window* x = &read.windows[k];
      inside &= k == read.dest || x->space != d->space || x->empty || x->last <= d->first || d->last <= x->first;
    }
    region out = s->regions[REGION_OUT];
    if (d->space >= JUDGE_ARGUMENTS) inside &= d->space == out.space && d->first >= out.first && d->last <= out.last;
    if (d->space < JUDGE_ARGUMENTS) {
      bool held = false;
      const memory_plan* m = &s->memories[insn->operands[insn->dest].memory];
      for (int k = 0; k < m->count; ++k) held |= d->first >= m->parts[k].first && d->last <= m->parts[k].last;
      inside &= held;
    }
    if (!inside || !program_put(s, p, &c, why)) return;
  }
}

static void run_random(suite* s, int number) {
  char name[160], why[JUDGE_WHY], *text = NULL;
  snprintf(name, sizeof name, "random/%d", number);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  program p;
  s->state = (s->options->seed + (uint64_t)number) * 0x9e3779b97f4a7c15ull | 1;
  if (number % 2) narrow_parts(s);
  program_begin(s, &p, false);
  p.rolled = s->chip->loop && number % 4 != 3;
  for (int k = 0; k < 60; ++k) {
    const pb_insn* insn = &s->chip->insns[draw(s, (uint32_t)s->chip->insn_count)];
    shape how = draw(s, 4) ? SHAPE_RANDOM : (shape)draw(s, SHAPE_IN_PLACE);
    if (how == SHAPE_LARGEST) how = SHAPE_RAGGED;
    if (program_draw(s, &p, insn, (wish){.shape = how, .flag = -1}, why) && p.rolled && draw(s, 8) == 0)
      repeat_last(s, &p);
  }
  program_end(s, &p);
  note_edges(s, &p);
  bool good = judge_program(s, &p, true, name, &text);
  suite_parts(s);
  suite_record(s, name, good ? PASSED : FAILED, text, suite_seconds() - start);
}

void suite_random(suite* s) {
  for (int k = 0; k < s->options->random; ++k) run_random(s, k);
}
