#include "targets/control/queues/emit.h"

#include "core/base/workers.h"
#include "core/poly/text.h"
#include "targets/control/queues/alike.h"
#include "targets/control/queues/broadcast.h"
#include "targets/control/queues/reroll.h"
#include "targets/control/queues/unroll.h"

#include <stdlib.h>
#include <string.h>

// One queue's commands, encoded as they come.
typedef struct stream {
  uint8_t* bytes;
  size_t count, capacity; // bytes
  int32_t* calls;         // which call of the kernel each command is, if anybody asks
  size_t call_count, call_capacity;
} stream;

typedef struct printed {
  pb_command command;
  const char* nest;
} printed;

typedef struct emitter {
  const pb_chip* chip;
  pb_diag* diag;
  pb_tokens* tokens;
  pb_broadcasts* broadcasts; // NULL: no load is for several cores
  stream streams[PB_CORE_QUEUES];
  bool notes; // the calls of commands
  bool prints;
  printed* commands; // in program order
  size_t count, capacity;
  pb_cost_of_command* costs; // of a chip with fences: of each command in program order
  size_t cost_count, cost_capacity;
} emitter;

static pb_cost_of_command cost_of(const pb_chip* chip, const pb_command* c) {
  int64_t extents[PB_MAX_INSN_DIMS], latency = c->insn->latency;
  pb_command_extents(c, extents);
  for (int o = 0; o < c->insn->operand_count; ++o)
    if (c->insn->operands[o].memory >= 0 && pb_is_outside(&chip->memories[c->insn->operands[o].memory]) &&
        o != c->insn->dest)
      latency += chip->memories[c->insn->operands[o].memory].latency;
  return (pb_cost_of_command){(int32_t)pb_cycles(c->insn, extents), (int32_t)latency};
}

// Puts a command behind those of its queue; its tokens come once all are known.
static pb_status put(void* user, const pb_unrolled* c) {
  emitter* e = user;
  if (e->chip->fence) PB_PUSH(e->costs, e->cost_count, e->cost_capacity, cost_of(e->chip, &c->command));
  if (e->prints) {
    PB_PUSH(e->commands, e->count, e->capacity, ((printed){c->command, c->nest}));
    return PB_OK;
  }
  stream* s = &e->streams[c->command.insn->queue];
  size_t bytes = (size_t)e->chip->command_bytes;
  while (s->count + bytes > s->capacity) s->bytes = pb_grow(s->bytes, s->capacity, &s->capacity, 1);
  PB_TRY(pb_encode(e->chip, &c->command, s->bytes + s->count, e->diag));
  s->count += bytes;
  if (e->notes) PB_PUSH(s->calls, s->call_count, s->call_capacity, c->call);
  return PB_OK;
}

static pb_status take(void* user, const pb_unrolled* c) {
  emitter* e = user;
  PB_TRY(pb_tokens_add(e->tokens, c));
  if (!e->broadcasts || c->call < 0) return put(e, c);
  pb_unrolled own = *c;
  pb_broadcasts_set(e->broadcasts, &own.command);
  return put(e, &own);
}

static void begin(emitter* e, int core) {
  e->tokens = pb_tokens_start(e->chip, e->diag, (pb_taker){put, e});
  if (e->broadcasts) pb_broadcasts_turn(e->broadcasts, core);
}

// Follows the kernel as one core runs it; where there is state, once more to see what is coming.
static pb_status follow_to(emitter* e, const pb_decoded* kernel, int core, pb_taker here) {
  if (!pb_chip_has_state(e->chip)) return pb_unroll_run(e->chip, kernel, core, e->diag, here);
  pb_state_writer* writer = pb_state_start(e->chip, e->diag);
  pb_status status = pb_unroll_run(e->chip, kernel, core, e->diag, (pb_taker){pb_state_show, writer});
  pb_state_begin(writer, here);
  if (status == PB_OK) status = pb_unroll_run(e->chip, kernel, core, e->diag, (pb_taker){pb_state_take, writer});
  pb_state_free(writer);
  return status;
}

