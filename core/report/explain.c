#include "core/report/explain.h"

#include "core/base/table.h"
#include "core/poly/nest.h"
#include "core/report/report.h"
#include "core/s3/fallback.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 16 }; // queues that are told of one by one

typedef struct write {
  int step, before; // before: the write into the same tensor before this one, -1
} write;

typedef struct explainer {
  const pb_unit* unit;
  pb_explanation* out;
  pb_table numbers; // of the host function's tensors
  int* tensors;     // the last write into each, -1
  write* writes;
  size_t tensor_count, tensor_capacity, write_count, write_capacity;
} explainer;

static const char* text_of(pb_arena* arena, MlirAttribute a) {
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a)) return "";
  MlirStringRef s = mlirStringAttrGetValue(a);
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

// chip.INSN or chip.INSN.type; NULL: it is no instruction's function.
static const pb_insn* called(const pb_chip* chip, MlirOperation op, pb_arena* arena) {
  MlirStringRef s = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
  char* name = pb_printf(arena, "%.*s", (int)s.length, s.data);
  char* insn = strchr(name, '.');
  if (!insn) return NULL;
  char* type = strchr(insn + 1, '.');
  if (type) *type = 0;
  return pb_chip_insn(chip, insn + 1);
}

static bool names(const char* list, const char* one) {
  for (size_t n = strlen(one); *list; list += strcspn(list, ","), list += 2 * (*list == ','))
    if (strcspn(list, ",") == n && !strncmp(list, one, n)) return true;
  return false;
}

static void add_insn(explainer* x, pb_explained_step* step, const pb_insn* insn, const char* node) {
  int k = 0;
  x->out->runs[insn->index] = true;
  while (k < step->insn_count && step->insns[k].insn != insn) ++k;
  if (k == PB_EXPLAIN_INSNS) return;
  if (k == step->insn_count) step->insns[step->insn_count++] = (pb_explained_insn){.insn = insn, .nodes = ""};
  pb_explained_insn* at = &step->insns[k];
  if (*node && !names(at->nodes, node))
    at->nodes = *at->nodes ? pb_printf(&x->out->arena, "%s, %s", at->nodes, node) : node;
}

static void add_calls(explainer* x, pb_explained_step* step, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
      MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
      for (; !mlirBlockIsNull(inner); inner = mlirBlockGetNextInRegion(inner)) add_calls(x, step, inner);
    }
    if (!pb_op_is(op, "func.call")) continue;
    const pb_insn* insn = called(x->unit->chip, op, &x->out->arena);
    if (insn) add_insn(x, step, insn, text_of(&x->out->arena, pb_op_attribute(op, "pb.nest")));
  }
}

// Of its queue: a command that goes on beside others keeps that for one.
static int64_t cycles_of(const pb_chip* chip, int64_t (*state)[32], const uint8_t* word) {
  pb_command command;
  int64_t extents[PB_MAX_INSN_DIMS];
  if (pb_decode(chip, word, &command, NULL) != PB_OK) return 0;
  pb_state_follow(chip, state, &command);
  pb_command_extents(&command, extents);
  return command.insn->beside ? 1 : pb_cycles(command.insn, extents);
}

// One list holds the commands of all queues, and fences, which take nobody's time.
static int queue_of(const pb_chip* chip, int stream, const uint8_t* word) {
  pb_command command;
  if (!chip->fence) return stream;
  if (pb_decode(chip, word, &command, NULL) != PB_OK || command.insn->queue < 0) return -1;
  return stream * chip->queue_count + command.insn->queue;
}

