// Reads plans of stages as plan_text.c prints them.
#include "core/s3/kernels.h"
#include "core/s3/plan/plan_text.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; // copies, loops around a home, iterations kept

bool pb_plan_more(pb_plan_reader* r) {
  for (;; ++r->at) {
    if (r->at[0] == '/' && r->at[1] == '/') r->at += strcspn(r->at, "\n");
    if (*r->at == '\n' && r->place.line) ++r->place.line;
    if (!isspace((unsigned char)*r->at)) return *r->at != 0;
  }
}

// Letters and digits in a row, or one sign.
static size_t word_length(const char* at) {
  size_t n = 0;
  while (isalnum((unsigned char)at[n]) || at[n] == '_') ++n;
  return n ? n : *at != 0;
}

bool pb_plan_takes(pb_plan_reader* r, const char* word) {
  (void)pb_plan_more(r);
  size_t n = word_length(r->at);
  bool same = n == strlen(word) && !memcmp(r->at, word, n);
  if (same) r->at += n;
  return same;
}

pb_status pb_plan_refuse(pb_plan_reader* r, const char* why) {
  pb_arena scratch = {0};
  bool more = pb_plan_more(r);
  const char* next = more ? pb_printf(&scratch, "'%.*s'", (int)word_length(r->at), r->at) : "the end";
  pb_status status = pb_error(r->diag, r->place, r->code, "a plan as --emit=plan prints it, with other numbers",
                              "%s, at %s", why, next);
  pb_arena_free(&scratch);
  return status;
}

pb_status pb_plan_expects(pb_plan_reader* r, const char* word) {
  if (pb_plan_takes(r, word)) return PB_OK;
  pb_arena scratch = {0};
  pb_status status = pb_plan_refuse(r, pb_printf(&scratch, "'%s' is expected", word));
  pb_arena_free(&scratch);
  return status;
}

static pb_status take_number(pb_plan_reader* r, int64_t least, int64_t most, const char* why, int64_t* number) {
  char* end;
  (void)pb_plan_more(r);
  if (!isdigit((unsigned char)*r->at)) return pb_plan_refuse(r, "a number is expected");
  *number = strtoll(r->at, &end, 10); // LLONG_MAX where it is larger
  if (*number < least || *number > most) return pb_plan_refuse(r, why);
  r->at = end;
  if (isalnum((unsigned char)*end) || *end == '_' || *end == '.') return pb_plan_refuse(r, "a number is expected");
  return PB_OK;
}

static pb_status take_small(pb_plan_reader* r, int least, int* number) {
  int64_t taken;
  PB_TRY(take_number(r, least, MOST, least ? "no number from 1 to 64" : "no number from 0 to 64", &taken));
  *number = (int)taken;
  return PB_OK;
}

pb_status pb_plan_read_copies(pb_plan_reader* r, int* copies) {
  PB_TRY(pb_plan_expects(r, ","));
  PB_TRY(take_small(r, 1, copies));
  if (pb_plan_takes(r, "copy") || pb_plan_takes(r, "copies")) return PB_OK;
  return pb_plan_refuse(r, "'copies' is expected");
}

pb_status pb_plan_read_axis(pb_plan_reader* r, int dims, pb_plan* plan) {
  if (plan->axis_count == PB_MAX_AXES) return pb_plan_refuse(r, "more loops than a plan can have");
  pb_axis* axis = &plan->axes[plan->axis_count];
  *axis = (pb_axis){.dim = 0};
  (void)pb_plan_more(r);
  char* end = NULL;
  long dim = r->at[0] == 'd' && isdigit((unsigned char)r->at[1]) ? strtol(r->at + 1, &end, 10) : -1;
  if (dim < 0 || dim >= dims || (size_t)(end - r->at) != word_length(r->at))
    return pb_plan_refuse(r, "no dim of what the loops walk");
  axis->dim = (int)dim;
  r->at = end;
  PB_TRY(pb_plan_expects(r, "step"));
  PB_TRY(take_number(r, 1, INT64_MAX - 1, "no step of a loop", &axis->step));
  if (pb_plan_takes(r, "over")) {
    const pb_level* level = pb_level_shared(r->chip);
    if (!level) return pb_plan_refuse(r, "the chip has no level whose members share a kernel");
    PB_TRY(pb_plan_expects(r, level->name));
    PB_TRY(take_number(r, 2, level->max, "not so many members of the level share a loop", &axis->members));
  }
  ++plan->axis_count;
  return PB_OK;
}