static pb_status follow(emitter* e, const pb_decoded* kernel, int core) {
  pb_taker here = {take, e};
  if (!pb_chip_has_banks(e->chip)) return follow_to(e, kernel, core, here);
  pb_bank_order* order = pb_banks_start(e->chip, e->diag, here);
  pb_status status = follow_to(e, kernel, core, (pb_taker){pb_banks_take, order});
  if (status == PB_OK) status = pb_banks_end(order);
  pb_banks_free(order);
  return status;
}

// Which loads of the kernel's cores are one. NULL: none can be.
static pb_status find_broadcasts(const pb_chip* chip, const pb_decoded* kernel, pb_diag* diag, pb_broadcasts** found) {
  pb_broadcasts* b = *found = pb_broadcasts_start(chip, kernel->cores);
  pb_status status = PB_OK;
  for (int core = 0; b && core < kernel->cores && status == PB_OK; ++core) {
    pb_broadcasts_turn(b, core);
    status = pb_unroll_run(chip, kernel, core, diag, (pb_taker){pb_broadcasts_show, b});
  }
  if (b && status == PB_OK) pb_broadcasts_match(b);
  return status;
}

static void free_stream(stream* s) {
  free(s->bytes);
  free(s->calls);
  *s = (stream){0};
}

static void release(emitter* e) {
  for (int q = 0; q < PB_CORE_QUEUES; ++q) free_stream(&e->streams[q]);
  free(e->commands);
  free(e->costs);
  pb_tokens_free(e->tokens);
}

// Puts commands of their own for semaphores behind the stream's.
static pb_status put_semaphores(emitter* e, stream* s, const pb_order* order, bool behind) {
  pb_command made[PB_MAX_SEMAPHORES], of = {.waits = order->waits, .signals = order->signals, .counts = order->counts};
  int count = pb_semaphore_commands(e->chip, order->queue, &of, behind, made);
  size_t bytes = (size_t)e->chip->command_bytes;
  for (int k = 0; k < count; ++k) {
    while (s->count + bytes > s->capacity) s->bytes = pb_grow(s->bytes, s->capacity, &s->capacity, 1);
    PB_TRY(pb_encode(e->chip, &made[k], s->bytes + s->count, e->diag));
    s->count += bytes;
    if (e->notes) PB_PUSH(s->calls, s->call_count, s->call_capacity, -1);
  }
  return PB_OK;
}

// All queues' words anew, with the commands that wait and signal for them.
static pb_status put_all_semaphores(emitter* e) {
  stream made[PB_CORE_QUEUES] = {0};
  size_t at[PB_CORE_QUEUES] = {0}, bytes = (size_t)e->chip->command_bytes;
  pb_status status = PB_OK;
  for (size_t k = 0; k < pb_tokens_count(e->tokens) && status == PB_OK; ++k) {
    pb_order order = pb_tokens_of(e->tokens, k);
    stream *from = &e->streams[order.queue], *to = &made[order.queue];
    status = put_semaphores(e, to, &order, false);
    while (to->count + bytes > to->capacity) to->bytes = pb_grow(to->bytes, to->capacity, &to->capacity, 1);
    memcpy(to->bytes + to->count, from->bytes + at[order.queue] * bytes, bytes);
    if (!order.idle) to->count += bytes;
    if (!order.idle && e->notes) PB_PUSH(to->calls, to->call_count, to->call_capacity, from->calls[at[order.queue]]);
    ++at[order.queue];
    if (status == PB_OK) status = put_semaphores(e, to, &order, true);
  }
  for (int q = 0; q < PB_CORE_QUEUES; ++q) {
    free_stream(&e->streams[q]);
    e->streams[q] = made[q];
  }
  return status;
}

static void put_tokens(emitter* e) {
  size_t at[PB_CORE_QUEUES] = {0};
  for (size_t k = 0; k < pb_tokens_count(e->tokens); ++k) {
    pb_order order = pb_tokens_of(e->tokens, k);
    uint8_t* bytes = e->streams[order.queue].bytes + at[order.queue];
    pb_encode_tokens(e->chip, order.waits, order.signals, order.counts, bytes);
    at[order.queue] += (size_t)e->chip->command_bytes;
  }
}

