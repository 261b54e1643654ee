// A module of PTX: its text read, its variables in device memory, its entries decoded.
#include "targets/control/grid/machine/ptx/ptx.h"

static void refer(ptx_reader* r, const ptx_variable* v, grid_memory* m) {
  for (const ptx_reference* ref = v->references; ref; ref = ref->next) {
    const ptx_variable* to = NULL;
    for (const ptx_variable* o = r->globals; o; o = o->next)
      if (!strcmp(o->name, ref->name) && o->address && (o->space == PTX_GLOBAL || o->space == PTX_CONST)) to = o;
    if (!to) ptx__fail(r, 0, "%s: the address of %s, which is no variable of device memory", v->name, ref->name);
    uint64_t address = to->address + (uint64_t)ref->plus;
    memcpy(m->data + ref->offset, &address, 8);
  }
}

static void place(ptx_reader* r) {
  for (ptx_variable* v = r->globals; v; v = v->next) {
    if ((v->space != PTX_GLOBAL && v->space != PTX_CONST) || v->is_extern) continue;
    uint64_t bytes = v->size ? v->size : 1;
    grid_memory* m = grid__variable(r->device, v->name, bytes, v->align, v->space == PTX_CONST);
    if (!m) ptx__fail(r, 0, "no memory for %s of %llu bytes", v->name, (unsigned long long)bytes);
    if (v->data) memcpy(m->data, v->data, v->size);
    v->address = m->address;
  }
  for (ptx_variable* v = r->globals; v; v = v->next)
    if (v->references) refer(r, v, grid__find(r->device, v->address));
}

int grid__ptx_load(pb_device* device, grid_module* module, const char* text, size_t bytes) {
  ptx_reader* const r = PB_NEW(&module->arena, ptx_reader);
  *r = (ptx_reader){
      .device = device, .module = module, .arena = &module->arena, .at = text, .end = text + bytes, .line = 1};
  r->last_function = &r->functions;
  if (setjmp(r->fail)) return GRID_BAD_CODE;
  // The first location is none.
  grid_loc none = {0};
  PB_PUSH(module->locs, module->loc_count, module->loc_capacity, none);
  ptx__parse(r);
  place(r);
  for (ptx_function* f = r->functions; f; f = f->next)
    if (f->entry && f->has_body) ptx__decode(r, f);
  return GRID_OK;
}
