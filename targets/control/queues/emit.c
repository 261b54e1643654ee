#include "targets/control/queues/emit.h"

#include "core/base/workers.h"
#include "core/poly/text.h"
#include "targets/control/queues/roll.h"
#include "targets/control/queues/trace.h"

#include <stdlib.h>
#include <string.h>

// One queue's commands, encoded as they come.
typedef struct stream {
  uint8_t* bytes;
  size_t count, capacity; // bytes
} stream;

typedef struct printed {
  pb_command command;
  const char* nest;
} printed;

typedef struct emitter {
  const pb_chip* chip;
  pb_diag* diag;
  pb_tokens* tokens;
  stream streams[PB_MAX_QUEUES];
  bool prints;
  printed* commands; // in program order
  size_t count, capacity;
} emitter;

// Puts a command behind those of its queue; its tokens come once all are known.
static pb_status put(void* user, const pb_traced* c) {
  emitter* e = user;
  if (e->prints) {
    PB_PUSH(e->commands, e->count, e->capacity, ((printed){c->command, c->nest}));
    return PB_OK;
  }
  stream* s = &e->streams[c->command.insn->queue];
  size_t bytes = (size_t)e->chip->command_bytes;
  while (s->count + bytes > s->capacity) s->bytes = pb_grow(s->bytes, s->capacity, &s->capacity, 1);
  PB_TRY(pb_encode(e->chip, &c->command, s->bytes + s->count, e->diag));
  s->count += bytes;
  return PB_OK;
}

static pb_status take(void* user, const pb_traced* c) {
  emitter* e = user;
  PB_TRY(pb_tokens_add(e->tokens, c));
  return put(e, c);
}

static void begin(emitter* e) { e->tokens = pb_tokens_start(e->chip, e->diag, (pb_taker){put, e}); }

// Follows the kernel as one core runs it; where there is state, once more to see what is coming.
static pb_status follow(emitter* e, const pb_decoded* kernel, int core) {
  pb_taker here = {take, e};
  if (!pb_chip_has_state(e->chip)) return pb_trace_run(e->chip, kernel, core, e->diag, here);
  pb_state_writer* writer = pb_state_start(e->chip, e->diag);
  pb_status status = pb_trace_run(e->chip, kernel, core, e->diag, (pb_taker){pb_state_show, writer});
  pb_state_begin(writer, here);
  if (status == PB_OK) status = pb_trace_run(e->chip, kernel, core, e->diag, (pb_taker){pb_state_take, writer});
  pb_state_free(writer);
  return status;
}

static void release(emitter* e) {
  for (int q = 0; q < PB_MAX_QUEUES; ++q) free(e->streams[q].bytes);
  free(e->commands);
  pb_tokens_free(e->tokens);
}

static void put_tokens(emitter* e) {
  size_t at[PB_MAX_QUEUES] = {0};
  for (size_t k = 0; k < pb_tokens_count(e->tokens); ++k) {
    int q;
    uint32_t waits, signals;
    pb_tokens_of(e->tokens, k, &q, &waits, &signals);
    pb_encode_tokens(e->chip, waits, signals, e->streams[q].bytes + at[q]);
    at[q] += (size_t)e->chip->command_bytes;
  }
}

// Takes the core's streams over, rolled.
static void keep_streams(emitter* e, int core, pb_arena* arena, pb_words_kernel* words) {
  size_t bytes = (size_t)e->chip->command_bytes;
  put_tokens(e);
  pb_tokens_free(e->tokens); // rolling needs words only
  e->tokens = NULL;
  for (int q = 0; q < e->chip->queue_count; ++q) {
    stream* s = &e->streams[q];
    int to = core * e->chip->queue_count + q;
    size_t count = pb_roll(e->chip, s->bytes, s->count / bytes);
    words->count[to] = (uint32_t)count;
    words->streams[to] = pb_alloc(arena, count * bytes);
    if (count) memcpy(words->streams[to], s->bytes, count * bytes);
    free(s->bytes);
    *s = (stream){0};
  }
}

// ---- kernels, beside each other ----

// A kernel that is decoded: what follows needs nothing of MLIR's, whose context is one thread's.
typedef struct job {
  pb_decoded kernel;
  pb_words_kernel words;
  pb_arena scratch, arena; // of the decoded kernel; of the words
  pb_status status;
} job;

typedef struct batch {
  const pb_chip* chip;
  job* jobs;
} batch;

static pb_status make_words(const pb_chip* chip, const pb_decoded* kernel, pb_arena* arena, pb_diag* diag,
                            pb_words_kernel* words) {
  pb_status status = PB_OK;
  words->queue_count = chip->queue_count * kernel->cores;
  words->count = PB_NEW_ARRAY(arena, uint32_t, (size_t)words->queue_count);
  words->streams = PB_NEW_ARRAY(arena, uint8_t*, (size_t)words->queue_count);
  for (int core = 0; core < kernel->cores && status == PB_OK; ++core) {
    emitter e = {.chip = chip, .diag = diag};
    begin(&e);
    status = follow(&e, kernel, core);
    if (status == PB_OK) keep_streams(&e, core, arena, words);
    release(&e);
  }
  return status;
}

static void make_job(void* user, int k) {
  batch* b = user;
  pb_diag quiet = {.sink = pb_diag_drop};
  job* j = &b->jobs[k];
  j->status = make_words(b->chip, &j->kernel, &j->arena, &quiet, &j->words);
}

// What one that failed has to say, it says when it is followed again, in its turn.
static pb_status take_job(const pb_chip* chip, job* j, pb_arena* arena, pb_diag* diag, pb_words_kernel* words) {
  if (j->status != PB_OK) return make_words(chip, &j->kernel, arena, diag, words);
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
  if (status == PB_OK) pb_work_on(count, workers, make_job, &(batch){chip, jobs});
  for (int k = 0; k < decoded; ++k) {
    if (status == PB_OK) status = take_job(chip, &jobs[k], arena, diag, &words[k]);
    pb_decoded_free(&jobs[k].kernel);
    pb_arena_free(&jobs[k].scratch);
    pb_arena_free(&jobs[k].arena);
  }
  free(jobs);
  return status;
}

static void print_core(emitter* e, int core, pb_arena* scratch, pb_text* out) {
  for (size_t k = 0; k < e->count; ++k) {
    int queue;
    printed* c = &e->commands[k];
    pb_tokens_of(e->tokens, k, &queue, &c->command.waits, &c->command.signals);
    pb_text_add(out, "%-3s %s%s%s\n", pb_chip_queue_name(e->chip, core * e->chip->queue_count + queue),
                pb_disassemble(e->chip, &c->command, scratch), c->nest && c->nest[0] ? " // " : "",
                c->nest ? c->nest : "");
  }
}

pb_status pb_queues_print(const pb_chip* chip, MlirOperation func, pb_diag* diag, char** text) {
  pb_arena scratch = {0};
  pb_text out = {0};
  pb_decoded kernel;
  pb_status status = pb_decode_kernel(chip, func, &scratch, diag, &kernel);
  for (int core = 0; core < kernel.cores && status == PB_OK; ++core) {
    emitter e = {.chip = chip, .diag = diag, .prints = true};
    begin(&e);
    status = follow(&e, &kernel, core);
    if (status == PB_OK) print_core(&e, core, &scratch, &out);
    release(&e);
  }
  pb_decoded_free(&kernel);
  pb_arena_free(&scratch);
  *text = out.data;
  return status;
}