// All queues' words as one list, with fences.
static pb_status list_words(emitter* e, stream* list) {
  const pb_chip* chip = e->chip;
  size_t count, at[PB_CORE_QUEUES] = {0}, bytes = (size_t)chip->command_bytes;
  pb_listed* order = pb_fences_put(chip, e->tokens, e->costs, &count);
  pb_status status = PB_OK;
  list->bytes = malloc(count * bytes + 1);
  if (!list->bytes) pb_no_memory(count * bytes);
  for (size_t k = 0; k < count && status == PB_OK; ++k, list->count += bytes) {
    int call = -1;
    if (order[k].queues) {
      pb_command fence = pb_fence(chip, order[k].queues);
      status = pb_encode(chip, &fence, list->bytes + list->count, e->diag);
    } else {
      int q = pb_tokens_of(e->tokens, order[k].command).queue;
      memcpy(list->bytes + list->count, e->streams[q].bytes + at[q] * bytes, bytes);
      if (e->notes) call = e->streams[q].calls[at[q]];
      ++at[q];
    }
    if (e->notes) PB_PUSH(list->calls, list->call_count, list->call_capacity, call);
  }
  free(order);
  return status;
}

// Keeps one queue's words, rolled in place.
static void keep_words(const pb_chip* chip, uint8_t* bytes, size_t size, pb_arena* arena, pb_words_kernel* words,
                       int to) {
  size_t each = (size_t)chip->command_bytes, count = pb_reroll(chip, bytes, size / each);
  words->count[to] = (uint32_t)count;
  words->streams[to] = pb_alloc(arena, count * each);
  if (count) memcpy(words->streams[to], bytes, count * each);
}

static uint8_t* copy_of(const uint8_t* bytes, size_t size) {
  uint8_t* copy = malloc(size + 1);
  if (!copy) pb_no_memory(size);
  return size ? memcpy(copy, bytes, size) : copy;
}

// Takes the core's streams over. plain: keeps them as they were before loops, NULL: does not.
static pb_status keep_streams(emitter* e, int core, pb_arena* arena, pb_words_kernel* words, stream* plain) {
  int streams = pb_chip_streams(e->chip) / e->chip->cores;
  if (e->chip->fence) {
    stream list = {0};
    pb_status status = list_words(e, &list);
    for (int q = 0; q < e->chip->queue_count; ++q) free_stream(&e->streams[q]);
    e->streams[0] = list;
    PB_TRY(status);
  } else if (e->chip->wait_field) {
    PB_TRY(put_all_semaphores(e));
  } else {
    put_tokens(e);
  }
  pb_tokens_free(e->tokens); // rolling needs words only
  e->tokens = NULL;
  for (int q = 0; q < streams; ++q) {
    stream* s = &e->streams[q];
    int to = core * streams + q;
    uint8_t* own = plain ? copy_of(s->bytes, s->count) : s->bytes;
    keep_words(e->chip, own, s->count, arena, words, to);
    if (plain) {
      free(own);
      plain[to] = *s;
      *s = (stream){0};
    }
    free_stream(s);
  }
  return PB_OK;
}

// ---- kernels, beside each other ----

// A kernel that is decoded: what follows needs nothing of MLIR's, whose context is one thread's.
typedef struct job {
  pb_decoded kernel;
  pb_words_kernel words;
  pb_arena scratch, arena; // of the decoded kernel; of the words
  pb_status status;
  int like; // the job before it whose kernel differs in numbers alone; -1: there is none
  bool leads;
  stream* plain; // of one that leads: its words before loops
} job;

typedef struct batch {
  const pb_chip* chip;
  job* jobs;
  bool led; // at those that are like others
} batch;

static void begin_words(const pb_chip* chip, const pb_decoded* kernel, pb_arena* arena, pb_words_kernel* words) {
  words->queue_count = pb_chip_streams(chip) / chip->cores * kernel->cores;
  words->count = PB_NEW_ARRAY(arena, uint32_t, (size_t)words->queue_count);
  words->streams = PB_NEW_ARRAY(arena, uint8_t*, (size_t)words->queue_count);
}

