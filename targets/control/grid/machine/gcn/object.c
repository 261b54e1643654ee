// AMD's code objects: an ELF file with a descriptor and metadata for each kernel (LLVM's AMDGPU usage, "Code Object
// V5").
#include "targets/control/grid/machine/gcn/gcn.h"
#include "targets/control/grid/machine/gcn/metadata.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

enum { GFX90A = 0x3f, GFX1100 = 0x41, GFX942 = 0x4c, MOST_IMAGE = 256 << 20 };

typedef struct object {
  pb_device* device;
  grid_module* module;
  const uint8_t* bytes;
  uint64_t size;
  Elf64_Ehdr head;
  gcn_text* text;
  uint32_t shift;
  grid_memory* image; // its segments where they want to lie, from the image's address on
} object;

static int wrong(const object* o, const char* what) {
  return grid__fault(o->device, GRID_BAD_CODE, "code object: %s", what);
}

static bool within(const object* o, uint64_t from, uint64_t bytes) {
  return from <= o->size && bytes <= o->size - from;
}

static bool segment(const object* o, uint32_t n, Elf64_Phdr* p) {
  uint64_t at = o->head.e_phoff + (uint64_t)n * sizeof *p;
  if (!within(o, at, sizeof *p)) return false;
  memcpy(p, o->bytes + at, sizeof *p);
  return p->p_type != PT_LOAD || (within(o, p->p_offset, p->p_filesz) && p->p_filesz <= p->p_memsz);
}

static int read_head(object* o) {
  if (o->size < sizeof o->head) return wrong(o, "too short for an ELF file");
  memcpy(&o->head, o->bytes, sizeof o->head);
  if (memcmp(o->head.e_ident, ELFMAG, SELFMAG) || o->head.e_ident[EI_CLASS] != ELFCLASS64 ||
      o->head.e_ident[EI_DATA] != ELFDATA2LSB)
    return wrong(o, "no ELF file of 64 bits, low byte first");
  if (o->head.e_machine != 224) return wrong(o, "not of AMD's GPUs");
  uint32_t processor = o->head.e_flags & 0xff;
  if (processor != GFX942 && processor != GFX90A && processor != GFX1100)
    return grid__fault(
        o->device, GRID_BAD_CODE,
        "code object: of processor number %#x; the machine runs gfx942 (%#x), gfx90a (%#x) and gfx1100 (%#x)",
        processor, GFX942, GFX90A, GFX1100);
  o->text->is_rdna = processor == GFX1100;
  o->module->rates = grid__rates(processor == GFX1100 ? "gfx1100" : processor == GFX90A ? "gfx90a" : "gfx942");
  if (o->head.e_phentsize != sizeof(Elf64_Phdr) || o->head.e_shentsize != sizeof(Elf64_Shdr))
    return wrong(o, "headers of another size");
  return GRID_OK;
}

static int load_image(object* o) {
  uint64_t end = 0;
  Elf64_Phdr p;
  for (uint32_t n = 0; n < o->head.e_phnum; ++n) {
    if (!segment(o, n, &p)) return wrong(o, "a segment outside of the file");
    if (p.p_type != PT_LOAD) continue;
    if (p.p_vaddr > MOST_IMAGE || p.p_memsz > MOST_IMAGE) return wrong(o, "a segment that is too large");
    if (p.p_vaddr + p.p_memsz > end) end = p.p_vaddr + p.p_memsz;
  }
  if (!end) return wrong(o, "nothing to load");
  o->image = grid__variable(o->device, "code object", end, 4096, false);
  if (!o->image)
    return grid__fault(o->device, GRID_OUT_OF_MEMORY, "no memory for a code object of %llu bytes",
                       (unsigned long long)end);
  for (uint32_t n = 0; n < o->head.e_phnum; ++n)
    if (segment(o, n, &p) && p.p_type == PT_LOAD) {
      memcpy(o->image->data + p.p_vaddr, o->bytes + p.p_offset, p.p_filesz);
      if (p.p_flags & PF_X) o->text->base = p.p_vaddr, o->text->words = p.p_filesz / 4;
    }
  o->text->address = o->image->address + o->text->base;
  if (!o->text->words || o->text->base % 4) return wrong(o, "no code");
  return GRID_OK;
}

