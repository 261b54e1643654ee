// Between plain tensors and blocks of lanes: the copies that movers make from the one layout to the other, element by
// element along the lanes, and the nests that take from the one and make the other.
#include "core/s3/layout/layout.h"

#include <string.h>

// A copy between the plain tensor that `plain` walks and a blocked one with the shape of value v.
typedef struct crossing {
  const pb_nest* nest;
  const pb_access *plain, *blocked; // over the nest's dims
  int v;
  const char* ref; // of the blocked tensor, when it is not v itself
  bool out;        // from blocks to plain
  int channel;     // copy_all finds it
} crossing;

// Whole blocks of channels from the first one on, or what is left of one. Into a block that is not full the missing
// lanes come as 0, from outside the plain tensor's box, or by themselves.
static void copy_blocks(pb_layout* l, const crossing* c, int64_t first, int64_t channels) {
  int64_t size[PB_NEST_DIMS] = {0};
  pb_nest part, copy = {.name = c->nest->name, .part = "copy", .access_count = 2};
  pb_split s;
  double zero;
  size[c->channel] = l->lanes;
  pb__layout_take_part(c->nest, c->channel, first, channels, &part, &s);
  s.cut[c->channel] = c->out || pb__layout_ends_in(l, c->v, &zero);
  pb__layout_split(l, &part, size, NULL, &copy, &s);
  pb_access* plain = &copy.access[c->out ? 1 : 0];
  pb_access* blocked = &copy.access[c->out ? 0 : 1];
  *plain = *c->plain;
  for (int r = 0; r < plain->rank; ++r) pb__layout_spread(&s, &c->plain->index[r], part.dim_count, &plain->index[r]);
  plain->boxed = !s.cut[c->channel] && channels < l->lanes;
  pb__layout_rewrite(l, &s, &part, c->v, c->blocked, blocked);
  blocked->type = plain->type;
  if (c->ref) blocked->ref = c->ref;
  pb_nest_load(&copy, 0);
  pb__layout_print(l, &copy);
}

// The dim along the lanes of an access to a blocked value, which may begin at any block, and with other dims may walk
// groups of whole blocks; -1: none, or it is no copy's business.
static int channel_of(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  int dim;
  if (access->rank < 2 || access->index[1].cst % l->lanes) return -1;
  if (pb_index_shifted(&access->index[1], &dim)) return dim;
  for (dim = 0; pb__layout_walks(l, nest, access) && dim < nest->dim_count; ++dim)
    if (access->index[1].coef[dim] == 1 && nest->extent[dim] > 1) return dim;
  return -1;
}

// Whether copies can go along the lanes of a tensor in blocks: one dim does, or none, of its only channel or of one
// that is read.
static bool has_lanes(const pb_layout* l, const pb_nest* nest, const pb_access* access, bool stored) {
  if (channel_of(l, nest, access) >= 0) return true;
  bool one = access->rank > 1 && !pb_index_moves(&access->index[1]) && access->index[1].cst % l->lanes == 0;
  return one && (!stored || access->shape[1] == 1) && nest->dim_count < PB_NEST_DIMS;
}

static void copy_all(pb_layout* l, crossing c) {
  pb_nest with_channel;
  pb_access blocked = *c.blocked;
  c.channel = channel_of(l, c.nest, c.blocked);
  if (c.channel < 0) { // one iteration along the lanes
    pb_nest_copy(&with_channel, c.nest);
    c.channel = pb_nest_add_dim(&with_channel, 1);
    blocked.index[1].coef[c.channel] = 1;
    c.nest = &with_channel;
    c.blocked = &blocked;
  }
  int64_t channels = c.nest->extent[c.channel], rest = channels % l->lanes, whole = channels - rest;
  if (whole) copy_blocks(l, &c, 0, whole);
  if (rest) copy_blocks(l, &c, whole, rest);
  double zero;
  if (rest && !c.out && pb__layout_ends_in(l, c.v, &zero)) pb__layout_fill_rest(l, c.nest, NULL, c.v, channels, zero);
}

// The value as if it lay in blocks, in a tensor of its own.
static void put_in_blocks(pb_layout* l, const pb_access* store, pb_layout_value* value) {
  value->kind = PB_LAYOUT_BLOCKED;
  value->block = l->lanes;
  value->rank = store->rank + 1;
  memcpy(value->shape, store->shape, sizeof *store->shape * (size_t)store->rank);
  value->shape[1] = pb__layout_blocks(store->shape[1], l->lanes);
  value->shape[store->rank] = l->lanes;
  value->ref = pb_printf(&l->unit->pass, "%%blocks%d", l->extra_values++);
  value->made = NULL;
}