static pb_status make_words(const pb_chip* chip, const pb_decoded* kernel, pb_arena* arena, pb_diag* diag,
                            pb_words_kernel* words, stream* plain) {
  pb_broadcasts* broadcasts;
  pb_status status = find_broadcasts(chip, kernel, diag, &broadcasts);
  begin_words(chip, kernel, arena, words);
  for (int core = 0; core < kernel->cores && status == PB_OK; ++core) {
    emitter e = {.chip = chip, .diag = diag, .broadcasts = broadcasts, .notes = plain != NULL};
    begin(&e, core);
    status = follow(&e, kernel, core);
    if (status == PB_OK) status = keep_streams(&e, core, arena, words, plain);
    release(&e);
  }
  pb_broadcasts_free(broadcasts);
  return status;
}

// The words of the job that leads, but for the numbers. false: they must be made.
static bool change_words(const pb_chip* chip, const job* leader, job* j) {
  size_t bytes = (size_t)chip->command_bytes;
  pb_changes changes = pb_changes_between(chip, &leader->kernel, &j->kernel, &j->scratch);
  if (leader->status != PB_OK || !changes.possible) return false;
  begin_words(chip, &j->kernel, &j->arena, &j->words);
  for (int q = 0; q < j->words.queue_count; ++q) {
    const stream* plain = &leader->plain[q];
    uint8_t* own = copy_of(plain->bytes, plain->count);
    for (size_t c = 0; c < plain->call_count; ++c) {
      const uint8_t* bits = plain->calls[c] >= 0 ? changes.bits[plain->calls[c]] : NULL;
      for (size_t b = 0; bits && b < bytes; ++b) own[c * bytes + b] ^= bits[b];
    }
    keep_words(chip, own, plain->count, &j->arena, &j->words, q);
    free(own);
  }
  return true;
}

static void make_job(void* user, int k) {
  batch* b = user;
  pb_diag quiet = {.sink = pb_diag_drop};
  job* j = &b->jobs[k];
  if (b->led != (j->like >= 0)) return;
  if (b->led && change_words(b->chip, &b->jobs[j->like], j)) return;
  if (j->leads) j->plain = PB_NEW_ARRAY(&j->scratch, stream, (size_t)(b->chip->queue_count * j->kernel.cores));
  j->status = make_words(b->chip, &j->kernel, &j->arena, &quiet, &j->words, j->plain);
}

// Those that lead first. What configuration state holds hangs on numbers too.
static void make_jobs(const pb_chip* chip, job* jobs, int count, int workers) {
  batch b = {.chip = chip, .jobs = jobs};
  bool by_numbers = !pb_chip_has_state(chip);
  for (int k = 0; k < count; ++k) {
    jobs[k].like = -1;
    for (int l = 0; l < k && jobs[k].like < 0 && by_numbers; ++l)
      if (jobs[l].like < 0 && pb_decoded_alike(&jobs[l].kernel, &jobs[k].kernel)) jobs[k].like = l;
    if (jobs[k].like >= 0) jobs[jobs[k].like].leads = true;
  }
  pb_work_on(count, workers, make_job, &b);
  b.led = true;
  pb_work_on(count, workers, make_job, &b);
}

// What one that failed has to say, it says when it is followed again, in its turn.
static pb_status take_job(const pb_chip* chip, job* j, pb_arena* arena, pb_diag* diag, pb_words_kernel* words) {
  if (j->status != PB_OK) return make_words(chip, &j->kernel, arena, diag, words, NULL);
  *words = j->words;
  words->count = PB_NEW_ARRAY(arena, uint32_t, (size_t)words->queue_count);
  words->streams = PB_NEW_ARRAY(arena, uint8_t*, (size_t)words->queue_count);
  memcpy(words->count, j->words.count, sizeof *words->count * (size_t)words->queue_count);
  for (int q = 0; q < words->queue_count; ++q) {
    size_t bytes = words->count[q] * (size_t)chip->command_bytes;
    words->streams[q] = pb_alloc(arena, bytes);
    if (bytes) memcpy(words->streams[q], j->words.streams[q], bytes);
  }
  return PB_OK;
}

