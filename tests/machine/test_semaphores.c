// Semaphores that several queues give and take: whatever queues run ahead of others, a command finds what it needs, and
// nothing blocks. Programs of random commands are ordered, and run by a scheduler that knows the semaphores' counts
// alone, in many random orders: each command with all that it waits for and signals, or one after the other.
#include "targets/control/queues/unroll.h"
#include "tdl/check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef PB_SHORT // under sanitizers
enum { PROGRAMS = 100 };
#else
enum { PROGRAMS = 400 };
#endif

enum { MOST = 4000, ACTIONS = 4 * MOST, ROWS = 64, SCHEDULES = 12 };

// A command that touches one row of a memory on the chip; row -1: none, it was put in between.
typedef struct step {
  int queue, row;
  bool writes;
} step;

typedef struct program {
  const pb_chip* chip;
  step steps[MOST];
  int count, idle;
  pb_tokens* tokens;
} program;

static const pb_insn* insn_of(const pb_chip* chip, int queue) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (chip->insns[i].queue == queue) return &chip->insns[i];
  return NULL;
}

static pb_status take_idle(void* user, const pb_unrolled* command) {
  program* p = user;
  p->steps[p->count++] = (step){.queue = command->command.insn->queue, .row = -1};
  ++p->idle;
  return PB_OK;
}

static pb_status add(program* p, step s) {
  int memory = 0;
  while (memory == p->chip->system_memory) ++memory;
  int64_t row = p->chip->memories[memory].row_bytes;
  pb_region region = {.memory = memory, .argument = -1, .base = s.row * row, .rank = 1, .element = 1};
  region.extent[0] = row;
  region.stride[0] = 1;
  region.written = s.writes;
  pb_unrolled c = {.command = {.insn = insn_of(p->chip, s.queue)}, .region_count = 1, .regions = &region};
  pb_status status = pb_tokens_add(p->tokens, &c);
  p->steps[p->count++] = s;
  return status;
}

// What a queue does at once: a command, -1: it waits or signals alone, by a command of its own.
typedef struct action {
  int command, queue;
  uint32_t waits, signals;
  uint64_t counts;
} action;

// What has happened in a run so far.
typedef struct run {
  action list[PB_CORE_QUEUES][ACTIONS]; // of each queue, one after the other
  int length[PB_CORE_QUEUES], started[PB_CORE_QUEUES], done[PB_CORE_QUEUES];
  bool is_done[MOST];
  int counts[PB_MAX_SEMAPHORES], left;
} run;

static void list_action(run* r, action a) {
  assert_true(r->length[a.queue] < ACTIONS);
  r->list[a.queue][r->length[a.queue]++] = a;
  r->left += 2; // it starts, and is done
}

static void list_actions(const program* p, run* r, int k) {
  pb_command own[PB_MAX_SEMAPHORES];
  pb_order o = pb_tokens_of(p->tokens, (size_t)k);
  pb_command of = {.waits = o.waits, .signals = o.signals, .counts = o.counts};
  for (int behind = 0; behind < 2; ++behind) {
    int count = p->chip->wait_field ? pb_semaphore_commands(p->chip, o.queue, &of, behind, own) : 0;
    for (int n = 0; n < count; ++n) list_action(r, (action){-1, o.queue, own[n].waits, own[n].signals, own[n].counts});
    bool apart = p->chip->wait_field;
    if (!behind) list_action(r, (action){k, o.queue, apart ? 0 : o.waits, apart ? 0 : o.signals, o.counts});
  }
}

static bool can_start(const program* p, const run* r, const action* a) {
  for (int s = 0; s < p->chip->semaphore_count; ++s)
    if (a->waits >> s & 1 && r->counts[s] < pb_count_of(p->chip, a->counts, s)) return false;
  return true;
}

static bool can_complete(const program* p, const run* r, const action* a) {
  for (int s = 0; s < p->chip->semaphore_count; ++s)
    if (a->signals >> s & 1 && r->counts[s] >= p->chip->semaphores[s].most) return false;
  return true;
}

// All that the command must come after is done.
static void check_before(const program* p, const run* r, int k) {
  const step* s = &p->steps[k];
  for (int m = 0; m < k && s->row >= 0; ++m) {
    const step* before = &p->steps[m];
    bool own = before->queue == s->queue && p->chip->queues[s->queue].in_order;
    if (before->row != s->row || !(before->writes || s->writes) || own || r->is_done[m]) continue;
    fail_msg("%s: command %d (%s) starts before command %d (%s) is done", p->chip->name, k,
             p->chip->queues[s->queue].name, m, p->chip->queues[before->queue].name);
  }
}

static void start(const program* p, run* r, int q) {
  const action* a = &r->list[q][r->started[q]++];
  if (a->command >= 0) check_before(p, r, a->command);
  for (int s = 0; s < p->chip->semaphore_count; ++s)
    if (a->waits >> s & 1) r->counts[s] -= pb_count_of(p->chip, a->counts, s);
}

static void complete(const program* p, run* r, int q) {
  const action* a = &r->list[q][r->done[q]++];
  if (a->command >= 0) r->is_done[a->command] = true;
  for (int s = 0; s < p->chip->semaphore_count; ++s) r->counts[s] += a->signals >> s & 1;
}