// Commands of a loop's body change by a constant an iteration, so that the mean of the first and the last is that of
// all where cycles are linear in what changes. Returns the words that it takes.
static uint32_t add_loop(const pb_chip* chip, int64_t (*state)[32], int stream, const uint8_t* word, uint64_t* busy,
                         uint64_t* commands) {
  pb_command header;
  uint8_t last[PB_COMMAND_BITS / 8];
  if (pb_decode(chip, word, &header, NULL) != PB_OK) return 1;
  int64_t iterations = header.values[chip->loop_iterations], body = header.values[chip->loop_body];
  size_t bytes = (size_t)chip->command_bytes;
  for (int64_t k = 0; k < body; ++k) {
    const uint8_t *command = word + (size_t)(1 + 2 * k) * bytes, *step = command + bytes;
    int queue = queue_of(chip, stream, command);
    if (queue < 0) continue;
    *commands += (uint64_t)iterations;
    memcpy(last, command, bytes);
    for (int64_t t = 1; t < iterations; ++t) pb_command_step(chip, last, step);
    busy[queue] += (uint64_t)((cycles_of(chip, state, command) + cycles_of(chip, state, last)) * iterations / 2);
  }
  return (uint32_t)(1 + 2 * body);
}

static void add_commands(explainer* x, pb_explained_step* step) {
  const pb_chip* chip = x->unit->chip;
  const pb_words_kernel* w = &step->kernel->words;
  pb_arena scratch = {0};
  int64_t(*state)[32] = pb_alloc_array(&scratch, (size_t)chip->insn_count, sizeof *state);
  for (int q = 0; q < w->queue_count; ++q) {
    if (q % chip->queue_count == 0) pb_state_clear(chip, state); // another core's
    for (uint32_t at = 0; at < w->count[q];) {
      const uint8_t* word = w->streams[q] + (size_t)at * (size_t)chip->command_bytes;
      if (pb_is_loop(chip, word)) {
        at += add_loop(chip, state, q, word, step->busy, &step->commands);
        continue;
      }
      int queue = queue_of(chip, q, word);
      if (queue >= 0) step->busy[queue] += (uint64_t)cycles_of(chip, state, word);
      step->commands += queue >= 0;
      ++at;
    }
  }
  pb_arena_free(&scratch);
}

// Who runs a kernel that is not shared.
static const char* unit_of(const pb_chip* chip) {
  return chip->control == PB_CONTROL_GRID ? chip->levels[PB_GRID_WARPS].name : "thread";
}

// What code of cores is made of: by its plan.
static const char* code_of(explainer* x, MlirOperation func) {
  pb_arena* arena = &x->out->arena;
  if (mlirOperationIsNull(func)) return "native code";
  const char* scalar = text_of(arena, pb_op_attribute(func, "pb.scalar"));
  if (pb_op_has(func, "pb.by_shares")) return "vector code, kernel by kernel for each share";
  if (pb_op_has(func, "pb.run")) return "small kernels, one behind the other";
  if (pb_op_has(func, "pb.turns")) return "small kernels, with its turns or branches inside";
  bool shared = pb_op_has(func, "pb.shared");
  const char* by = shared ? "" : pb_printf(arena, " on one %s", unit_of(x->unit->chip));
  if (*scalar) return pb_printf(arena, "plain loops%s, since %s", by, scalar);
  const char* insn = text_of(arena, pb_op_attribute(func, "pb.contraction"));
  if (pb_op_has(func, "pb.guarded")) return "vector code, only where a guard says so";
  return *insn ? insn : "vector code";
}

static void add_kernel(explainer* x, pb_explained_step* step) {
  const pb_unit* unit = x->unit;
  MlirOperation func = pb_module_func(unit->module, step->kernel->name);
  const pb_left_kernel* left = pb_kernel_left(unit, step->kernel->name);
  step->how = "";
  step->memory = PB_NEW_ARRAY(&x->out->arena, int64_t, (size_t)unit->chip->memory_count + 1);
  step->busy = PB_NEW_ARRAY(&x->out->arena, uint64_t, (size_t)pb_chip_queues(unit->chip) + 1);
  if (left) {
    step->missing = pb_strdup(&x->out->arena, left->reason);
    ++x->out->missing_count;
  } else if (step->kernel->is_words) {
    add_calls(x, step, mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)));
    add_commands(x, step);
    pb_report_memory(unit->chip, func, step->memory);
  } else {
    step->how = code_of(x, func);
  }
}

