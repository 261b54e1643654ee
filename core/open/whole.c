// All segments of a program with control as one program of nests, with the marks between: what open dims are made of
// does not care where the host jumps, as long as every value has one place.
#include "core/open/open.h"

#include <string.h>

static bool crosses(const pb_s1* s1, const pb_segments* segments, size_t v) {
  const pb_s1_value* value = &s1->values[v];
  return value->is_input || value->is_output || segments->crosses[v];
}

// The value of the program that stands for one of S1's; a constant that a mark looks at is added.
static int value_for(const pb_s1* s1, int value, pb_arena* arena, pb_open_whole* whole) {
  int v = value < 0 ? -1 : pb_s1_base(s1, value);
  if (v < 0 || whole->value_of[v] >= 0) return v < 0 ? -1 : whole->value_of[v];
  const pb_s1_value* from = &s1->values[v];
  pb_value made = {.kind = PB_VALUE_CONST, .argument = -1, .const_id = from->const_id, .type = from->type};
  made.rank = from->rank;
  memcpy(made.shape, from->shape, sizeof *made.shape * (size_t)from->rank);
  return whole->value_of[v] = pb_program_add_value(&whole->program, arena, &made);
}

// The marks from op `first` on, up to the next segment.
static void add_marks(const pb_s1* s1, size_t first, pb_arena* arena, pb_open_whole* whole) {
  for (size_t k = first; k < s1->op_count && pb_s1_is_control(&s1->ops[k]); ++k) {
    const pb_s1_op* op = &s1->ops[k];
    pb_open_mark* mark = &whole->marks[whole->mark_count++];
    *mark = (pb_open_mark){.kind = op->kind, .name = op->name, .at = whole->program.nest_count, .axis = op->axis};
    bool moves = op->kind == PB_S1_MOVE || op->kind == PB_S1_PLACE || op->kind == PB_S1_TAKE;
    mark->y = moves ? value_for(s1, op->y, arena, whole) : -1;
    mark->x = moves || op->kind == PB_S1_WHILE || op->kind == PB_S1_IF ? value_for(s1, op->x, arena, whole) : -1;
    mark->third = moves && op->kind != PB_S1_MOVE ? value_for(s1, op->third, arena, whole) : -1;
  }
}

void pb_open_start_whole(const pb_s1* s1, const pb_segments* segments, pb_arena* arena, pb_open_whole* whole) {
  *whole = (pb_open_whole){.marks = PB_NEW_ARRAY(arena, pb_open_mark, s1->op_count + 1),
                           .value_of = PB_NEW_ARRAY(arena, int, s1->value_count + 1)};
  for (size_t v = 0; v < s1->value_count; ++v) {
    const pb_s1_value* from = &s1->values[v];
    whole->value_of[v] = -1;
    if (!crosses(s1, segments, v)) continue;
    pb_value made = {.argument = -1, .const_id = -1, .type = pb_type_stored(from->type), .rank = from->rank};
    made.kind = from->is_input ? PB_VALUE_INPUT : from->is_output ? PB_VALUE_OUTPUT : PB_VALUE_LOCAL;
    made.name = made.kind == PB_VALUE_LOCAL ? NULL : from->name;
    memcpy(made.shape, from->shape, sizeof *made.shape * (size_t)from->rank);
    whole->value_of[v] = pb_program_add_value(&whole->program, arena, &made);
  }
  whole->crossing = whole->program.value_count;
  add_marks(s1, 0, arena, whole);
}

// Inputs and outputs of a segment are named by S1's values.
static int number_of(const char* name) {
  int number = 0;
  for (; *name; ++name) number = 10 * number + (*name - '0');
  return number;
}

void pb_open_add(const pb_s1* s1, const pb_segments* segments, size_t segment, const pb_program* part, pb_arena* arena,
                 pb_open_whole* whole) {
  pb_program* p = &whole->program;
  int* to = PB_NEW_ARRAY(arena, int, (size_t)part->value_count + 1);
  for (int v = 0; v < part->value_count; ++v) {
    const pb_value* value = &part->values[v];
    bool given = value->kind == PB_VALUE_INPUT || value->kind == PB_VALUE_OUTPUT;
    to[v] = given ? whole->value_of[number_of(value->name)] : pb_program_add_value(p, arena, value);
  }
  int all = p->nest_count + part->nest_count;
  pb_nest* nests = PB_NEW_ARRAY(arena, pb_nest, (size_t)all + 1);
  int(*value_of)[PB_NEST_ACCESSES] = pb_alloc_array(arena, (size_t)all + 1, sizeof *value_of);
  if (p->nest_count) memcpy(nests, p->nests, sizeof *nests * (size_t)p->nest_count);
  if (p->nest_count) memcpy(value_of, p->value_of, sizeof *value_of * (size_t)p->nest_count);
  for (int n = 0; n < part->nest_count; ++n) {
    nests[p->nest_count + n] = part->nests[n];
    for (int a = 0; a < part->nests[n].access_count; ++a) value_of[p->nest_count + n][a] = to[part->value_of[n][a]];
  }
  p->nests = nests;
  p->value_of = value_of;
  p->nest_count = all;
  add_marks(s1, segments->items[segment].end, arena, whole);
}