// A queue that is slow, -1: none, moves only when no other can, or by chance.
static void run_once(const program* p, int slow) {
  static run r;
  memset(&r, 0, sizeof r);
  for (int k = 0; k < p->count; ++k) list_actions(p, &r, k);
  for (; r.left > 0; --r.left) {
    int chosen = -1, seen = 0;
    for (int e = 0; e < 2 * p->chip->queue_count; ++e) {
      int q = e / 2;
      bool can = e % 2 ? r.done[q] < r.started[q] && can_complete(p, &r, &r.list[q][r.done[q]])
                       : r.started[q] < r.length[q] && can_start(p, &r, &r.list[q][r.started[q]]);
      if (!can || (q == slow && seen)) continue;
      if (rand() % ++seen == 0 || (chosen >= 0 && chosen / 2 == slow)) chosen = e;
    }
    if (chosen < 0) fail_msg("%s: nothing can move, %d commands are not done", p->chip->name, r.left / 2);
    if (chosen % 2)
      complete(p, &r, chosen / 2);
    else
      start(p, &r, chosen / 2);
  }
  for (int s = 0; s < p->chip->semaphore_count; ++s) assert_int_equal(r.counts[s], 0);
}

static void keep_code(void* user, bool error, int code, const char* text) {
  (void)error, (void)text;
  *(int*)user = code;
}

// Random commands, ordered, and run in many ways. false: the semaphores do not suffice, and that is said.
static bool order_and_run(program* p, pb_chip* chip, int seed) {
  srand((unsigned)seed);
  int code = 0;
  pb_diag quiet = {.sink = keep_code, .user = &code};
  *p = (program){.chip = chip, .tokens = pb_tokens_start(chip, &quiet, (pb_taker){take_idle, p})};
  int count = 100 + rand() % 300, rows = seed % 3 ? 2 + rand() % 8 : ROWS, batch = 1 + rand() % 12, queue = 0;
  pb_status status = PB_OK;
  for (int k = 0; k < count && status == PB_OK; ++k) {
    if (k % batch == 0) queue = rand() % chip->queue_count;
    status = add(p, (step){queue, rand() % rows, rand() % 2 == 0});
  }
  for (int k = 0; k < SCHEDULES && status == PB_OK; ++k) run_once(p, k % (chip->queue_count + 1) - 1);
  pb_tokens_free(p->tokens);
  assert_true(status == PB_OK || (status == PB_ERR_UNSUPPORTED && code == 4111));
  return status == PB_OK;
}

static program p;

static const char* const files[] = {PB_SOURCE_DIR "/tests/chips/tinynpu_semaphores.td",
                                    PB_SOURCE_DIR "/tests/chips/edge_npu_semaphores.td",
                                    PB_SOURCE_DIR "/tests/chips/tinynpu_events.td"};

static pb_chip* read_chip(int file) {
  pb_chip* chip;
  assert_int_equal(pb_chip_find(files[file], NULL, NULL, &chip), PB_OK);
  return chip;
}

static void random_commands(void** state) {
  (void)state;
  for (int file = 0; file < 3; ++file) {
    pb_chip* chip = read_chip(file);
    int commands = 0, idle = 0;
    for (int k = 0; k < 100; ++k) {
      assert_true(order_and_run(&p, chip, k));
      commands += p.count;
      idle += p.idle;
    }
    printf("%s: %d of %d commands were put in between\n", chip->name, idle, commands);
    assert_in_range(idle, 1, commands / 4); // with queues at random; in kernels most are behind what they must be
    pb_chip_free(chip);
  }
}

static uint32_t some_queues(const pb_chip* chip) { return 1 + (uint32_t)rand() % ((1u << chip->queue_count) - 1); }

static int bits_in(uint32_t set) {
  int count = 0;
  for (; set; set &= set - 1) ++count;
  return count;
}

// Any semaphores that lead from each queue to each other, and from one whose commands complete in any order to itself.
static void draw_semaphores(pb_chip* chip, pb_semaphore* semaphores) {
  chip->semaphores = semaphores;
  for (bool all = false; !all;) {
    all = true;
    chip->semaphore_count = 2 + rand() % 8;
    for (int s = 0; s < chip->semaphore_count; ++s) {
      uint32_t givers = rand() % 2 ? 1u << rand() % chip->queue_count : some_queues(chip);
      uint32_t takers = rand() % 4 ? 1u << rand() % chip->queue_count : some_queues(chip);
      semaphores[s] = (pb_semaphore){"S", givers, takers, bits_in(givers) + rand() % 3};
    }
    pb__find_sure_semaphores(chip);
    for (int from = 0; from < chip->queue_count; ++from)
      for (int to = 0; to < chip->queue_count; ++to)
        all &= from == to ? chip->queues[from].in_order || chip->queues[from].gives >> from & 1
                          : pb_token_way(chip, from, to) >= 0;
  }
}

static void order_by_random(int file) {
  pb_semaphore semaphores[PB_MAX_SEMAPHORES];
  pb_chip* chip = read_chip(file);
  pb_semaphore* own = chip->semaphores;
  for (int k = 0; k < PROGRAMS; ++k) {
    srand((unsigned)k);
    for (int q = 0; q < chip->queue_count; ++q) chip->queues[q].in_order = k % 2 || rand() % 4 != 0;
    draw_semaphores(chip, semaphores);
    assert_true(order_and_run(&p, chip, k));
  }
  chip->semaphores = own;
  pb_chip_free(chip);
}

static void random_semaphores(void** state) {
  (void)state;
  order_by_random(0);
}

static void random_semaphores_by_commands(void** state) {
  (void)state;
  order_by_random(2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_commands),
      cmocka_unit_test(random_semaphores),
      cmocka_unit_test(random_semaphores_by_commands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
