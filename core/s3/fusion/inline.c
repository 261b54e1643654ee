// Inline: a pointwise nest whose result only one other pointwise nest takes, element by element, is computed there.
// Requires the program function in value form; leaves it in value form. Exact: the same operations on the same numbers.
//
//   before   b[i] = a[i] / 2;  c[i] = erf(b[i]);  y[i] = a[i] * c[i]
//   after    y[i] = a[i] * erf(a[i] / 2)
//
// What many take is computed in each of them where that is a few additions, products or comparisons of tensors that it
// spreads, as differences of all pairs are: to read as many elements as it makes would take longer. So is what such
// make of one tensor as large, as places in a picture are: it is read instead, and nobody writes the other. Only where
// caches show cores the system's memory; and only if all that take it can, for then nobody makes it.
//
// What takes a reduction's result alone stays by itself: it will be that reduction's epilogue, and what it leaves is
// smaller than sums are. In front of `math`, which wants room for the functions in a nest. Where nests are commands,
// which pass values on the chip, only what fewer commands compute than before.
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/kernel/join.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/s3.h"

enum {
  FEW_OPERATORS = 3, // of what is computed again
  SMALLER = 8,       // what that reads, in parts of what it makes
  MANY = 4096,       // elements, of what is read in its place
  MOST_READERS = 8,
  OF_AN_INDEX = 6 // operators that a nest which looks up elements, or scatters them, computes on the way
};

typedef struct inliner {
  pb_unit* unit;
  pb_program* program;
  pb_join* join;
} inliner;

// Whether elements of some tensor come to the maker several times each, otherwise than along lanes: movers bring them
// so, and take the result away, where commands take whole rows, so that no kernel passes it on to the taker on the
// chip. Not where the taker walks a constant along its rows: then a number could not come as one row of lanes (align).
static bool spreads(const pb_join* m) {
  const pb_nest* maker = &m->p->nests[m->maker];
  const pb_nest* taker = &m->p->nests[m->taker];
  const pb_access* store = &maker->access[maker->access_count - 1];
  for (int a = 0; a + 1 < taker->access_count; ++a)
    if (pb_program_is_const(m->p, m->taker, a) && pb_access_uses(&taker->access[a], taker->dim_count - 1)) return false;
  for (int a = 0; a + 1 < maker->access_count; ++a)
    if (!pb_program_is_const(m->p, m->maker, a) && pb_nest_repeats(maker, &maker->access[a]) &&
        !pb_repeats_along(&maker->access[a], store))
      return true;
  return false;
}

// Whether the chip has less to do for both in one nest: commands are to be fewer, as code's always are, or to compute
// what none did by itself; as many are enough for what would leave the chip in between.
static bool gains(const pb_chip* chip, const pb_join* m) {
  int maker = pb_point_commands(chip, &m->p->nests[m->maker]), taker = pb_point_commands(chip, &m->p->nests[m->taker]),
      both = pb_point_commands(chip, &m->out);
  return both && (!maker || !taker || both < maker + taker + spreads(m));
}

// The taker has the maker's expression; who takes nothing any more is nobody's.
static void keep(inliner* i) {
  int maker = i->join->maker, value = pb_program_stored(i->program, maker);
  pb_join_keep(i->join, &i->unit->pass);
  i->program->gone[maker] = true;
  PB_FOR_USES (n, i->program, value)
    if (!i->program->gone[n] && pb_program_reads(i->program, n, value)) i->program->gone[maker] = false;
}

// ---- what many take ----

static bool is_fast(pb_op op) {
  return op == PB_OP_ADD || op == PB_OP_SUB || op == PB_OP_MUL || op == PB_OP_FMA || op == PB_OP_NEG ||
         op == PB_OP_ABS || op == PB_OP_MAX || op == PB_OP_MIN || op == PB_OP_SEXT || op == PB_OP_ZEXT ||
         op == PB_OP_LESS || op == PB_OP_LESS_EQUAL || op == PB_OP_EQUAL || op == PB_OP_SELECT || op == PB_OP_FLOOR ||
         op == PB_OP_CEIL;
}

static bool is_fast_nest(const pb_nest* nest, int most) {
  int operators = 0;
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op != PB_OP_LOAD && nest->expr[e].op != PB_OP_CONST)
      if (!is_fast(nest->expr[e].op) || ++operators > most) return false;
  return true;
}

// Whether both go through memory alike, wherever they begin.
static bool walk_alike(const pb_nest* nest, const pb_access* a, const pb_access* b) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_stride(a, d) != pb_access_stride(b, d)) return false;
  return true;
}

