// The host's part of an engine with open dims: steps, constants, what the runtime computes and checks before a run.
#include "core/open/open.h"

#include <stdlib.h>
#include <string.h>

typedef struct host {
  pb_open_program* open;
  const pb_open_kernels* kernels;
  pb_engine* engine;
  pb_open* out;
  pb_arg* args; // by value
  int* buffer;  // by value, -1
  int* source;  // by value: which source of extents it is, -1
  pb_open_check* checks;
  size_t check_count, check_capacity;
  pb_open_block* blocks;
  size_t block_count, block_capacity;
  pb_table known; // blocks by their sizes, checks by theirs
  pb_brackets brackets;
} host;

static uint64_t padded(uint64_t bytes) { return (bytes + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN; }

static const int* dims_of(const host* h, int value) { return h->open->at + h->open->value_at[value]; }

static void take_tensor(host* h, int value, pb_tensor_info* list, int (*dims)[PB_MAX_RANK], int* count) {
  const pb_value* v = &h->open->program->values[value];
  pb_tensor_info* info = &list[*count];
  *info = (pb_tensor_info){.name = pb_strdup(&h->engine->arena, v->name), .type = v->type, .rank = v->rank};
  for (int r = 0; r < v->rank; ++r) {
    int64_t number;
    dims[*count][r] = dims_of(h, value)[r];
    info->shape[r] = pb_size_is_number(&h->open->sizes, dims[*count][r], &number) ? number : -1;
  }
  ++*count;
}

static int add_block(host* h, pb_type type, int count, const int* sizes) {
  pb_arena* arena = &h->engine->arena;
  int* key = PB_NEW_ARRAY(arena, int, (size_t)count + 2);
  key[0] = -1 - (int)type; // no size: a check's key has none in front
  key[1] = count;
  memcpy(key + 2, sizes, sizeof *sizes * (size_t)count);
  int known = pb_table_find(&h->known, key, sizeof *key * ((size_t)count + 2));
  if (known >= 0) return known;
  pb_open_block block = {.type = type, .count = count, .sizes = key + 2};
  PB_PUSH(h->blocks, h->block_count, h->block_capacity, block);
  pb_table_add(&h->known, key, sizeof *key * ((size_t)count + 2), (int)h->block_count - 1);
  return (int)h->block_count - 1;
}

// The constant's elements that depend on extents; -1: none does.
static int block_of(host* h, int value) {
  const pb_open_program* o = h->open;
  if (o->const_at[value] < 0) return -1;
  const pb_const* c = o->consts->items[o->program->values[value].const_id];
  pb_type type = pb_type_stored(c->type);
  int count = (int)(c->bytes / (uint64_t)(pb_type_bits(type) / 8));
  bool fixed = true;
  for (int k = 0; k < count; ++k) {
    int64_t number;
    fixed &= pb_size_is_number(&o->sizes, o->at[o->const_at[value] + k], &number);
  }
  return fixed ? -1 : add_block(h, type, count, o->at + o->const_at[value]);
}

static int source_named(const pb_symbols* symbols, const char* name) {
  for (int k = 0; name && k < symbols->source_count; ++k)
    if (!strcmp(symbols->sources[k].name, name)) return k;
  return -1;
}

static bool is_taken(const host* h, int source, int values) {
  for (int v = 0; v < values; ++v)
    if (h->source[v] == source) return true;
  return false;
}

static pb_status take_values(host* h, pb_diag* diag) {
  const pb_program* p = h->open->program;
  pb_engine* e = h->engine;
  size_t n = (size_t)p->value_count + 1;
  e->inputs = PB_NEW_ARRAY(&e->arena, pb_tensor_info, n);
  e->outputs = PB_NEW_ARRAY(&e->arena, pb_tensor_info, n);
  h->out->inputs = pb_alloc_array(&e->arena, n, sizeof *h->out->inputs);
  h->out->outputs = pb_alloc_array(&e->arena, n, sizeof *h->out->outputs);
  for (int v = 0; v < p->value_count; ++v) {
    h->buffer[v] = h->source[v] = -1;
    int source = p->values[v].kind == PB_VALUE_OUTPUT ? source_named(h->open->symbols, p->values[v].name) : -1;
    if (source >= 0 && is_taken(h, source, v))
      return pb_unsupported(diag, (pb_place){.what = p->values[v].name}, 4114, "give the result another name",
                            "a result and the extents of a tensor of its program have one name");
    h->source[v] = source;
    if (source >= 0) continue; // stays with the host
    if (p->values[v].kind == PB_VALUE_INPUT) {
      h->args[v] = (pb_arg){PB_SPACE_INPUT, (uint64_t)e->input_count};
      take_tensor(h, v, e->inputs, h->out->inputs, &e->input_count);
    } else if (p->values[v].kind == PB_VALUE_OUTPUT) {
      h->args[v] = (pb_arg){PB_SPACE_OUTPUT, (uint64_t)e->output_count};
      take_tensor(h, v, e->outputs, h->out->outputs, &e->output_count);
    }
  }
  return PB_OK;
}

// Where constants lie: each once, whichever segments of the program use it.
typedef struct placed {
  bool* seen;        // by value
  uint64_t *at, all; // by constant, UINT64_MAX: not yet
} placed;

static void place_constant(host* h, placed* to, int value) {
  const pb_value* v = &h->open->program->values[value];
  if (v->kind != PB_VALUE_CONST || to->seen[value]) return;
  to->seen[value] = true;
  int block = block_of(h, value);
  if (block >= 0) {
    h->args[value] = (pb_arg){PB_SPACE_SIZES, (uint64_t)block};
    return;
  }
  uint64_t* at = &to->at[v->const_id];
  if (*at == UINT64_MAX) {
    *at = to->all;
    to->all += padded(h->open->consts->items[v->const_id]->bytes);
  }
  h->args[value] = (pb_arg){PB_SPACE_CONST, *at};
}

// Constants that nests use, in order of first use, and then those that marks do.
static void take_constants(host* h) {
  const pb_program* p = h->open->program;
  const pb_open_whole* whole = h->open->whole;
  const pb_consts* consts = h->open->consts;
  pb_engine* e = h->engine;
  placed to = {.seen = calloc((size_t)p->value_count + 1, sizeof *to.seen),
               .at = malloc((consts->count + 1) * sizeof *to.at)};
  if (!to.seen || !to.at) pb_no_memory(consts->count * sizeof *to.at);
  memset(to.at, 0xff, (consts->count + 1) * sizeof *to.at);
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a < p->nests[n].access_count; ++a) place_constant(h, &to, p->value_of[n][a]);
  for (size_t k = 0; k < whole->mark_count; ++k) {
    const int used[] = {whole->marks[k].y, whole->marks[k].x, whole->marks[k].third};
    for (int u = 0; u < 3; ++u)
      if (used[u] >= 0) place_constant(h, &to, used[u]);
  }
  e->const_bytes = to.all;
  e->consts = pb_alloc(&e->arena, to.all + 1);
  for (size_t id = 0; id < consts->count; ++id)
    if (to.at[id] != UINT64_MAX) pb_const_write(consts, (int)id, e->consts + to.at[id]);
  free(to.seen);
  free(to.at);
}