// A step with the same kernel as an earlier one is told the same of it.
static void share_kernel(const pb_explained_step* from, pb_explained_step* to) {
  memcpy(to->insns, from->insns, sizeof to->insns);
  to->busy = from->busy;
  to->insn_count = from->insn_count;
  to->how = from->how;
  to->missing = from->missing;
  to->commands = from->commands;
  to->memory = from->memory;
}

static const char* shape_text(pb_arena* arena, MlirValue v) {
  pb_access shape;
  pb_text t = {0};
  if (!pb_access_of_value(v, &shape)) return "";
  for (int r = 0; r < shape.rank; ++r) pb_text_add(&t, r ? "x%lld" : "%lld", (long long)shape.shape[r]);
  pb_text_add(&t, shape.rank ? " %s" : "%s", pb_type_name(shape.type));
  MlirAttribute space = mlirMemRefTypeGetMemorySpace(mlirValueGetType(v)); // where it stays
  if (!mlirAttributeIsNull(space) && mlirAttributeIsAString(space)) pb_text_add(&t, " in %s", text_of(arena, space));
  const char* text = pb_strdup(arena, t.data);
  pb_text_free(&t);
  return text;
}

static bool is_argument(MlirValue v, const char* kind) { return pb_argument_has(v, kind); }

static void add_from(pb_explained_step* step, int from) {
  for (size_t k = 0; k < step->from_count; ++k)
    if (step->from[k] == from) return;
  PB_PUSH(step->from, step->from_count, step->from_capacity, from);
}

// The number of a tensor of the host function, in order of first use.
static int tensor_of(explainer* x, MlirValue v) {
  int number = pb_table_find_address(&x->numbers, v.ptr);
  if (number >= 0) return number;
  pb_table_add_address(&x->numbers, v.ptr, (int)x->tensor_count);
  PB_PUSH(x->tensors, x->tensor_count, x->tensor_capacity, -1);
  return (int)x->tensor_count - 1;
}

// The last tensor of a call is its result, as is one that nobody wrote before; several steps may write parts of one.
static void add_tensors(explainer* x, MlirOperation call, int index) {
  pb_explained_step* step = &x->out->steps[index];
  intptr_t n = mlirOperationGetNumOperands(call);
  for (intptr_t k = 0; k < n; ++k) {
    MlirValue v = pb_tensor_viewed(mlirOperationGetOperand(call, k));
    if (is_argument(v, "pb.const")) continue;
    int tensor = tensor_of(x, v), writer = x->tensors[tensor];
    if (is_argument(v, "pb.input")) {
      add_from(step, -1);
      continue;
    }
    if (k + 1 == n) step->result = shape_text(&x->out->arena, v);
    for (int w = writer; k + 1 < n && w >= 0; w = x->writes[w].before) add_from(step, x->writes[w].step);
    if (k + 1 < n && writer >= 0) continue;
    write one = {.step = index, .before = writer};
    PB_PUSH(x->writes, x->write_count, x->write_capacity, one);
    x->tensors[tensor] = (int)x->write_count - 1;
  }
}

static void add_graph(explainer* x, MlirOperation main) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0)));
  for (int k = 0; !mlirOperationIsNull(op) && k < x->out->step_count; op = mlirOperationGetNextInBlock(op))
    if (pb_op_is(op, "func.call")) add_tensors(x, op, k++);
  pb_table_free(&x->numbers);
  free(x->tensors);
  free(x->writes);
}

// ---- programs of several segments ----