static pb_status read_home(pb_plan_reader* r, int base, pb_plan* plan) {
  static const char* const names[PB_PLAN_OPERANDS] = {"x", "w", "result"};
  int o = 0;
  while (o < PB_PLAN_OPERANDS && !pb_plan_takes(r, names[o])) ++o;
  if (o == PB_PLAN_OPERANDS) return pb_plan_refuse(r, "no operand that has a home");
  pb_chain* chain = &plan->chain[o];
  // of weights there is one: they come to the instruction straight
  if (chain->count == (o == PB_OF_W ? 1 : PB_MAX_HOMES)) return pb_plan_refuse(r, "another home of the same operand");
  pb_plan_home* home = &chain->home[chain->count++];
  *home = (pb_plan_home){.around = base + plan->axis_count};
  PB_TRY(pb_plan_read_copies(r, &home->copies));
  while (pb_plan_takes(r, ","))
    if (pb_plan_takes(r, "inside"))
      PB_TRY(take_small(r, 0, &home->around));
    else if (pb_plan_takes(r, "keeps"))
      PB_TRY(take_small(r, 0, &home->kept));
    else
      return pb_plan_refuse(r, "'inside' or 'keeps' is expected");
  return PB_OK;
}

// Homes that nobody chooses: of operands in registers. Of weights there are some in products alone.
static pb_status end_stage(pb_plan_reader* r, int base, pb_plan* plan) {
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o) {
    pb_chain* chain = &plan->chain[o];
    if (chain->count) continue;
    if (o == PB_OF_RESULT) return pb_plan_refuse(r, "'home result' is expected");
    if (o == PB_OF_X && pb_chip_moves(r->chip)) return pb_plan_refuse(r, "'home x' is expected");
    chain->home[0] = (pb_plan_home){.around = base + plan->axis_count, .copies = 1};
    chain->count = o == PB_OF_X;
  }
  return PB_OK;
}

pb_status pb_plan_read_stage(pb_plan_reader* r, int base, pb_plan* plan) {
  *plan = (pb_plan){.bound = ""};
  for (;;)
    if (pb_plan_takes(r, "loop"))
      PB_TRY(pb_plan_read_axis(r, PB_NEST_DIMS, plan));
    else if (pb_plan_takes(r, "home"))
      PB_TRY(read_home(r, base, plan));
    else
      return end_stage(r, base, plan);
}

bool pb_plan_is_of_stages(pb_plan_reader r) {
  for (; pb_plan_more(&r); r.at += word_length(r.at))
    if (pb_plan_takes(&r, "between")) return true;
  return false;
}

pb_status pb_plan_read(pb_plan_reader* r, pb_plan* plan) {
  PB_TRY(pb_plan_read_stage(r, 0, plan));
  return pb_plan_more(r) ? pb_plan_refuse(r, "'loop' or 'home' is expected") : PB_OK;
}

pb_plan_reader pb_plan_reader_of(pb_unit* unit, MlirOperation func) {
  MlirAttribute plan = pb_op_attribute(func, "pb.plan");
  bool is_text = !mlirAttributeIsNull(plan) && mlirAttributeIsAString(plan);
  MlirStringRef text = is_text ? mlirStringAttrGetValue(plan) : mlirStringRefCreateFromCString("");
  return (pb_plan_reader){.at = pb_printf(&unit->pass, "%.*s", (int)text.length, text.data),
                          .place = {.what = pb_func_name(func, &unit->pass)},
                          .code = 4011,
                          .chip = unit->chip,
                          .diag = unit->diag};
}