static void add_check(host* h, bool equal, int a, int b, const char* text) {
  int64_t x, y;
  const pb_sizes* s = &h->open->sizes;
  bool left = pb_size_is_number(s, a, &x), right = pb_size_is_number(s, b, &y);
  if (a == b || (left && right && (equal ? x == y : x <= y))) return;
  if (!equal && left && x <= 0 && s->items[b]->op == PB_SIZE_SYMBOL) return; // no extent is less
  int* key = PB_NEW_ARRAY(&h->engine->arena, int, 3);
  key[0] = a;
  key[1] = b;
  key[2] = equal;
  if (pb_table_find(&h->known, key, 3 * sizeof *key) >= 0) return;
  pb_table_add(&h->known, key, 3 * sizeof *key, 0);
  pb_open_check check = {equal, a, b, pb_strdup(&h->engine->arena, text)};
  PB_PUSH(h->checks, h->check_count, h->check_capacity, check);
}

// The largest that an index gets, `from` and its steps given: numbers that only add up, as steps that go down are
// negative numbers in every sample. *least: the smallest.
static int last_place(host* h, const pb_nest* n, const pb_open_nest* z, int from, const int* step, const int64_t* first,
                      int* least) {
  pb_sizes* s = &h->open->sizes;
  int most = *least = from;
  for (int d = 0; d < n->dim_count; ++d) {
    int far = pb_size_make(s, PB_SIZE_MUL, step[d], pb_size_plus(s, z->extent[d], -1));
    if (first[d] >= 0) most = pb_size_make(s, PB_SIZE_ADD, most, far);
    if (first[d] < 0) *least = pb_size_make(s, PB_SIZE_ADD, *least, far);
  }
  return most;
}

