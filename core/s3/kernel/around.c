#include "core/s3/kernel/around.h"

#include <string.h>

// By what dims of the main nest move those of another one: scale[its dim][main dim].
typedef int64_t dim_scales[PB_NEST_DIMS][PB_NEST_DIMS];

// The main dims that one dim of another nest is: one, or several of which each steps over all that the ones before it
// walk.
static bool match_dim(const pb_nest* main, const pb_index* mine, int64_t coef, int64_t extent, bool* taken,
                      int64_t* scale) {
  for (int64_t walked = 1; walked < extent;) {
    int d = 0;
    while (d < main->dim_count && (taken[d] || mine->coef[d] != coef * walked || extent % (walked * main->extent[d])))
      ++d;
    if (d == main->dim_count) return false;
    taken[d] = true;
    scale[d] = walked;
    walked *= main->extent[d];
  }
  return true;
}

// Which dims of the main nest those of another nest are: both walk the same tensor alike.
static bool match_dims(const pb_nest* main, const pb_access* mine, const pb_nest* other, const pb_access* its,
                       dim_scales scale) {
  bool matched[PB_NEST_DIMS] = {false};
  memset(scale, 0, sizeof(dim_scales));
  for (int r = 0; r < mine->rank; ++r) {
    bool taken[PB_NEST_DIMS] = {false};
    if (mine->index[r].cst != its->index[r].cst) return false;
    for (int e = 0; e < other->dim_count; ++e) {
      int64_t coef = its->index[r].coef[e];
      if (!coef) continue;
      if (!match_dim(main, &mine->index[r], coef, other->extent[e], taken, scale[e])) return false;
      matched[e] = true;
    }
    for (int d = 0; d < main->dim_count; ++d)
      if (mine->index[r].coef[d] && main->extent[d] > 1 && !taken[d]) return false;
  }
  for (int d = 0; d < other->dim_count; ++d)
    if (!matched[d] && other->extent[d] > 1) return false;
  return true;
}

// Dims that walk one index of what is stored and of access `carried`, and all tensors, as one are one: rows of lanes
// may be cut in two where another nest has them whole.
static void join_alike(pb_nest* nest, int carried) {
  for (int d = nest->dim_count - 2; d >= 0; --d)
    if (pb_nest_walks_as_one(nest, d) && pb_nest_walks_index_as_one(nest, pb_nest_store(nest), d) &&
        pb_nest_walks_index_as_one(nest, &nest->access[carried], d))
      pb_nest_join_dims(nest, d);
}

// The nest over the main nest's dims, which store `made` as it reads or stores access a. NULL: they walk it otherwise.
static const pb_nest* over_main(const pb_around* around, int n, int a, const pb_access* made, pb_arena* arena) {
  const pb_nest* main = around->main;
  pb_nest own, *over;
  dim_scales scale;
  pb_nest_copy(&own, &around->program->nests[n]);
  if (around->linear) join_alike(&own, a);
  if (!match_dims(main, made, &own, &own.access[a], scale)) return NULL;
  over = pb_nest_kept(arena, &own);
  over->dim_count = main->dim_count;
  memcpy(over->extent, main->extent, sizeof over->extent);
  for (int b = 0; b < over->access_count; ++b)
    for (int r = 0; r < over->access[b].rank; ++r) {
      int64_t *to = over->access[b].index[r].coef, *from = own.access[b].index[r].coef;
      memset(to, 0, PB_NEST_DIMS * sizeof *to);
      for (int e = 0; e < own.dim_count; ++e)
        for (int d = 0; d < main->dim_count; ++d) to[d] += scale[e][d] * from[e];
    }
  return over;
}

static const char* add_epilogue(pb_around* around, int n, pb_arena* arena) {
  const pb_program* p = around->program;
  int last = pb_around_last(around), a = pb_program_load_of(p, n, pb_program_stored(p, last));
  const pb_nest* before = around->epilogue_count ? around->epilogues[around->epilogue_count - 1].nest : around->main;
  if (a < 0) return "a nest in it does not take what the one before it makes";
  if (around->epilogue_count == PB_MAX_EPILOGUES) return "too many nests take its result one after the other";
  const pb_nest* over = over_main(around, n, a, &before->access[before->access_count - 1], arena);
  if (!over) return "a nest that takes its result walks it otherwise";
  around->epilogues[around->epilogue_count++] = (pb_epilogue){.number = n, .carried = a, .nest = over};
  return NULL;
}

const char* pb_around_add(pb_around* around, int n, pb_arena* arena) {
  const pb_program* p = around->program;
  const pb_nest *nest = &p->nests[n], *main = around->main;
  if (nest->reduce != PB_SET) return "it has several sums";
  if (n < around->main_index && pb_program_same_place(p, n, around->main_index)) {
    if (around->init || main->reduce == PB_SET) return "its result is set twice";
    around->init_number = n;
    around->init = over_main(around, n, nest->access_count - 1, &main->access[main->access_count - 1], arena);
    return around->init ? NULL : "what its sums start from walks them otherwise";
  }
  if (nest->access_count > 1)
    return n > around->main_index ? add_epilogue(around, n, arena) : "its main loops take what another nest makes";
  if (around->fill_count == PB_MAX_FILLS) return "too many nests set borders";
  around->fills[around->fill_count++] = nest;
  return NULL;
}

double pb_reduce_neutral(pb_reduce reduce, pb_type type) {
  if (reduce == PB_ACC_ADD || reduce == PB_ACC_MAXU) return 0;
  return pb_type_is_float(type) ? -__builtin_inf() : (double)pb_reduce_least(reduce, pb_type_bits(type));
}

bool pb_around_begins_neutral(const pb_nest* init, const pb_nest* sum) {
  return init->expr_count == 1 && init->expr[0].op == PB_OP_CONST &&
         init->expr[0].value == pb_reduce_neutral(sum->reduce, sum->access[sum->access_count - 1].type);
}
