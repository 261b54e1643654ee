// Reads for several cores. One core of a group runs a whole program; beside it each of the others runs those commands
// alone that read for it too, and what writes their state. Every core of the group is that one in its turn, so that
// what each has in its memories shows, and nobody else's stores hide it.
#include "suite.h"

#include <stdio.h>

void broadcast_partners(const suite* s, const program* p, program* others) {
  *others = (program){.semaphore = -1};
  for (size_t n = 0; n < p->count; ++n) {
    pb_command c = p->commands[n];
    bool state = !c.insn->operand_count && !program_only_orders(s, &c);
    if (!state && !pb_command_cores(&c)) continue;
    c.waits = c.signals = 0, c.counts = 0;
    program_push_touched(s, others, &c, &p->touches[n]);
  }
  others->tail = others->count;
  program_order(s, others);
}

// All cores, the first two, the first and the last.
static uint32_t group_of(const pb_chip* chip, int round) {
  return round == 0 ? (1u << chip->cores) - 1 : round == 1 ? 3 : 1 | 1u << (chip->cores - 1);
}

static void run_broadcast(suite* s, const pb_insn* insn) {
  static const shape shapes[] = {SHAPE_RANDOM, SHAPE_RAGGED, SHAPE_SMALLEST, SHAPE_UNALIGNED, SHAPE_LAST};
  char name[160], why[JUDGE_WHY], *text = NULL;
  snprintf(name, sizeof name, "broadcast/%s", insn->name);
  if (!suite_wants(s, name)) return;
  double start = suite_seconds();
  bool good = true;
  int drawn = 0;
  for (int round = 0; round < 3 && good; ++round) {
    program p;
    suite_parts(s);
    program_begin(s, &p, false);
    p.together = group_of(s->chip, round);
    for (int k = 0; k < 20; ++k) { // between them what reads what they have written
      const pb_insn* other = &s->chip->insns[draw(s, (uint32_t)s->chip->insn_count)];
      wish w = {.shape = shapes[k / 2 % 5], .flag = -1};
      bool put = program_draw(s, &p, k % 2 ? other : insn, w, why);
      drawn += put && k % 2 == 0;
    }
    program_end(s, &p);
    good = program_check(s, &p, &text);
    program_free(&p);
  }
  suite_record(s, name, !good ? FAILED : drawn ? PASSED : SKIPPED, drawn ? text : why, suite_seconds() - start);
}

void suite_broadcasts(suite* s) {
  for (int i = 0; i < s->chip->insn_count && s->chip->cores > 1; ++i)
    if (s->chip->insns[i].broadcast >= 0) run_broadcast(s, &s->chip->insns[i]);
}