// What stays on the chip has no place of the engine's: who made it, by the tensors of the host functions.
static void add_kept(explainer* x, MlirOperation call, int index, bool* keeps) {
  const pb_chip* chip = x->unit->chip;
  intptr_t n = mlirOperationGetNumOperands(call);
  for (intptr_t k = 0; k < n; ++k) {
    MlirValue v = mlirOperationGetOperand(call, k);
    if (pb_memref_memory(chip, v) == chip->system_memory) continue;
    int tensor = tensor_of(x, pb_tensor_viewed(v));
    if (k + 1 < n && x->tensors[tensor] >= 0) {
      add_from(&x->out->steps[index], x->tensors[tensor]);
      continue;
    }
    x->tensors[tensor] = index;
    keeps[index] |= k + 1 == n;
  }
}

// `keeps`: by step, whether its result stays on the chip.
static void add_results(explainer* x, const pb_engine* e, const MlirOperation* mains, size_t count, bool* keeps) {
  int step = 0;
  for (size_t m = 0; m < count; ++m) {
    MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(mains[m], 0)));
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
      if (!pb_op_is(op, "func.call")) continue;
      while (step < e->step_count && (e->steps[step].op != PB_HOST_LAUNCH || e->steps[step].like)) ++step;
      if (step == e->step_count) return;
      MlirValue v = pb_tensor_viewed(mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - 1));
      add_kept(x, op, step, keeps);
      x->out->steps[step++].result = shape_text(&x->out->arena, v);
    }
  }
  for (step = 0; step < e->step_count; ++step)
    if (e->steps[step].like) x->out->steps[step].result = x->out->steps[e->steps[step].like - 1].result;
  pb_table_free(&x->numbers);
  free(x->tensors);
  x->tensors = NULL;
  x->tensor_count = x->tensor_capacity = 0;
}

static int number_of_place(explainer* x, pb_arg arg) {
  const uint64_t key[2] = {(uint64_t)arg.space, arg.value};
  int number = pb_table_find(&x->numbers, (const char*)key, sizeof key);
  if (number >= 0) return number;
  const char* kept = memcpy(pb_alloc(&x->out->arena, sizeof key), key, sizeof key);
  pb_table_add(&x->numbers, kept, sizeof key, (int)x->tensor_count);
  PB_PUSH(x->tensors, x->tensor_count, x->tensor_capacity, -1);
  return (int)x->tensor_count - 1;
}

// By the engine's places, each of which has what was written there last. In a loop that may be a later step's result of
// the iteration before: what stands in front is told alone.
static void add_places(explainer* x, const pb_engine* e, const bool* keeps) {
  for (int s = 0; s < e->step_count; ++s) {
    const pb_step* step = &e->steps[s];
    bool launch = step->op == PB_HOST_LAUNCH,
         writes = launch || step->op == PB_HOST_MOVE || step->op == PB_HOST_PLACE || step->op == PB_HOST_TAKE;
    int result = launch ? step->arg_count - 1 : 0;
    writes &= !keeps[s];
    for (int a = 0; a < step->arg_count; ++a) {
      if (pb_is_constant(&step->args[a]) || (writes && a == result)) continue;
      int place = number_of_place(x, step->args[a]), writer = x->tensors[place];
      if (step->args[a].space == PB_SPACE_INPUT || writer >= 0) add_from(&x->out->steps[s], writer);
    }
    if (!writes) continue;
    int place = number_of_place(x, step->args[result]); // may move the tensors
    x->tensors[place] = s;
  }
  pb_table_free(&x->numbers);
  free(x->tensors);
}

// A move or a jump: a kernel that takes no time, so that nobody has to ask.
static void add_host_step(explainer* x, const pb_step* from, pb_explained_step* step) {
  static const pb_kernel none = {.name = "", .bound = "-"};
  step->kernel = &none;
  step->how = pb_scopes_step(from, &x->out->arena);
  step->memory = PB_NEW_ARRAY(&x->out->arena, int64_t, (size_t)x->unit->chip->memory_count + 1);
  step->busy = PB_NEW_ARRAY(&x->out->arena, uint64_t, (size_t)pb_chip_queues(x->unit->chip) + 1);
}

int pb__explain_queues(const pb_explanation* e) {
  int all = pb_chip_queues(e->chip);
  return all > MOST_NAMED ? e->chip->queue_count : all;
}

