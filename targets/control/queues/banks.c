// Banks that are taken in turn. The plan gives each of its buffers a place in the memory, as anywhere; commands do not
// name one. What fills a place fills the next bank, and what reads it works on the bank that was taken last, or takes
// the next: which of the two follows from the order of the commands, so here every command learns its bank, for the
// tokens, and every reader its flag. A command that is repeated, since it says state too, fills a bank again.
//
// The order must be one that banks have: each is taken once, in the order in which they were filled, no more are filled
// ahead than there are, and none is left when the kernel ends. A plan whose commands need another is refused.
#include "targets/control/queues/unroll.h"

#include <stdlib.h>

// A place of the memory, by the plan, and which of all fillings is there.
typedef struct filled {
  int64_t base, number;
} filled;

typedef struct turns {
  int64_t count, taken; // fillings, and how many of them were taken
  filled* places;
  size_t place_count, place_capacity;
  const char *filler, *nest; // the last one
} turns;

struct pb_bank_order {
  const pb_chip* chip;
  pb_diag* diag;
  pb_taker to;
  turns memories[PB_MAX_MEMORIES];
};

bool pb_chip_has_banks(const pb_chip* chip) {
  for (int m = 0; m < chip->memory_count; ++m)
    if (pb_in_banks(&chip->memories[m])) return true;
  return false;
}

pb_bank_order* pb_banks_start(const pb_chip* chip, pb_diag* diag, pb_taker to) {
  pb_bank_order* b = calloc(1, sizeof *b);
  if (!b) pb_no_memory(sizeof *b);
  *b = (pb_bank_order){.chip = chip, .diag = diag, .to = to};
  return b;
}

static filled* place_at(turns* t, int64_t base) {
  for (size_t k = 0; k < t->place_count; ++k)
    if (t->places[k].base == base) return &t->places[k];
  return NULL;
}

static pb_status refuse(pb_bank_order* b, const pb_unrolled* c, int memory, const char* why) {
  const pb_memory* m = &b->chip->memories[memory];
  return pb_unsupported(b->diag, (pb_place){.what = c->nest}, 4109,
                        "a memory of kind \"registers\", whose banks commands name",
                        "%s on %s, whose %d banks are taken in the order in which they are filled: %s",
                        c->command.insn->name, m->name, m->banks, why);
}

static pb_status fill(pb_bank_order* b, const pb_unrolled* c, int memory, int64_t base, int64_t* number) {
  turns* t = &b->memories[memory];
  if (t->count - t->taken >= b->chip->memories[memory].banks)
    return refuse(b, c, memory, "it brings more at a time than there are banks");
  filled* place = place_at(t, base);
  if (!place) {
    PB_PUSH(t->places, t->place_count, t->place_capacity, ((filled){.base = base}));
    place = &t->places[t->place_count - 1];
  }
  place->number = *number = t->count++;
  t->filler = c->command.insn->name;
  t->nest = c->nest;
  return PB_OK;
}

static pb_status take(pb_bank_order* b, const pb_unrolled* c, int memory, int64_t base, int64_t* number, bool* next) {
  turns* t = &b->memories[memory];
  const filled* place = place_at(t, base);
  if (!place) return refuse(b, c, memory, "it reads what nothing has brought there");
  *number = place->number;
  *next = place->number == t->taken;
  if (place->number > t->taken) return refuse(b, c, memory, "it passes over what was brought there");
  if (place->number + 1 < t->taken || t->count - place->number > b->chip->memories[memory].banks)
    return refuse(b, c, memory, "it comes back to what was there before");
  t->taken += *next;
  return PB_OK;
}

pb_status pb_banks_take(void* order, const pb_unrolled* command) {
  pb_bank_order* b = order;
  pb_unrolled c = *command;
  pb_region regions[PB_MAX_OPERANDS];
  for (int r = 0; r < c.region_count; ++r) regions[r] = c.regions[r];
  c.regions = regions;
  // what is read comes first: a command may take from one memory what it puts into another
  for (int written = 0; written < 2; ++written)
    for (int r = 0, o = 0; r < c.region_count; ++r) {
      const pb_insn* insn = c.command.insn;
      const pb_memory* m = &b->chip->memories[regions[r].memory];
      if (!pb_in_banks(m) || regions[r].written != written) continue;
      for (o = 0; insn->operands[o].memory != regions[r].memory;) ++o; // no other window is there
      int64_t number = 0;
      bool next = false;
      if (written)
        PB_TRY(fill(b, &c, regions[r].memory, regions[r].base, &number));
      else
        PB_TRY(take(b, &c, regions[r].memory, regions[r].base, &number, &next));
      const pb_operand* w = &insn->operands[o];
      if (w->take >= 0) c.command.values[w->take] = next;
      regions[r].base = number % m->banks * (m->bytes / m->banks);
      c.command.values[w->base] = regions[r].base / w->unit;
    }
  return b->to.take(b->to.user, &c);
}

pb_status pb_banks_end(pb_bank_order* b) {
  for (int m = 0; m < b->chip->memory_count; ++m) {
    const turns* t = &b->memories[m];
    if (t->count > t->taken)
      return pb_unsupported(b->diag, (pb_place){.what = t->nest}, 4110,
                            "this is a bug in the compiler, not in the model",
                            "%s: what it brought to %s is never taken", t->filler, b->chip->memories[m].name);
  }
  return PB_OK;
}

void pb_banks_free(pb_bank_order* b) {
  if (!b) return;
  for (int m = 0; m < b->chip->memory_count; ++m) free(b->memories[m].places);
  free(b);
}