// Each index of each access stays inside of its tensor, as it does in the samples.
static void check_access(host* h, const pb_nest* n, const pb_open_nest* z, int a) {
  const pb_access* x = &n->access[a];
  pb_sizes* s = &h->open->sizes;
  int least, zero = pb_size_number(s, 0);
  const char* text = pb_printf(&h->engine->arena, "%s goes past its tensor's end", n->name);
  if (x->boxed) return;
  for (int r = 0; r < x->rank; ++r) {
    if (x->gathered == r + 1) { // the body keeps it inside, of what has elements
      int any = pb_size_number(s, 1);
      for (int d = 0; d < n->dim_count; ++d) any = pb_size_make(s, PB_SIZE_MIN, any, z->extent[d]);
      add_check(h, false, any, z->shape[a][r],
                pb_printf(&h->engine->arena, "%s reads a tensor of no elements", n->name));
      continue;
    }
    int most = last_place(h, n, z, z->start[a][r], z->coef[a][r], x->index[r].coef, &least);
    add_check(h, false, zero, least, text);
    add_check(h, false, pb_size_plus(s, most, 1), z->shape[a][r], text);
  }
}

static int buffer_of(host* h, int value, int step) {
  const pb_value* v = &h->open->program->values[value];
  if (h->buffer[value] < 0) {
    pb_sizes* s = &h->open->sizes;
    int bytes = pb_size_number(s, pb_type_bits(v->type) / 8);
    for (int r = 0; r < v->rank; ++r) bytes = pb_size_make(s, PB_SIZE_MUL, bytes, dims_of(h, value)[r]);
    h->buffer[value] = h->out->buffer_count;
    h->out->buffers[h->out->buffer_count++] = (pb_open_buffer){bytes, step, step};
  }
  h->out->buffers[h->buffer[value]].last = step;
  return h->buffer[value];
}

// The last nest that makes the tensor.
static int maker_of(const pb_program* p, int value) {
  int maker = -1;
  for (int n = 0; n < p->nest_count; ++n)
    if (p->value_of[n][p->nests[n].access_count - 1] == value) maker = n;
  return maker;
}

static pb_arg arg_of(host* h, int value, int step) {
  bool local = h->open->program->values[value].kind == PB_VALUE_LOCAL || h->source[value] >= 0;
  return local ? (pb_arg){PB_SPACE_ARENA, (uint64_t)buffer_of(h, value, step)} : h->args[value];
}

// ---- control ----

static int elements(host* h, int value, int first, int end) {
  pb_sizes* s = &h->open->sizes;
  int count = pb_size_number(s, 1);
  for (int r = first; r < end; ++r) count = pb_size_make(s, PB_SIZE_MUL, count, dims_of(h, value)[r]);
  return count;
}

