// Commands that gather rows: which rows of the table they touch stands in a memory of the chip.
#include "targets/control/queues/machine/state.h"

#include <string.h>

int64_t machine__row(const machine_window* table, int32_t number) {
  int64_t last = table->extent[0] - 1, row = number < 0 ? 0 : number;
  return (row > last ? last : row) * table->stride[0];
}

machine_gather machine__gather(const machine_command* c, const machine_window* table) {
  return (machine_gather){.table = table, .numbers = &c->windows[table->operand->rows], .more = true};
}

// The window on one row: the table's, with one row in its first dim.
static machine_window row_at(const machine_window* table, int32_t number) {
  machine_window row = *table;
  int64_t others = (table->extent[0] - 1) * table->stride[0];
  row.address += machine__row(table, number);
  row.first += row.address - table->address - (others < 0 ? others : 0);
  row.last += row.address - table->address - (others > 0 ? others : 0);
  row.extent[0] = row.hi[0] = 1;
  return row;
}

bool machine__gather_next(machine_gather* g, machine_window* row) {
  const machine_window* numbers = g->numbers;
  int64_t address = numbers->address;
  int32_t number;
  if (!g->more) return false;
  for (int k = 0; k < numbers->rank; ++k) address += g->at[k] * numbers->stride[k];
  memcpy(&number, numbers->memory->data + address, sizeof number);
  *row = row_at(g->table, number);
  g->more = false;
  for (int k = numbers->rank - 1; k >= 0 && !g->more; --k) {
    g->more = ++g->at[k] < numbers->extent[k];
    if (!g->more) g->at[k] = 0;
  }
  return true;
}
