#include "core/select/memo.h"

#include <string.h>

// All that tells one nest from another, in a row of numbers.
enum { MEMO_WORDS = 9 + PB_FLAT_DIMS + PB_FLAT_ACCESSES * (9 + 3 * PB_FLAT_DIMS) };

typedef struct pb_memo_entry {
  uint64_t hash;
  size_t words, nodes;
  int64_t* key;
  pb_expr_node* expr;
  bool found;
  pb_match match;
  const char* why;
} pb_memo_entry;

static size_t write_key(const pb_flat* nest, int64_t* key) {
  size_t n = 0;
  key[n++] = nest->dim_count;
  key[n++] = nest->kept;
  key[n++] = nest->access_count;
  key[n++] = nest->expr_count;
  key[n++] = nest->reduce;
  key[n++] = nest->onto;
  key[n++] = nest->counted;
  for (int d = 0; d < nest->dim_count; ++d) key[n++] = nest->extent[d];
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_flat_access* access = &nest->access[a];
    key[n++] = access->memory;
    key[n++] = access->type;
    key[n++] = access->boxed;
    key[n++] = access->splat;
    key[n++] = access->aligned_rows ? -1 : access->base;
    key[n++] = access->table;
    key[n++] = access->rows;
    key[n++] = access->row;
    for (int d = 0; d < nest->dim_count; ++d) key[n++] = access->stride[d];
    double fill = access->boxed ? access->fill : 0;
    memcpy(&key[n++], &fill, sizeof fill);
    for (int d = 0; access->boxed && d < nest->dim_count; ++d) {
      key[n++] = access->box_rank[d];
      key[n++] = access->box_step[d];
    }
  }
  return n;
}

// FNV-1a, a word at a time.
static uint64_t hash_of(const int64_t* key, size_t words, const pb_expr_node* expr, size_t nodes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t k = 0; k < words; ++k) hash = (hash ^ (uint64_t)key[k]) * 1099511628211u;
  for (size_t k = 0; k < nodes; ++k) {
    uint64_t value;
    memcpy(&value, &expr[k].value, sizeof value);
    hash = (hash ^ (uint64_t)expr[k].op) * 1099511628211u;
    hash = (hash ^ (uint64_t)expr[k].operand) * 1099511628211u;
    hash = (hash ^ value) * 1099511628211u;
  }
  return hash ^ hash >> 29;
}

static bool same_node(const pb_expr_node* a, const pb_expr_node* b) {
  return a->op == b->op && a->type == b->type && !memcmp(a->args, b->args, sizeof a->args) &&
         a->operand == b->operand && !memcmp(&a->value, &b->value, sizeof a->value);
}

static bool same(const pb_memo_entry* e, uint64_t hash, const int64_t* key, size_t words, const pb_flat* nest) {
  if (e->hash != hash || e->words != words || memcmp(e->key, key, words * sizeof *key)) return false;
  for (size_t k = 0; k < e->nodes; ++k) // as many as the key says
    if (!same_node(&e->expr[k], &nest->expr[k])) return false;
  return true;
}

static void grow(pb_select_memo* memo) {
  size_t capacity = memo->capacity ? memo->capacity * 2 : 64;
  pb_memo_entry** table = PB_NEW_ARRAY(memo->arena, pb_memo_entry*, capacity);
  for (size_t k = 0; k < memo->capacity; ++k) {
    if (!memo->table[k]) continue;
    size_t at = memo->table[k]->hash & (capacity - 1);
    while (table[at]) at = (at + 1) & (capacity - 1);
    table[at] = memo->table[k];
  }
  memo->table = table;
  memo->capacity = capacity;
}

static pb_memo_entry* enter(pb_select_memo* memo, uint64_t hash, const int64_t* key, size_t words,
                            const pb_flat* nest) {
  pb_memo_entry* e = PB_NEW(memo->arena, pb_memo_entry);
  e->hash = hash;
  e->words = words;
  e->nodes = (size_t)nest->expr_count;
  e->key = PB_NEW_ARRAY(memo->arena, int64_t, words);
  memcpy(e->key, key, words * sizeof *key);
  e->expr = PB_NEW_ARRAY(memo->arena, pb_expr_node, e->nodes + 1);
  memcpy(e->expr, nest->expr, e->nodes * sizeof *e->expr);
  pb_flat kept;
  pb_flat_copy(&kept, nest);
  kept.expr = e->expr;
  e->found = pb_select(memo->chip, &kept, memo->arena, &e->match, &e->why);
  return e;
}

bool pb_select_again(pb_select_memo* memo, const pb_flat* nest, pb_match* match, const char** why) {
  int64_t key[MEMO_WORDS];
  size_t words = write_key(nest, key);
  uint64_t hash = hash_of(key, words, nest->expr, (size_t)nest->expr_count);
  if (memo->count * 2 >= memo->capacity) grow(memo);
  size_t at = hash & (memo->capacity - 1);
  while (memo->table[at] && !same(memo->table[at], hash, key, words, nest)) at = (at + 1) & (memo->capacity - 1);
  if (!memo->table[at]) {
    memo->table[at] = enter(memo, hash, key, words, nest);
    ++memo->count;
  }
  const pb_memo_entry* e = memo->table[at];
  if (e->found) pb_match_copy(match, &e->match);
  if (!e->found) *why = e->why;
  return e->found;
}