static int times_bytes(host* h, int value, int count) {
  pb_sizes* s = &h->open->sizes;
  int bytes = pb_type_bits(pb_type_stored(h->open->program->values[value].type)) / 8;
  return pb_size_make(s, PB_SIZE_MUL, count, pb_size_number(s, bytes));
}

static pb_step* add_step(host* h, pb_host_op op, const pb_open_mark* m) {
  pb_engine* e = h->engine;
  pb_step* step = &e->steps[e->step_count++];
  *step = (pb_step){.op = op, .kernel = -1, .origin = pb_strdup(&e->arena, m->name)};
  return step;
}

// How much a step moves is a size each. Of no elements nothing is moved, as the runtime has it.
static void add_move(host* h, const pb_open_mark* m) {
  const pb_program* p = h->open->program;
  pb_sizes* s = &h->open->sizes;
  int at = h->engine->step_count, rank = p->values[m->y].rank;
  pb_host_op op = m->kind == PB_S1_MOVE ? PB_HOST_MOVE : m->kind == PB_S1_PLACE ? PB_HOST_PLACE : PB_HOST_TAKE;
  pb_step* step = add_step(h, op, m);
  const int values[] = {m->y, m->x, m->third};
  for (; step->arg_count < 3 && values[step->arg_count] >= 0; ++step->arg_count)
    step->args[step->arg_count] = arg_of(h, values[step->arg_count], at);
  int bytes = times_bytes(h, m->y, elements(h, m->y, 0, rank)), whole = op == PB_HOST_TAKE ? m->x : m->y;
  if (op != PB_HOST_MOVE) {
    int row = times_bytes(h, m->x, elements(h, whole, m->axis + 1, p->values[whole].rank)), one = pb_size_number(s, -1);
    int extent = dims_of(h, whole)[m->axis], part = dims_of(h, m->x)[m->axis];
    bool takes = op == PB_HOST_TAKE;
    bytes = takes ? row : pb_size_make(s, PB_SIZE_MUL, row, part);
    step->rows.index = p->values[m->third].type;
    step->rows.unit = (uint64_t)row;
    step->rows.count =
        (uint64_t)(takes ? elements(h, m->third, 0, p->values[m->third].rank) : elements(h, m->y, 0, m->axis));
    step->rows.stride = (uint64_t)(takes ? row : pb_size_make(s, PB_SIZE_MUL, row, extent));
    step->rows.most =
        (uint64_t)pb_size_make(s, PB_SIZE_ADD, extent, takes ? one : pb_size_make(s, PB_SIZE_MUL, part, one));
  }
  step->bytes = (uint64_t)bytes;
}

static int add_jump(host* h, const pb_open_mark* m) {
  int at = h->engine->step_count;
  pb_step* step = add_step(h, m->x < 0 ? PB_HOST_JUMP : PB_HOST_UNLESS, m);
  step->arg_count = m->x >= 0;
  if (m->x >= 0) step->args[0] = arg_of(h, m->x, at);
  return at;
}

// What segments hand to each other stays through all turns of a loop that it is used in: a later one may want it.
static void stretch(host* h, int first, int last) {
  for (int v = 0; v < h->open->whole->crossing; ++v) {
    pb_open_buffer* b = h->buffer[v] < 0 ? NULL : &h->out->buffers[h->buffer[v]];
    if (!b || b->first > last || b->last < first) continue;
    if (b->first > first) b->first = first;
    if (b->last < last) b->last = last;
  }
}

static void take_mark(host* h, const pb_open_mark* m) {
  pb_engine* e = h->engine;
  pb_jump jumps[2];
  if (m->kind == PB_S1_MOVE || m->kind == PB_S1_PLACE || m->kind == PB_S1_TAKE) {
    add_move(h, m);
    return;
  }
  int jump = pb_mark_jumps(m->kind) ? add_jump(h, m) : -1;
  int count = pb_brackets_take(&h->brackets, m->kind, jump, e->step_count, jumps);
  for (int k = 0; k < count; ++k) e->steps[jumps[k].step].target = jumps[k].target;
  if (m->kind == PB_S1_AGAIN) stretch(h, jumps[0].target, jump);
}