// The other way round: it writes blocks, which a copy takes apart. They are like those that it reads by access `from`,
// unless it reads some of these several times.
static void point_then_out(pb_layout* l, int n, int from) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  bool once = !pb_nest_repeats(nest, &nest->access[from]);
  const pb_access* like = once ? &nest->access[from] : store;
  int channel = channel_of(l, nest, like), to = pb_program_stored(&l->program, n);
  pb_access plain = *store;
  pb__layout_use_value(l, &plain, to);
  const pb_layout_value kept = l->values[to];
  if (!once) put_in_blocks(l, store, &l->values[to]);
  pb_nest out;
  pb__layout_rewrite_blocks(l, n, channel, &out);
  pb_access* made = pb_nest_store(&out);
  if (once) {
    *made = out.access[from];
    made->ref = pb_printf(&l->unit->pass, "%%blocks%d", l->extra_values++);
  }
  made->type = store->type;
  pb__layout_declare(l, made);
  const char* ref = made->ref;
  pb__layout_splat(l, &out);
  pb__layout_print(l, &out);
  copy_all(l, (crossing){.nest = nest,
                         .plain = &plain,
                         .blocked = like,
                         .v = once ? l->program.value_of[n][from] : to,
                         .ref = ref,
                         .out = true});
  l->values[to] = kept;
}

// The nest's loops without those that do not move the access.
static pb_nest walk_once(const pb_nest* nest, const pb_access* access) {
  pb_nest once = *nest;
  for (int d = 0; d < nest->dim_count; ++d)
    if (!pb_access_uses(access, d)) once.extent[d] = 1;
  return once;
}

// What the nest reads several times lies, for it, in blocks like those that it computes; the copy into them comes once.
static void bring_in_repeated(pb_layout* l, int n, int a) {
  const pb_access* read = &l->program.nests[n].access[a];
  int v = l->program.value_of[n][a];
  pb_access plain = *read, blocks = {.type = read->type};
  pb__layout_use_value(l, &plain, v);
  put_in_blocks(l, read, &l->values[v]);
  pb__layout_use_value(l, &blocks, v);
  pb__layout_declare(l, &blocks);
  pb_nest once = walk_once(&l->program.nests[n], read);
  copy_all(l, (crossing){.nest = &once, .plain = &plain, .blocked = read, .v = v});
}

// A nest whose operands lie in blocks and plainly, and which writes blocks: copies bring the plain ones into blocks.
static void bring_in(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int channel = channel_of(l, nest, store), v = pb_program_stored(&l->program, n);
  pb_layout_value kept[PB_NEST_ACCESSES];
  for (int a = 0; a + 1 < nest->access_count; ++a) kept[a] = l->values[l->program.value_of[n][a]];
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (pb__layout_reads_as(l, n, a, PB_LAYOUT_PLAIN) && pb_nest_repeats(nest, &nest->access[a]))
      bring_in_repeated(l, n, a);
  pb_nest out;
  pb__layout_rewrite_blocks(l, n, channel, &out);
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    if (!pb__layout_reads_as(l, n, a, PB_LAYOUT_PLAIN)) continue;
    pb_access plain = nest->access[a], blocked = out.access[out.access_count - 1];
    pb__layout_use_value(l, &plain, l->program.value_of[n][a]);
    blocked.type = plain.type;
    blocked.ref = pb_printf(&l->unit->pass, "%%blocks%d", l->extra_values++);
    pb__layout_declare(l, &blocked);
    copy_all(l, (crossing){.nest = nest, .plain = &plain, .blocked = store, .v = v, .ref = blocked.ref});
    out.access[a] = blocked;
  }
  for (int a = 0; a + 1 < nest->access_count; ++a) l->values[l->program.value_of[n][a]] = kept[a];
  pb__layout_splat(l, &out);
  pb__layout_mask_rest(l, v, &out);
  pb__layout_print(l, &out);
}

// The nest over plain tensors alone: operands that lie in blocks come out of them, each by a copy of its own along its
// own lanes, and what the nest makes goes into blocks where it is to lie in such.
static void over_plain(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int v = pb_program_stored(&l->program, n);
  bool in = pb__layout_in_rows(l, v);
  pb_access made = *store;
  pb_nest out;
  pb__layout_rewrite_blocks(l, n, -1, &out);
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    if (!pb__layout_reads_as(l, n, a, PB_LAYOUT_BLOCKED)) continue;
    pb_access plain = nest->access[a];
    pb_nest once = walk_once(nest, &plain);
    plain.ref = pb_printf(&l->unit->pass, "%%plain%d", l->extra_values++);
    pb__layout_declare(l, &plain);
    copy_all(
        l,
        (crossing){
            .nest = &once, .plain = &plain, .blocked = &nest->access[a], .v = l->program.value_of[n][a], .out = true});
    out.access[a] = plain;
  }
  if (in) {
    made.ref = pb_printf(&l->unit->pass, "%%plain%d", l->extra_values++);
    pb__layout_declare(l, &made);
    *pb_nest_store(&out) = made;
  }
  pb__layout_spread_in_plain(l, n, &out);
  pb__layout_splat(l, &out);
  pb__layout_print(l, &out);
  if (in) copy_all(l, (crossing){.nest = nest, .plain = &made, .blocked = store, .v = v});
}