double pb__explain_busy(const pb_explanation* e, const pb_explained_step* s, int queue, const char** name) {
  int all = pb_chip_queues(e->chip), shown = pb__explain_queues(e);
  uint64_t busy = 0;
  *name = shown < all ? e->chip->queues[queue].name : pb_chip_queue_name(e->chip, queue);
  for (int q = queue; q < all; q += shown)
    if (s->busy[q] > busy) busy = s->busy[q];
  return s->kernel->predicted_cycles ? 100 * (double)busy / (double)s->kernel->predicted_cycles : 0;
}

bool pb__explain_idle(const pb_explanation* e, const pb_insn* insn) {
  return e->chip->control == PB_CONTROL_QUEUES && insn->operand_count && !insn->waits_by && !insn->signals_by &&
         !e->runs[insn->index];
}

void pb_explain(const pb_unit* unit, const pb_engine* engine, const MlirOperation* mains, size_t main_count,
                const char* model, bool refused, pb_explanation* out) {
  *out = (pb_explanation){.chip = unit->chip, .step_count = engine->step_count};
  explainer x = {.unit = unit, .out = out};
  out->model = pb_strdup(&out->arena, model);
  out->target = pb_strdup(&out->arena, engine->target);
  if (unit->fallback && !refused) out->fallback = pb_strdup(&out->arena, unit->fallback->target);
  if (unit->codes_like) out->codes_like = pb_strdup(&out->arena, unit->codes_like);
  out->scales_off = unit->scales_off;
  out->constants = pb_engine_apart(engine, 0);
  for (int k = 0; k < PB_ENGINE_MAX_APART; ++k) out->apart_in[k] = pb_engine_apart_bytes(engine, k);
  out->apart = engine->const_bytes - out->constants;
  if (unit->chip->control == PB_CONTROL_QUEUES) out->peak = pb_chip_peak_macs(unit->chip);
  out->runs = PB_NEW_ARRAY(&out->arena, bool, (size_t)unit->chip->insn_count + 1);
  out->steps = PB_NEW_ARRAY(&out->arena, pb_explained_step, (size_t)engine->step_count + 1);
  int* first = PB_NEW_ARRAY(&out->arena, int, (size_t)engine->kernel_count + 1); // step of each kernel, from 1 on
  for (int s = 0; s < engine->step_count; ++s) {
    pb_explained_step* step = &out->steps[s];
    int kernel = engine->steps[s].kernel;
    *step = (pb_explained_step){.nodes = engine->steps[s].origin, .result = "", .macs = engine->steps[s].macs};
    if (kernel < 0) {
      add_host_step(&x, &engine->steps[s], step);
      continue;
    }
    step->kernel = &engine->kernels[kernel];
    if (first[kernel]) {
      share_kernel(&out->steps[first[kernel] - 1], step);
      out->missing_count += step->missing != NULL;
    } else {
      first[kernel] = s + 1;
      add_kernel(&x, step);
    }
    if (engine->steps[s].like) continue; // of each loop one turn
    out->cycles += step->kernel->predicted_cycles;
    out->macs += step->macs;
  }
  out->scopes = pb_scopes_of(engine, &out->arena);
  if (pb_engine_has_control(engine)) {
    bool* keeps = PB_NEW_ARRAY(&out->arena, bool, (size_t)engine->step_count + 1);
    add_results(&x, engine, mains, main_count, keeps);
    add_places(&x, engine, keeps);
  } else if (main_count) {
    add_graph(&x, mains[0]);
  }
}

void pb_explanation_free(pb_explanation* e) {
  for (int s = 0; s < e->step_count; ++s) free(e->steps[s].from);
  pb_arena_free(&e->arena);
}

double pb__explain_of_peak(const pb_explanation* e, const pb_explained_step* s) {
  double most = (double)s->kernel->predicted_cycles * (double)e->peak;
  return most > 0 ? (double)s->macs / most : 0;
}