// What a nest made may be extents: the host reads them before it goes on.
static pb_status add_sources(host* h, int nest, pb_diag* diag) {
  const pb_program* p = h->open->program;
  pb_engine* e = h->engine;
  for (int v = 0; v < p->value_count; ++v) {
    if (h->source[v] < 0 || maker_of(p, v) != nest) continue;
    if (h->brackets.depth)
      return pb_unsupported(diag, (pb_place){.what = p->nests[nest].name}, 4110, NULL,
                            "data say the shape of what is made in a loop, or a branch, that data decide");
    const pb_source* from = &h->open->symbols->sources[h->source[v]];
    pb_open_source* to = &h->out->sources[h->out->source_count];
    to->count = from->count;
    for (int k = 0; k < from->count; ++k) to->symbol[k] = from->symbol[k]; // numbered by take_symbols
    int at = e->step_count++;
    e->steps[at] = (pb_step){.op = PB_HOST_EXTENTS,
                             .kernel = -1,
                             .target = h->out->source_count++,
                             .origin = pb_strdup(&e->arena, p->nests[nest].name),
                             .arg_count = 1,
                             .args = {{PB_SPACE_ARENA, (uint64_t)buffer_of(h, v, at)}}};
  }
  return PB_OK;
}

static pb_status take_launch(host* h, int n, pb_open_nest* z, pb_diag* diag) {
  const pb_program* p = h->open->program;
  pb_engine* e = h->engine;
  const pb_nest* nest = &p->nests[n];
  const pb_open_kernel* k = &h->kernels->of[n];
  pb_step* step = &e->steps[e->step_count];
  *step =
      (pb_step){.kernel = k->kernel, .origin = pb_strdup(&e->arena, nest->name), .arg_count = nest->access_count + 1};
  if (step->arg_count > PB_ENGINE_MAX_ARGS)
    return pb_unsupported(diag, (pb_place){.what = nest->name}, 4050, NULL, "%d tensors in one kernel; %d at most",
                          step->arg_count, PB_ENGINE_MAX_ARGS);
  pb_open_read(h->open, n, z);
  const char* none = pb_printf(&e->arena, "%s has less than no elements", nest->name);
  for (int d = 0; d < nest->dim_count; ++d) // threads share iterations as a number without a sign
    add_check(h, false, pb_size_number(&h->open->sizes, 0), z->extent[d], none);
  for (int a = 0; a < nest->access_count; ++a) {
    step->args[a] = arg_of(h, p->value_of[n][a], e->step_count);
    check_access(h, nest, z, a);
  }
  step->args[nest->access_count] = (pb_arg){PB_SPACE_SIZES, (uint64_t)add_block(h, PB_I64, k->size_count, k->sizes)};
  ++e->step_count;
  return PB_OK;
}

static pb_status take_steps(host* h, pb_diag* diag) {
  const pb_open_whole* whole = h->open->whole;
  const pb_program* p = h->open->program;
  pb_engine* e = h->engine;
  pb_open_nest* z = PB_NEW(&h->open->sizes.arena, pb_open_nest);
  size_t steps = (size_t)(p->nest_count + h->open->symbols->source_count) + whole->mark_count, mark = 0;
  h->out->sources = PB_NEW_ARRAY(&e->arena, pb_open_source, (size_t)h->open->symbols->source_count + 1);
  e->steps = PB_NEW_ARRAY(&e->arena, pb_step, steps + 1);
  h->out->buffers = PB_NEW_ARRAY(&e->arena, pb_open_buffer, (size_t)p->value_count + 1);
  h->brackets.open = PB_NEW_ARRAY(&h->open->sizes.arena, struct pb_bracket, whole->mark_count + 1);
  for (int n = 0; n <= p->nest_count; ++n) {
    for (; mark < whole->mark_count && whole->marks[mark].at == n; ++mark) take_mark(h, &whole->marks[mark]);
    if (n == p->nest_count) break;
    PB_TRY(take_launch(h, n, z, diag));
    PB_TRY(add_sources(h, n, diag));
  }
  if (h->out->source_count == h->open->symbols->source_count) return PB_OK;
  return pb_error(diag, (pb_place){.what = "open"}, 4090, "this is a bug in the compiler, not in the model",
                  "extents that data say are made by no nest");
}