static bool section(const object* o, uint32_t n, Elf64_Shdr* s) {
  uint64_t at = o->head.e_shoff + (uint64_t)n * sizeof *s;
  if (n >= o->head.e_shnum || !within(o, at, sizeof *s)) return false;
  memcpy(s, o->bytes + at, sizeof *s);
  return s->sh_type == SHT_NOBITS || within(o, s->sh_offset, s->sh_size);
}

static int relocate(object* o) {
  Elf64_Shdr s;
  for (uint32_t n = 0; n < o->head.e_shnum; ++n) {
    if (!section(o, n, &s)) return wrong(o, "a section outside of the file");
    for (uint64_t k = 0; s.sh_type == SHT_RELA && k + sizeof(Elf64_Rela) <= s.sh_size; k += sizeof(Elf64_Rela)) {
      Elf64_Rela r;
      memcpy(&r, o->bytes + s.sh_offset + k, sizeof r);
      if (ELF64_R_TYPE(r.r_info) != 13 || r.r_offset + 8 > o->image->bytes || r.r_offset + 8 < 8)
        return wrong(o, "a relocation that the machine does not know");
      uint64_t value = o->image->address + (uint64_t)r.r_addend;
      memcpy(o->image->data + r.r_offset, &value, 8);
    }
  }
  return GRID_OK;
}

// The symbols of .dynsym: NAME.kd is NAME's descriptor, and NAME its code.
static bool find_symbol(const object* o, const char* name, Elf64_Sym* out) {
  Elf64_Shdr s, strings;
  for (uint32_t n = 0; n < o->head.e_shnum; ++n) {
    if (!section(o, n, &s) || (s.sh_type != SHT_DYNSYM && s.sh_type != SHT_SYMTAB) || !section(o, s.sh_link, &strings))
      continue;
    for (uint64_t k = 0; k + sizeof *out <= s.sh_size; k += sizeof *out) {
      memcpy(out, o->bytes + s.sh_offset + k, sizeof *out);
      if (out->st_name >= strings.sh_size) continue;
      const char* text = (const char*)o->bytes + strings.sh_offset + out->st_name;
      uint64_t most = strings.sh_size - out->st_name;
      if (strnlen(text, most) < most && !strcmp(text, name)) return true;
    }
  }
  return false;
}

static uint32_t user_registers(const gcn_kernel* k) {
  uint32_t count = 0;
  for (int n = 0; n < 7; ++n)
    if (k->properties >> n & 1) count += n == 0 ? 4 : n == 6 ? 1 : 2;
  return count;
}

// Vector registers that a wave of the kernel has: of CDNA's up to where those for accumulation begin (LLVM's AMDGPU
// usage, "Kernel Descriptor": GRANULATED_WORKITEM_VGPR_COUNT, ACCUM_OFFSET).
static uint32_t vector_registers(const object* o, const uint8_t* descriptor) {
  uint32_t rsrc1, rsrc3;
  memcpy(&rsrc3, descriptor + 44, 4);
  memcpy(&rsrc1, descriptor + 48, 4);
  uint32_t all = ((rsrc1 & 63) + 1) * 8, plain = ((rsrc3 & 63) + 1) * 4;
  return !o->text->is_rdna && plain < all ? plain : all;
}

// Whether the kernel's instructions read registers that it has, as far as each source's first one says.
static int has_registers(const object* o, const gcn_kernel* k, uint64_t words, uint32_t count) {
  uint64_t first = (k->entry - o->text->base) / 4;
  for (uint64_t w = first; w < first + words; ++w) {
    if (o->text->index[w] == UINT32_MAX) continue;
    const gcn_insn* i = &o->text->code[o->text->index[w]];
    for (int n = 0; n < 3; ++n)
      if (i->s[n] >= GCN_V0 + count && i->s[n] < GCN_V0 + 256)
        return grid__fault(o->device, GRID_BAD_CODE, "code object: kernel %s, offset %#x: register v%u of %u",
                           k->plain.name, i->site.line, i->s[n] - GCN_V0, count);
  }
  return GRID_OK;
}