// Whether the nest makes a large tensor of small ones by a few fast operators; or of those and one as large, which who
// takes it reads in its place.
static bool is_made_again(const inliner* i, int n) {
  const pb_program* p = i->program;
  const pb_nest* nest = &p->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int64_t made = pb_access_elements(store), read = 0;
  int large = 0;
  if (!is_fast_nest(nest, FEW_OPERATORS)) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int64_t elements = pb_access_elements(access);
    if (access->gathered || access->boxed || pb_access_can_leave(nest, access)) return false;
    bool is_read_instead = made >= MANY && access->type == store->type && walk_alike(nest, access, store);
    for (int b = 0; b < a; ++b) // read already
      if (p->value_of[n][b] == p->value_of[n][a] && pb_same_indices(&nest->access[b], access)) elements = 0;
    large += is_read_instead && elements;
    read += is_read_instead ? 0 : elements;
  }
  return large <= 1 && read * SMALLER <= made;
}

// Whether nest n looks up elements or scatters them one by one, where what it reads plainly may be computed.
static bool goes_to_places(const pb_nest* nest) {
  return (nest->reduce == PB_SET || nest->reduce == PB_ACC_BODY) && pb_nest_is_fixed(nest);
}

// Whether every load of the value can take its maker in, tried without keeping.
static bool all_take(inliner* i, int value, int least) {
  const pb_program* p = i->program;
  int readers = 0;
  PB_FOR_USES (n, p, value) {
    if (i->program->gone[n] || pb_program_writes(p, n, value)) continue;
    if (!pb_join_takes(&p->nests[n]) && !goes_to_places(&p->nests[n])) return false;
    for (int a = -1; (a = pb_program_next_access(p, n, value, a)) >= 0; ++readers)
      if (!pb_join_find_any(i->join, n, a) || !pb_join_make(i->join)) return false;
  }
  return readers >= least && readers <= MOST_READERS;
}

static bool spread_one(inliner* i, int maker) {
  pb_program* p = i->program;
  int value = pb_program_stored(p, maker);
  bool takes = pb_join_takes(&p->nests[maker]) || pb_nest_is_copy(&p->nests[maker]);
  if (!pb_program_is_local(p, value) || !takes || !is_made_again(i, maker) || pb_join_is_epilogue(i->program, maker) ||
      !all_take(i, value, pb_nest_is_copy(&p->nests[maker]) ? 1 : 2))
    return false;
  // Where the maker is at another place there may be no more room: the rest reads what is made.
  PB_FOR_USES (n, p, value)
    for (int a = 0; !i->program->gone[n] && n != maker && (a = pb_program_load_of(p, n, value)) >= 0; keep(i))
      if (!pb_join_find_any(i->join, n, a) || !pb_join_make(i->join)) break;
  return true;
}

// ---- numbers, and where elements are ----

// Whether nest n may compute what load a takes, and that pays: what a pointwise nest makes for it alone; or, `simple`,
// a tensor that is one number everywhere, whoever else takes it, and places that a few operators make for a nest alone
// that goes to them, as they bring those from the end inside.
static bool may_take(inliner* i, int n, int a, bool simple) {
  const pb_nest* nests = i->program->nests;
  bool places = goes_to_places(&nests[n]), alone = simple ? places : pb_join_takes(&nests[n]);
  if (!alone && !pb_join_takes(&nests[n])) return false;
  if (simple && pb_join_find_any(i->join, n, a) && pb_join_is_number(&nests[i->join->maker]))
    return pb_join_make(i->join);
  return alone && pb_join_find(i->join, n, a) && !pb_join_is_epilogue(i->program, i->join->maker) &&
         (!simple || is_fast_nest(&nests[i->join->maker], OF_AN_INDEX)) && pb_join_make(i->join) &&
         (simple || gains(i->unit->chip, i->join));
}

// Joins every nest with the makers of what it takes, and these with theirs.
static bool join_all(inliner* i, bool simple) {
  bool changed = false;
  for (int n = 0; n < i->program->nest_count; ++n)
    for (int a = 0; !i->program->gone[n] && a + 1 < i->program->nests[n].access_count; ++a) {
      if (!may_take(i, n, a, simple)) continue;
      keep(i);
      changed = true;
      a = -1; // it takes what the maker took
    }
  return changed;
}

bool pb_s3_inline(pb_unit* unit, pb_program* p) {
  inliner i = {.unit = unit, .program = p, .join = pb_join_begin(p, &unit->pass)};
  bool changed = join_all(&i, false);
  if (!pb_chip_moves(unit->chip)) { // what is read at single elements has numbers and places in its code
    changed |= join_all(&i, true);
    i.join->copies = true;
    for (int n = 0; n < p->nest_count; ++n)
      if (!p->gone[n]) changed |= spread_one(&i, n);
  }
  return changed;
}
