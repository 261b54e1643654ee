// Banks that are taken in turn: commands in front of those that need one filled or free, and cases of their own. The
// judge knows how many are waiting to be taken, and whether the one that was taken last is still there.
#include "suite.h"

#include <string.h>

enum { MOST_PREPARING = 3, MOST_TAKES = 256, ROUNDS = 3 };

bool banks_on(const suite* s, const pb_operand* o) {
  return o->memory >= 0 && pb_in_banks(&s->chip->memories[o->memory]);
}

static int state_of(const suite* s, int memory, int* waiting, bool* held) {
  return judge_banks(s->judge, s->space[memory], waiting, held);
}

// Any instruction that fills the memory, or reads it; NULL: none.
static const pb_insn* any_on(suite* s, int memory, bool written) {
  const pb_insn* found = NULL;
  int seen = 0;
  for (int i = 0; i < s->chip->insn_count; ++i)
    for (int o = 0; o < s->chip->insns[i].operand_count; ++o) {
      const pb_operand* x = &s->chip->insns[i].operands[o];
      if (x->memory == memory && x->written == written && draw(s, (uint32_t)++seen) == 0) found = &s->chip->insns[i];
    }
  return found;
}

// Whether a command that reads the memory has its state written by one that fills it, and by no other.
static bool needs_filling(const suite* s, int memory) {
  for (int i = 0; i < s->chip->insn_count; ++i) {
    const pb_insn* insn = &s->chip->insns[i];
    bool reads = false;
    for (int o = 0; o < insn->operand_count; ++o)
      reads |= insn->operands[o].memory == memory && !insn->operands[o].written;
    for (int f = 0; f < insn->field_count && reads; ++f) {
      int w = insn->fields[f].state_writer;
      if (w < 0 || pb_state_alone(s->chip, &s->chip->insns[w]) || !s->chip->insns[w].operand_count) continue;
      if (s->chip->insns[w].operands[s->chip->insns[w].dest].memory == memory) return true;
    }
  }
  return false;
}

// How many may wait: one stays free where taking one needs another to be filled.
static int room_of(const suite* s, int memory, int banks) { return banks - needs_filling(s, memory); }

bool banks_have_room(const suite* s, const pb_insn* filler) {
  int waiting;
  bool held;
  if (!filler->operand_count || !banks_on(s, &filler->operands[filler->dest])) return true;
  (void)state_of(s, filler->operands[filler->dest].memory, &waiting, &held);
  return waiting == 0; // nor comes it over what is held
}

static bool draw_on(suite* s, program* p, int memory, bool written, int bank, bool stays) {
  const pb_insn* insn = any_on(s, memory, written);
  wish w = {.shape = SHAPE_RANDOM, .flag = -1, .stays = stays};
  char why[JUDGE_WHY];
  w.bank = bank;
  if (!insn || s->preparing == MOST_PREPARING) return false;
  ++s->preparing;
  bool drawn = program_draw(s, p, insn, w, why);
  --s->preparing;
  return drawn;
}

void banks_prepare(suite* s, program* p, const pb_insn* insn, wish w) {
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* x = &insn->operands[o];
    int waiting, banks;
    bool held;
    if (!banks_on(s, x)) continue;
    banks = state_of(s, x->memory, &waiting, &held);
    if (x->written && waiting >= room_of(s, x->memory, banks)) (void)draw_on(s, p, x->memory, false, BANK_NEXT, false);
    if (x->written || w.bank == BANK_HELD) continue;
    bool more = w.bank == BANK_ANY && draw(s, 4) == 0 && waiting < room_of(s, x->memory, banks);
    if (waiting == 0 && (!held || w.bank == BANK_NEXT || draw(s, 2))) more = true;
    if (more) (void)draw_on(s, p, x->memory, true, BANK_ANY, false);
  }
}

bool banks_draw(suite* s, pb_command* c, const pb_operand* o, wish w) {
  int waiting;
  bool held;
  int banks = state_of(s, o->memory, &waiting, &held);
  if (o->written) return waiting < banks;
  bool next = waiting > 0 && (!held || draw(s, 2));
  if (w.bank) next = w.bank == BANK_NEXT;
  c->values[o->take] = next;
  return next ? waiting > 0 : held;
}

void banks_empty(suite* s, program* p) {
  for (int m = 0; m < s->chip->memory_count; ++m) {
    int waiting;
    bool held;
    for (int n = 0; n < MOST_TAKES && state_of(s, m, &waiting, &held) && waiting; ++n)
      (void)draw_on(s, p, m, false, BANK_NEXT, needs_filling(s, m)); // else each that takes one would fill one
  }
}

// Cases ---------------------------------------------------------------------------------------------------------------

// Fills until `ahead` wait, then takes them all; each is read again before the next is taken, if that is wished.
static void fill_and_take(suite* s, program* p, int memory, int ahead, bool again) {
  for (int n = 0; n < ahead; ++n) (void)draw_on(s, p, memory, true, BANK_ANY, false);
  int waiting;
  bool held;
  while (state_of(s, memory, &waiting, &held) && waiting && draw_on(s, p, memory, false, BANK_NEXT, false))
    if (again) (void)draw_on(s, p, memory, false, BANK_HELD, false);
}

// The bank that is read is not filled while others are.
static void hold(suite* s, program* p, int memory, int banks) {
  fill_and_take(s, p, memory, 1, false);
  for (int n = 0; n + 1 < banks; ++n) {
    (void)draw_on(s, p, memory, true, BANK_ANY, false);
    (void)draw_on(s, p, memory, false, BANK_HELD, false);
  }
  fill_and_take(s, p, memory, 0, true);
}

static void run_banks(suite* s, int memory, const char* what) {
  char name[160], *text = NULL;
  snprintf(name, sizeof name, "banks/%s/%s", s->chip->memories[memory].name, what);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  int banks = s->chip->memories[memory].banks, most = room_of(s, memory, banks);
  program p;
  suite_parts(s);
  program_begin(s, &p, false);
  for (int round = 0; round < ROUNDS * banks; ++round) {
    if (!strcmp(what, "in-turn")) fill_and_take(s, &p, memory, 1, false);
    if (!strcmp(what, "full")) fill_and_take(s, &p, memory, most, false);
    if (!strcmp(what, "again")) fill_and_take(s, &p, memory, 1 + round % most, true);
    if (!strcmp(what, "held")) hold(s, &p, memory, banks);
  }
  bool drawn = p.count > p.body;
  program_end(s, &p);
  bool good = program_check(s, &p, &text);
  if (good && s->options->vectors) good = suite_vectors(s, &p, name);
  program_free(&p);
  suite_record(s, name, !good ? FAILED : drawn ? PASSED : SKIPPED, text, suite_seconds() - start);
}

void suite_banks(suite* s) {
  static const char* const cases[] = {"in-turn", "full", "again", "held"};
  for (int m = 0; m < s->chip->memory_count; ++m)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
      if (pb_in_banks(&s->chip->memories[m])) run_banks(s, m, cases[k]);
}
