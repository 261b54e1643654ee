#include "targets/control/grid/portions.h"

#include "core/base/arena.h"
#include "targets/control/grid/lanes/isa.h"
#include "targets/control/grid/order.h"
#include "targets/control/grid/unwritten.h"

#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

// PAIR_WORDS: of a portion and the next one; they, and what addresses take, are the scalar registers that a wave has.
// FEW_WORDS: of a block they find room as they come.
enum { WORD = 4, PAIR_WORDS = 80, FEW_WORDS = 64, MANY_PRODUCTS = 32 };

typedef struct product {
  LLVMValueRef call;
  int chain, portion, place; // place: as it came
} product;

typedef struct portions {
  LLVMModuleRef module;
  LLVMTargetDataRef layout;
  LLVMBasicBlockRef block;
  pb_table numbers; // of products, by their call
  product* products;
  size_t count, capacity;
  int chains, pair; // words of a portion and the next one
} portions;

// ---- words ----

static bool is_scalar(LLVMValueRef i) {
  static const char name[] = "amdgpu.noclobber";
  if (!LLVMIsALoadInst(i)) return false;
  return LLVMGetMetadata(i, LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(i)), name, sizeof name - 1)) != NULL;
}

static int words_of(const portions* p, LLVMValueRef load) {
  return is_scalar(load) ? (int)(LLVMABISizeOfType(p->layout, LLVMTypeOf(load)) / WORD) : 0;
}

// The block's loads that a value comes from, each once; a product's sum is no part of it.
typedef struct loads {
  pb_table seen;
  LLVMValueRef* items;
  size_t count, capacity;
  int words;
} loads;

static void add_loads(const portions* p, loads* l, LLVMValueRef value) {
  if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != p->block || LLVMIsAPHINode(value)) return;
  if (pb_table_find_address(&l->seen, value) >= 0) return;
  bool product = pb_grid_is_product(value);
  pb_table_add_address(&l->seen, value, 0);
  for (int k = 0; k < (product ? 2 : LLVMGetNumOperands(value)); ++k)
    add_loads(p, l, LLVMGetOperand(value, (unsigned)k));
  if (!LLVMIsALoadInst(value)) return;
  l->words += words_of(p, value);
  PB_PUSH(l->items, l->count, l->capacity, value);
}

static void free_loads(loads* l) {
  pb_table_free(&l->seen);
  free(l->items);
  *l = (loads){.count = 0};
}

// ---- portions ----

static void find_products(portions* p) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(p->block); i; i = LLVMGetNextInstruction(i)) {
    if (!pb_grid_is_product(i)) continue;
    int before = pb_table_find_address(&p->numbers, LLVMGetOperand(i, 2));
    product made = {.call = i, .place = (int)p->count};
    made.chain = before < 0 ? p->chains++ : p->products[before].chain;
    pb_table_add_address(&p->numbers, i, (int)p->count);
    PB_PUSH(p->products, p->count, p->capacity, made);
  }
}

// A large portion and a small one in turn fill a pair where two of one size would not.
static int first_room(const portions* p) { return p->pair * 2 / 3; }

// Sums in their order, as long as the words of all find room. One that has more words than that stands alone.
static void share_chains(portions* p) {
  loads now = {.count = 0};
  int portion = 0, room = first_room(p), before = 0;
  for (int c = 0; c < p->chains; ++c) {
    bool first = now.words == 0;
    for (int again = 0; again < 2; ++again) {
      for (size_t k = 0; k < p->count; ++k)
        if (p->products[k].chain == c) add_loads(p, &now, p->products[k].call);
      if (first || again || now.words <= room) break;
      free_loads(&now);
      room = p->pair - before;
      ++portion;
    }
    for (size_t k = 0; k < p->count; ++k)
      if (p->products[k].chain == c) p->products[k].portion = portion;
    before = now.words;
  }
  free_loads(&now);
}

static int compare(const void* a, const void* b) {
  const product *x = a, *y = b;
  return x->portion != y->portion ? (x->portion > y->portion) - (x->portion < y->portion)
                                  : (x->place > y->place) - (x->place < y->place);
}

// Portions whose words have no room all the same are cut where the next product's would be too many.
static void cut(portions* p) {
  loads now = {.count = 0};
  int portion = 0, before = 0;
  for (size_t k = 0; k < p->count; ++k) {
    product* one = &p->products[k];
    bool other = k && one->portion != before;
    before = one->portion;
    if (other) free_loads(&now);
    portion += other;
    int words = now.words;
    add_loads(p, &now, one->call);
    if (words && now.words > words && now.words > first_room(p)) {
      free_loads(&now);
      add_loads(p, &now, one->call);
      ++portion;
    }
    one->portion = portion;
  }
  free_loads(&now);
}

// ---- the order ----

static void bar(const portions* p, pb_block_order* order, LLVMBuilderRef at) {
  LLVMValueRef nothing = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetModuleContext(p->module)), 0, false);
  LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(p->block));
  pb_grid_order_new(order, pb_isa_call(p->module, at, "llvm.amdgcn.sched.barrier", &nothing, 1));
}

static size_t end_of(const portions* p, size_t first) {
  size_t end = first;
  while (end < p->count && p->products[end].portion == p->products[first].portion) ++end;
  return end;
}

static void ask_for(const portions* p, pb_block_order* order, size_t first, size_t end) {
  loads all = {.count = 0};
  for (size_t k = first; k < end; ++k) add_loads(p, &all, p->products[k].call);
  for (size_t k = 0; k < all.count; ++k) pb_grid_order_next(order, all.items[k]);
  free_loads(&all);
}

static void put(const portions* p, LLVMBuilderRef at) {
  pb_block_order order = {.block = p->block};
  size_t end = end_of(p, 0);
  ask_for(p, &order, 0, end);
  for (size_t first = 0; first < p->count; first = end, end = end_of(p, first)) {
    bar(p, &order, at);
    pb_grid_order_next(&order, p->products[first].call);
    bar(p, &order, at);
    if (end < p->count) ask_for(p, &order, end, end_of(p, end));
    for (size_t k = first + 1; k < end; ++k) pb_grid_order_next(&order, p->products[k].call);
  }
  pb_grid_order_end(&order, at);
}

static bool may_order(const portions* p) {
  int words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(p->block); i; i = LLVMGetNextInstruction(i)) words += words_of(p, i);
  return words > FEW_WORDS && !pb_grid_widens(p->block) && pb_grid_products_of(p->block) >= MANY_PRODUCTS &&
         pb_grid_may_order(p->block);
}

static void order_block(LLVMModuleRef module, LLVMBasicBlockRef block, LLVMBuilderRef at) {
  portions p = {.module = module, .layout = LLVMGetModuleDataLayout(module), .block = block};
  if (!may_order(&p)) return;
  p.pair = pb_grid_pair_words(LLVMGetBasicBlockParent(block));
  find_products(&p);
  share_chains(&p);
  qsort(p.products, p.count, sizeof *p.products, compare);
  cut(&p);
  put(&p, at);
  free(p.products);
  pb_table_free(&p.numbers);
}

int pb_grid_pair_words(LLVMValueRef kernel) { return pb_grid_number_of(kernel, PB_GRID_PAIR_WORDS, PAIR_WORDS); }

void pb_grid_order_portions(LLVMModuleRef module) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) order_block(module, b, at);
  LLVMDisposeBuilder(at);
}