pb_status pb_queues_emit(const pb_chip* chip, const MlirOperation* funcs, int count, int workers, pb_arena* arena,
                         pb_diag* diag, pb_words_kernel* words) {
  pb_status status = PB_OK;
  job* jobs = calloc((size_t)count + 1, sizeof *jobs);
  if (!jobs) pb_no_memory((size_t)count * sizeof *jobs);
  int decoded = 0;
  for (; decoded < count && status == PB_OK; ++decoded)
    status = pb_decode_kernel(chip, funcs[decoded], &jobs[decoded].scratch, diag, &jobs[decoded].kernel);
  if (status == PB_OK) make_jobs(chip, jobs, count, workers);
  for (int k = 0; k < decoded; ++k) {
    if (status == PB_OK) status = take_job(chip, &jobs[k], arena, diag, &words[k]);
    for (int q = 0; jobs[k].plain && q < jobs[k].words.queue_count; ++q) free_stream(&jobs[k].plain[q]);
    pb_decoded_free(&jobs[k].kernel);
    pb_arena_free(&jobs[k].scratch);
    pb_arena_free(&jobs[k].arena);
  }
  free(jobs);
  return status;
}

static void print_command(emitter* e, int core, const pb_command* c, const char* nest, pb_arena* scratch,
                          pb_text* out) {
  pb_text_add(out, "%-3s %s%s%s\n", pb_chip_queue_name(e->chip, core * e->chip->queue_count + c->insn->queue),
              pb_disassemble(e->chip, c, scratch), nest && nest[0] ? " // " : "", nest ? nest : "");
}

static void print_list(emitter* e, int core, pb_arena* scratch, pb_text* out) {
  size_t count;
  pb_listed* order = pb_fences_put(e->chip, e->tokens, e->costs, &count);
  for (size_t k = 0; k < count; ++k) {
    if (order[k].queues) {
      pb_command fence = pb_fence(e->chip, order[k].queues);
      pb_text_add(out, "    %s\n", pb_disassemble(e->chip, &fence, scratch));
      continue;
    }
    printed* c = &e->commands[order[k].command];
    print_command(e, core, &c->command, c->nest, scratch, out);
  }
  free(order);
}

static void print_core(emitter* e, int core, pb_arena* scratch, pb_text* out) {
  if (e->chip->fence) {
    print_list(e, core, scratch, out);
    return;
  }
  for (size_t k = 0; k < e->count; ++k) {
    printed* c = &e->commands[k];
    pb_order order = pb_tokens_of(e->tokens, k);
    c->command.waits = order.waits;
    c->command.signals = order.signals;
    c->command.counts = order.counts;
    if (!e->chip->wait_field) {
      print_command(e, core, &c->command, c->nest, scratch, out);
      continue;
    }
    pb_command own[PB_MAX_SEMAPHORES], plain = c->command;
    plain.waits = plain.signals = 0;
    int waits = pb_semaphore_commands(e->chip, order.queue, &c->command, false, own);
    for (int n = 0; n < waits; ++n) print_command(e, core, &own[n], c->nest, scratch, out);
    if (!order.idle) print_command(e, core, &plain, c->nest, scratch, out);
    int signals = pb_semaphore_commands(e->chip, order.queue, &c->command, true, own);
    for (int n = 0; n < signals; ++n) print_command(e, core, &own[n], c->nest, scratch, out);
  }
}

pb_status pb_queues_print(const pb_chip* chip, MlirOperation func, pb_diag* diag, char** text) {
  pb_arena scratch = {0};
  pb_text out = {0};
  pb_decoded kernel;
  pb_broadcasts* broadcasts = NULL;
  pb_status status = pb_decode_kernel(chip, func, &scratch, diag, &kernel);
  if (status == PB_OK) status = find_broadcasts(chip, &kernel, diag, &broadcasts);
  for (int core = 0; core < kernel.cores && status == PB_OK; ++core) {
    emitter e = {.chip = chip, .diag = diag, .broadcasts = broadcasts, .prints = true};
    begin(&e, core);
    status = follow(&e, &kernel, core);
    if (status == PB_OK) print_core(&e, core, &scratch, &out);
    release(&e);
  }
  pb_broadcasts_free(broadcasts);
  pb_decoded_free(&kernel);
  pb_arena_free(&scratch);
  *text = out.data;
  return status;
}