// Both sides are as often as large as the guard's tensor has elements: none is less than none.
static void take_guards(host* h) {
  const pb_open_program* o = h->open;
  const int* at = o->at + o->guard_at;
  for (size_t g = 0; g < o->consts->guard_count; ++g) {
    const pb_guard* guard = &o->consts->guards[g];
    int a = *at++, b = *at++;
    for (int r = 0; r < guard->rank; ++r, ++at) {
      a = pb_size_make(&h->open->sizes, PB_SIZE_MUL, a, *at);
      b = pb_size_make(&h->open->sizes, PB_SIZE_MUL, b, *at);
    }
    add_check(h, guard->equal, a, b, guard->text);
  }
}

static void check_multiples(host* h) {
  const pb_symbols* s = h->open->symbols;
  pb_sizes* sizes = &h->open->sizes;
  for (int k = 0; k < s->count; ++k) {
    if (s->same[k] != k || s->times[k] == 1) continue;
    int symbol = pb_size_symbol(sizes, k), times = pb_size_number(sizes, s->times[k]);
    int whole = pb_size_make(sizes, PB_SIZE_MUL, pb_size_make(sizes, PB_SIZE_DIV, symbol, times), times);
    add_check(h, true, symbol, whole,
              pb_printf(&h->engine->arena, "'%s' must be a multiple of %lld", s->names[k], (long long)s->times[k]));
  }
}

static void take_symbols(host* h) {
  const pb_symbols* s = h->open->symbols;
  pb_arena* arena = &h->engine->arena;
  int number[PB_MOST_SYMBOLS];
  h->out->symbols = PB_NEW_ARRAY(arena, const char*, (size_t)s->count);
  for (int k = 0; k < s->count; ++k) {
    number[k] = h->out->symbol_count;
    if (s->same[k] == k) h->out->symbols[h->out->symbol_count++] = pb_strdup(arena, s->names[k]);
  }
  h->out->size_count = (int)h->open->sizes.count;
  h->out->sizes = PB_NEW_ARRAY(arena, pb_size, h->open->sizes.count + 1);
  for (size_t k = 0; k < h->open->sizes.count; ++k) {
    h->out->sizes[k] = *h->open->sizes.items[k];
    if (h->out->sizes[k].op == PB_SIZE_SYMBOL) h->out->sizes[k].number = number[h->out->sizes[k].number];
  }
  for (int k = 0; k < h->out->source_count; ++k)
    for (int n = 0; n < h->out->sources[k].count; ++n) {
      int* symbol = &h->out->sources[k].symbol[n];
      if (*symbol >= 0) *symbol = number[*symbol];
    }
}

static void copy_lists(host* h) {
  pb_arena* arena = &h->engine->arena;
  h->out->check_count = (int)h->check_count;
  h->out->checks = PB_NEW_ARRAY(arena, pb_open_check, h->check_count + 1);
  if (h->check_count) memcpy(h->out->checks, h->checks, h->check_count * sizeof *h->checks);
  h->out->block_count = (int)h->block_count;
  h->out->blocks = PB_NEW_ARRAY(arena, pb_open_block, h->block_count + 1);
  if (h->block_count) memcpy(h->out->blocks, h->blocks, h->block_count * sizeof *h->blocks);
}

// ---- sizes that are used ----

typedef struct renumbering {
  int* number; // of each size: 0 not used, 1 used; then its new number
} renumbering;