static int kernel(object* o, const gcn_described* d) {
  gcn_kernel* k = PB_NEW(&o->module->arena, gcn_kernel);
  grid_module* m = o->module;
  grid_kernel* plain = &k->plain;
  plain->gcn = k;
  plain->name = pb_printf(&m->arena, "%.*s", (int)sizeof d->name, d->name);
  PB_PUSH(m->kernels, m->kernel_count, m->kernel_capacity, plain);
  Elf64_Sym descriptor, code;
  char name[sizeof d->name + 4];
  snprintf(name, sizeof name, "%s.kd", plain->name);
  if (!find_symbol(o, name, &descriptor) || descriptor.st_value + 64 > o->image->bytes || descriptor.st_value + 64 < 64)
    return grid__fault(o->device, GRID_BAD_CODE, "code object: kernel %s has no descriptor", plain->name);
  const uint8_t* kd = o->image->data + descriptor.st_value;
  int64_t entry;
  memcpy(&plain->shared_bytes, kd, 4);
  memcpy(&plain->local_bytes, kd + 4, 4);
  memcpy(&k->kernarg_bytes, kd + 8, 4);
  memcpy(&entry, kd + 16, 8);
  memcpy(&k->rsrc2, kd + 52, 4);
  memcpy(&k->properties, kd + 56, 2);
  uint32_t mode; // of floats: rounding in bits 12 to 15, subnormals in 16 to 19
  memcpy(&mode, kd + 48, 4);
  if ((mode >> 12 & 0xff) != 0xf0)
    return grid__fault(
        o->device, GRID_BAD_CODE,
        "code object: kernel %s has float mode %#x; the machine rounds to nearest and keeps subnormals (0xf0)",
        plain->name, mode >> 12 & 0xff);
  k->entry = descriptor.st_value + (uint64_t)entry;
  if (!find_symbol(o, plain->name, &code) || code.st_value != k->entry || k->entry % 4 || k->entry > o->image->bytes ||
      code.st_size > o->image->bytes - k->entry)
    return grid__fault(o->device, GRID_BAD_CODE, "code object: the code of kernel %s is not where its descriptor says",
                       plain->name);
  // Older ways to a thread's own memory: gfx90a's.
  if ((k->properties & 0x21 && plain->local_bytes) || plain->shared_bytes > GRID_MAX_SHARED ||
      plain->local_bytes > GRID_MAX_LOCAL || k->kernarg_bytes > 1 << 16)
    return grid__fault(o->device, GRID_BAD_CODE,
                       "code object: kernel %s wants what the machine does not give (properties %#x)", plain->name,
                       k->properties);
  plain->local_bytes = (plain->local_bytes + 15) & ~15u;
  k->text = o->text;
  uint64_t first = (k->entry - o->text->base) / 4;
  if (k->entry < o->text->base || first + code.st_size / 4 > o->text->words || o->text->index[first] == UINT32_MAX)
    return grid__fault(o->device, GRID_BAD_CODE, "code object: the code of kernel %s is not among what is run",
                       plain->name);
  k->start = o->text->index[first];
  memcpy(k->args, d->args, sizeof k->args);
  k->arg_count = d->arg_count;
  for (uint32_t n = 0; n < k->arg_count; ++n) {
    if (k->args[n].size > k->kernarg_bytes || k->args[n].offset > k->kernarg_bytes - k->args[n].size)
      return grid__fault(o->device, GRID_BAD_CODE, "code object: kernel %s, argument %u lies outside of its arguments",
                         plain->name, n);
    if (k->args[n].kind == GCN_EXPLICIT) plain->param_count += (k->args[n].size + 7) / 8;
  }
  uint32_t lanes = o->text->is_rdna ? 32 : 64;
  if (d->lanes && d->lanes != lanes)
    return grid__fault(o->device, GRID_BAD_CODE, "code object: kernel %s has waves of %u lanes; the machine runs %u",
                       plain->name, d->lanes, lanes);
  plain->most_threads = d->most_threads && d->most_threads < GRID_MAX_THREADS ? d->most_threads : GRID_MAX_THREADS;
  // gfx1100 fills up to 16 registers; what nobody asked for lies behind the others.
  uint32_t users = k->rsrc2 >> 1 & 31;
  if (users && users != user_registers(k) && !(o->text->is_rdna && users > user_registers(k)))
    return grid__fault(o->device, GRID_BAD_CODE, "code object: kernel %s has %u user registers, its properties %u",
                       plain->name, users, user_registers(k));
  k->packet = (k->kernarg_bytes + 63) & ~63u;
  k->kernarg = grid__variable(o->device, "arguments", k->packet + 64, 64, false);
  if (!k->kernarg) return grid__fault(o->device, GRID_OUT_OF_MEMORY, "no memory for the arguments of %s", plain->name);
  plain->shift = o->shift;
  int result = gcn__all_known(o->device, o->text, plain->name, k->entry, code.st_size);
  return result ? result : has_registers(o, k, code.st_size / 4, vector_registers(o, kd));
}

