// Convolutions of groups with several channels each: as many groups are taken together as fill whole rows of lanes,
// with zeros in the weights between them. 32 groups of 4 channels on 16 lanes become 8 groups of 16, whose weights are
// blocks along a diagonal; groups that fit no row become one. Exact for codes: what is added is zero.
#include "core/s3/layout/grouped.h"
#include "core/s3/layout/layout.h"

// How many groups fill whole rows of lanes of inputs and of results: all, if fewer never do.
static int64_t together(const pb_layout* l, const pb_grouped* g) {
  for (int64_t s = 1; s < g->groups; ++s)
    if (g->groups % s == 0 && s * g->ins % l->lanes == 0 && s * g->outs % l->lanes == 0) return s;
  return g->groups;
}

void pb__layout_merge_rows(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_roles roles;
    pb_grouped g;
    const pb_nest* nest = &l->program.nests[n];
    if (!pb__layout_roles(l, n, &roles) || !pb_grouped_read(nest, &roles, &g)) continue;
    if (l->program.values[l->program.value_of[n][roles.w]].kind != PB_VALUE_CONST) continue;
    if (nest->access[roles.x].type == PB_F32) continue; // zeros do not keep infinity and NaN apart
    int64_t s = together(l, &g);
    if (s > 1 && pb__layout_depthwise(nest, &roles) < 0 && nest->dim_count + 2 <= PB_NEST_DIMS)
      pb_grouped_merge(l->unit, &l->program, n, &roles, &g, s);
  }
}