// Of a step that moves what its numbers are.
static void for_moved(pb_step* step, void (*each)(int* size, renumbering* r), renumbering* r) {
  uint64_t* const amounts[] = {&step->bytes, &step->rows.count, &step->rows.stride, &step->rows.unit, &step->rows.most};
  int count = step->op == PB_HOST_MOVE ? 1 : step->op == PB_HOST_PLACE || step->op == PB_HOST_TAKE ? 5 : 0;
  for (int k = 0; k < count; ++k) {
    int size = (int)*amounts[k];
    each(&size, r);
    *amounts[k] = (uint64_t)size;
  }
}

// Calls `each` for every number of a size but those in sizes.
static void for_sizes(const pb_engine* e, void (*each)(int* size, renumbering* r), renumbering* r) {
  pb_open* o = e->open;
  for (int k = 0; k < e->step_count; ++k) for_moved(&e->steps[k], each, r);
  for (int k = 0; k < e->input_count; ++k)
    for (int d = 0; d < e->inputs[k].rank; ++d) each(&o->inputs[k][d], r);
  for (int k = 0; k < e->output_count; ++k)
    for (int d = 0; d < e->outputs[k].rank; ++d) each(&o->outputs[k][d], r);
  for (int k = 0; k < o->check_count; ++k) each(&o->checks[k].a, r), each(&o->checks[k].b, r);
  for (int k = 0; k < o->block_count; ++k)
    for (int n = 0; n < o->blocks[k].count; ++n) each(&o->blocks[k].sizes[n], r);
  for (int k = 0; k < o->buffer_count; ++k) each(&o->buffers[k].bytes, r);
}

static void mark(int* size, renumbering* r) { r->number[*size] = 1; }
static void rename_size(int* size, renumbering* r) { *size = r->number[*size]; }

// What numbers were looked for with, and what folding left, is no size of the program: it could be too large for
// extents that are not.
static void drop_unused(host* h) {
  pb_open* o = h->out;
  renumbering r = {.number = PB_NEW_ARRAY(&h->open->sizes.arena, int, (size_t)o->size_count + 1)};
  int kept = 0;
  for_sizes(h->engine, mark, &r);
  for (int k = o->size_count - 1; k >= 0; --k)
    if (r.number[k] && o->sizes[k].op >= PB_SIZE_ADD) r.number[o->sizes[k].a] = r.number[o->sizes[k].b] = 1;
  for (int k = 0; k < o->size_count; ++k) {
    if (!r.number[k]) continue;
    pb_size size = o->sizes[k];
    if (size.op >= PB_SIZE_ADD) size.a = r.number[size.a], size.b = r.number[size.b];
    r.number[k] = kept;
    o->sizes[kept++] = size;
  }
  o->size_count = kept;
  for_sizes(h->engine, rename_size, &r);
}

pb_status pb_open_host(pb_open_program* open, const pb_open_kernels* kernels, pb_diag* diag, pb_engine* engine) {
  size_t values = (size_t)open->program->value_count + 1;
  host h = {.open = open, .kernels = kernels, .engine = engine, .out = PB_NEW(&engine->arena, pb_open)};
  h.args = PB_NEW_ARRAY(&open->sizes.arena, pb_arg, values);
  h.buffer = PB_NEW_ARRAY(&open->sizes.arena, int, values);
  h.source = PB_NEW_ARRAY(&open->sizes.arena, int, values);
  engine->open = h.out;
  for (int k = 0; k < engine->kernel_count; ++k) engine->kernels[k].alone = !kernels->shared[k];
  pb_status status = take_values(&h, diag);
  if (status != PB_OK) return status; // nothing was added that is freed below
  take_constants(&h);
  status = take_steps(&h, diag);
  take_guards(&h);
  check_multiples(&h);
  take_symbols(&h);
  copy_lists(&h);
  drop_unused(&h);
  free(h.checks);
  free(h.blocks);
  pb_table_free(&h.known);
  return status;
}