// The narrowest access to memory, for the records of races.
static uint32_t finest(const gcn_text* t) {
  uint32_t shift = 2;
  for (size_t n = 0; n < t->count; ++n) {
    const gcn_insn* i = &t->code[n];
    if (i->class == GRID_CLASS_MEMORY && (i->bytes == 1 || i->bytes == 2) && i->bytes < 1u << shift)
      shift = i->bytes - 1u;
  }
  return shift;
}

int grid__gcn_load(pb_device* device, grid_module* module, const void* code, uint64_t bytes) {
  object o = {.device = device, .module = module, .bytes = code, .size = bytes};
  o.text = module->gcn = PB_NEW(&module->arena, gcn_text);
  int result = read_head(&o);
  if (!result) result = load_image(&o);
  if (!result) result = relocate(&o);
  if (!result && !gcn__decode(o.text, o.image->data + o.text->base))
    result = grid__fault(device, GRID_OUT_OF_MEMORY, "no memory for code");
  if (!result) o.shift = finest(o.text);
  if (result) return result;
  Elf64_Phdr p;
  int found = 0;
  for (uint32_t n = 0; n < o.head.e_phnum && !result; ++n) {
    if (!segment(&o, n, &p) || p.p_type != PT_NOTE || !within(&o, p.p_offset, p.p_filesz)) continue;
    gcn_metadata data;
    if (!gcn__metadata(o.bytes + p.p_offset, p.p_filesz, &data)) continue;
    for (uint32_t k = 0; k < data.count && !result; ++k, ++found) result = kernel(&o, &data.kernels[k]);
    free(data.kernels);
  }
  if (!result && !found) result = wrong(&o, "no metadata that names a kernel");
  return result;
}

// What the launch gives goes where the metadata says.
int gcn__lay_arguments(const grid_launch* l, const pb_device_launch* launch) {
  const gcn_kernel* k = l->kernel->gcn;
  memset(k->kernarg->data, 0, k->kernarg->bytes);
  uint32_t next = 0;
  for (uint32_t n = 0; n < k->arg_count; ++n) {
    const gcn_arg* a = &k->args[n];
    uint64_t value = 0;
    uint8_t* to = k->kernarg->data + a->offset;
    if (a->kind == GCN_EXPLICIT) {
      for (uint32_t at = 0; at < a->size; at += 8) {
        uint32_t part = a->size - at < 8 ? a->size - at : 8;
        memcpy(to + at, &launch->args[next++], part);
      }
      continue;
    }
    if (a->kind >= GCN_BLOCKS_X && a->kind <= GCN_BLOCKS_Z) value = l->blocks[a->kind - GCN_BLOCKS_X];
    if (a->kind >= GCN_GROUP_X && a->kind <= GCN_GROUP_Z) value = l->threads[a->kind - GCN_GROUP_X];
    if (a->kind == GCN_GRID_DIMS) value = 3;
    memcpy(to, &value, a->size < 8 ? a->size : 8);
  }
  uint16_t groups[] = {(uint16_t)l->threads[0], (uint16_t)l->threads[1], (uint16_t)l->threads[2]};
  uint32_t threads[] = {l->blocks[0] * l->threads[0], l->blocks[1] * l->threads[1], l->blocks[2] * l->threads[2]};
  memcpy(k->kernarg->data + k->packet + 4, groups, sizeof groups); // the dispatch packet of the HSA runtime, 2.9.6
  memcpy(k->kernarg->data + k->packet + 12, threads, sizeof threads);
  return GRID_OK;
}

void gcn__free(grid_module* m) {
  gcn_text* t = m->gcn;
  if (!t) return;
  for (size_t n = 0; n < t->count; ++n) free(t->code[n].second);
  free(t->code);
  free(t->index);
}