// Whether copies can take each tensor of the nest that lies in blocks out of them.
static bool can_go_over_plain(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    bool stored = a == nest->access_count - 1;
    bool blocks = stored ? pb__layout_in_rows(l, pb_program_stored(&l->program, n))
                         : pb__layout_reads_as(l, n, a, PB_LAYOUT_BLOCKED);
    if (blocks && (nest->access[a].boxed || !has_lanes(l, nest, &nest->access[a], stored))) return false;
  }
  return !pb_nest_is_copy(nest);
}

// Whether what the nest reads several times can lie in blocks for it: along their lanes, and read by nothing else.
static bool can_bring_repeated(const pb_layout* l, int n, int a, int channel) {
  const pb_nest* nest = &l->program.nests[n];
  int reads = 0;
  for (int b = 0; b + 1 < nest->access_count; ++b) reads += l->program.value_of[n][b] == l->program.value_of[n][a];
  return reads == 1 && channel_of(l, nest, &nest->access[a]) == channel && !nest->access[a].boxed;
}

// Whether what lies plainly can come into blocks like those that the nest stores, along whose lanes all others lie.
static bool can_bring(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  int last = nest->access_count - 1, channel = channel_of(l, nest, &nest->access[last]);
  if (pb_nest_is_copy(nest) || channel < 0) return false;
  for (int a = 0; a < last; ++a) {
    if (pb__layout_reads_as(l, n, a, PB_LAYOUT_BLOCKED) && channel_of(l, nest, &nest->access[a]) != channel)
      return false;
    if (pb__layout_reads_as(l, n, a, PB_LAYOUT_PLAIN) && pb_nest_repeats(nest, &nest->access[a]) &&
        !can_bring_repeated(l, n, a, channel))
      return false;
  }
  return true;
}

bool pb__layout_crosses(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  if (nest->reduce != PB_SET || pb__layout_gathers_rows(l, n)) return false; // numbers have no lanes
  int blocked = pb__layout_reads_kind(l, n, PB_LAYOUT_BLOCKED);
  switch (pb__layout_kind_of(l, pb_program_stored(&l->program, n))) {
  case PB_LAYOUT_BLOCKED:
    return pb__layout_reads_kind(l, n, PB_LAYOUT_PLAIN) >= 0;
  case PB_LAYOUT_PLAIN: {
    if (blocked < 0) return false;
    // whole rows of lanes that lie in the plain tensor as they are need no copy
    int channel = channel_of(l, nest, &nest->access[blocked]), alone;
    return channel >= 0 &&
           (nest->extent[channel] % l->lanes || !pb_index_single(&nest->access[blocked].index[1], &alone) ||
            pb_access_stride(&nest->access[nest->access_count - 1], channel) != 1);
  }
  default:
    return false;
  }
}

pb_status pb__layout_cross(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  int v = pb_program_stored(&l->program, n), blocked = pb__layout_reads_kind(l, n, PB_LAYOUT_BLOCKED);
  const pb_access* store = &nest->access[nest->access_count - 1];
  bool in = pb__layout_in_rows(l, v);
  bool mixed = in ? blocked >= 0 : pb__layout_reads_kind(l, n, PB_LAYOUT_PLAIN) >= 0;
  bool copies = pb_nest_is_copy(nest);
  if (in && mixed && can_bring(l, n)) {
    bring_in(l, n);
    return PB_OK;
  }
  if ((mixed || (in && !copies) || pb__layout_widens_codes(l, n)) && can_go_over_plain(l, n)) {
    over_plain(l, n);
    return PB_OK;
  }
  if (mixed || (in && !has_lanes(l, nest, store, true)))
    return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4014,
                          "channels that fill rows, another target, or --fallback=cpu",
                          "some of its operands lie in rows of %lld lanes, others do not", (long long)l->lanes);
  if (copies) {
    pb_access plain = nest->access[in ? 0 : 1];
    pb__layout_use_value(l, &plain, l->program.value_of[n][in ? 0 : 1]);
    const pb_access* inside = &nest->access[in ? 1 : 0];
    copy_all(
        l, (crossing){
               .nest = nest, .plain = &plain, .blocked = inside, .v = l->program.value_of[n][in ? 1 : 0], .out = !in});
  } else {
    point_then_out(l, n, blocked);
  }
  return PB_OK;
}
