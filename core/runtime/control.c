// Steps of the host's program that launch nothing: moves and jumps, of tensors in this process or on the device.
#include "core/runtime/rt.h"

#include <stdlib.h>
#include <string.h>

// What this process has as well is read here.
static bool is_on_device(const pb_rt* rt, pb_arg arg) {
  if (rt->given_inputs && arg.space == PB_SPACE_INPUT) return true;
  return rt->has_device && !rt->tensors_in_process && arg.space != PB_SPACE_CONST && arg.space != PB_SPACE_INPUT;
}

static pb_status read_from(pb_rt* rt, pb_arg arg, uint64_t offset, void* data, uint64_t bytes, pb_diag* diag) {
  if (is_on_device(rt, arg)) return pb__words_read(rt, pb__words_address(rt, arg) + offset, data, bytes, diag);
  memcpy(data, (const uint8_t*)pb__native_address(rt, arg) + offset, bytes);
  return PB_OK;
}

static pb_status read_bytes(pb_rt* rt, pb_arg arg, void* data, uint64_t bytes, pb_diag* diag) {
  return read_from(rt, arg, 0, data, bytes, diag);
}

static pb_status write_bytes(pb_rt* rt, pb_arg to, uint64_t offset, const void* data, uint64_t bytes, pb_diag* diag) {
  if (is_on_device(rt, to)) return pb__words_write(rt, pb__words_address(rt, to) + offset, data, bytes, diag);
  memmove((uint8_t*)pb__native_address(rt, to) + offset, data, bytes);
  return PB_OK;
}

// From one place on the device to another, if it is the device that has the first, and it can.
static bool copies(const pb_rt* rt, pb_arg to) {
  return is_on_device(rt, to) && rt->words.ops->abi >= 5 && rt->words.ops->copy;
}

static pb_status copy_rows(pb_rt* rt, pb_arg to, uint64_t offset, pb_arg from, uint64_t at, uint64_t bytes,
                           pb_diag* diag) {
  uint64_t there = pb__words_address(rt, to) + offset, here = pb__words_address(rt, from) + at;
  if (!bytes || there == here) return PB_OK;
  return rt->words.ops->copy(rt->words.device, there, here, bytes) ? pb__device_fault(rt, "copying a tensor", diag)
                                                                   : PB_OK;
}

static pb_status move(pb_rt* rt, const pb_step* step, pb_diag* diag) {
  if (!is_on_device(rt, step->args[0])) { // then the other is not either
    const void* from = pb__native_address(rt, step->args[1]);
    memmove(pb__native_address(rt, step->args[0]), from, step->bytes);
    return PB_OK;
  }
  if (copies(rt, step->args[0])) return copy_rows(rt, step->args[0], 0, step->args[1], 0, step->bytes, diag);
  void* data = malloc(step->bytes);
  if (!data)
    return pb_system_error(diag, (pb_place){.file = rt->path}, 5026, "no memory for %llu bytes",
                           (unsigned long long)step->bytes);
  pb_status status = read_bytes(rt, step->args[1], data, step->bytes, diag);
  if (status == PB_OK) status = write_bytes(rt, step->args[0], 0, data, step->bytes, diag);
  free(data);
  return status;
}

static int64_t index_at(const uint8_t* numbers, pb_type type, uint64_t k) {
  int64_t wide;
  int32_t narrow;
  if (type == PB_I32) {
    memcpy(&narrow, numbers + k * sizeof narrow, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, numbers + k * sizeof wide, sizeof wide);
  return wide;
}

static pb_status take_rows(pb_rt* rt, const pb_step* step, pb_diag* diag) {
  const pb_rows* rows = &step->rows;
  uint64_t of_numbers = rows->count * (uint64_t)pb_type_bits(rows->index) / 8, bytes = rows->count * step->bytes;
  uint8_t* data = malloc(bytes + of_numbers);
  if (!data)
    return pb_system_error(diag, (pb_place){.file = rt->path}, 5026, "no memory for %llu bytes",
                           (unsigned long long)(bytes + of_numbers));
  const uint8_t* numbers = data + bytes;
  bool direct = copies(rt, step->args[0]);
  pb_status status = read_bytes(rt, step->args[2], data + bytes, of_numbers, diag);
  for (uint64_t k = 0; k < rows->count && status == PB_OK; ++k) {
    int64_t index = index_at(numbers, rows->index, k), most = (int64_t)rows->most;
    if (index < 0) index += most + 1;
    index = index < 0 ? 0 : index > most ? most : index;
    if (direct)
      status =
          copy_rows(rt, step->args[0], k * step->bytes, step->args[1], (uint64_t)index * rows->unit, step->bytes, diag);
    else
      status = read_from(rt, step->args[1], (uint64_t)index * rows->unit, data + k * step->bytes, step->bytes, diag);
  }
  if (status == PB_OK && !direct) status = write_bytes(rt, step->args[0], 0, data, bytes, diag);
  free(data);
  return status;
}

// The same of tensors of this process that lie apart, at once; false: they are not.
static bool place_here(pb_rt* rt, const pb_step* step, uint64_t at) {
  const pb_rows* rows = &step->rows;
  if (!rows->count || is_on_device(rt, step->args[0]) || is_on_device(rt, step->args[1])) return false;
  uint8_t* to = (uint8_t*)pb__native_address(rt, step->args[0]) + at * rows->unit;
  const uint8_t* from = pb__native_address(rt, step->args[1]);
  uintptr_t first = (uintptr_t)to, end = first + (rows->count - 1) * rows->stride + step->bytes;
  if ((uintptr_t)from < end && (uintptr_t)from + rows->count * step->bytes > first) return false;
  for (uint64_t k = 0; k < rows->count; ++k) memcpy(to + k * rows->stride, from + k * step->bytes, step->bytes);
  return true;
}

static pb_status place_rows(pb_rt* rt, const pb_step* step, pb_diag* diag) {
  const pb_rows* rows = &step->rows;
  uint8_t number[sizeof(int64_t)];
  uint64_t bytes = rows->count * step->bytes;
  PB_TRY(read_bytes(rt, step->args[2], number, (uint64_t)pb_type_bits(rows->index) / 8, diag));
  int64_t index = index_at(number, rows->index, 0);
  uint64_t at = index < 0 ? 0 : (uint64_t)index > rows->most ? rows->most : (uint64_t)index;
  if (place_here(rt, step, at)) return PB_OK;
  if (copies(rt, step->args[0])) {
    for (uint64_t k = 0; k < rows->count; ++k)
      PB_TRY(copy_rows(rt, step->args[0], k * rows->stride + at * rows->unit, step->args[1], k * step->bytes,
                       step->bytes, diag));
    return PB_OK;
  }
  uint8_t* data = malloc(bytes);
  if (!data)
    return pb_system_error(diag, (pb_place){.file = rt->path}, 5026, "no memory for %llu bytes",
                           (unsigned long long)bytes);
  pb_status status = read_bytes(rt, step->args[1], data, bytes, diag);
  for (uint64_t k = 0; k < rows->count && status == PB_OK; ++k)
    status =
        write_bytes(rt, step->args[0], k * rows->stride + at * rows->unit, data + k * step->bytes, step->bytes, diag);
  free(data);
  return status;
}

pb_status pb__aliases_begin(pb_rt* rt, pb_diag* diag) {
  const int* aliases = rt->engine->aliases;
  for (int k = 0; aliases && k < rt->engine->output_count; ++k) {
    if (aliases[k] < 0) continue;
    pb_arg output = {PB_SPACE_OUTPUT, (uint64_t)k};
    const void* from = rt->run_inputs[aliases[k]];
    if (rt->given_inputs) {
      PB_TRY(copy_rows(rt, output, 0, (pb_arg){PB_SPACE_INPUT, (uint64_t)aliases[k]}, 0, rt->outputs[k].bytes, diag));
      continue;
    }
    if (is_on_device(rt, output) || from != rt->run_outputs[k])
      PB_TRY(write_bytes(rt, output, 0, from, rt->outputs[k].bytes, diag));
  }
  return PB_OK;
}

// Bytes of what the argument lies in, of a program with open dims.
static uint64_t open_bytes(const pb_rt* rt, pb_arg arg) {
  const pb_open* o = rt->engine->open;
  switch (arg.space) {
  case PB_SPACE_INPUT:
    return rt->inputs[arg.value].bytes;
  case PB_SPACE_OUTPUT:
    return rt->outputs[arg.value].bytes;
  case PB_SPACE_CONST:
    return rt->engine->const_bytes - arg.value;
  case PB_SPACE_SIZES:
    return (uint64_t)(o->blocks[arg.value].count * pb_type_bits(o->blocks[arg.value].type) / 8);
  default:
    return (uint64_t)rt->open.sizes[o->buffers[arg.value].bytes];
  }
}

static bool times(uint64_t a, uint64_t b, uint64_t* product) { return !__builtin_mul_overflow(a, b, product); }

// Whether what the step moves, in numbers, lies inside of its arguments: the engine's reader could not tell.
static bool stays_inside(const pb_rt* rt, const pb_step* s) {
  uint64_t to = open_bytes(rt, s->args[0]), from = open_bytes(rt, s->args[1]), all, rows, last;
  if (s->op == PB_HOST_MOVE) return s->bytes <= to && s->bytes <= from;
  const pb_rows* r = &s->rows;
  bool takes = s->op == PB_HOST_TAKE;
  uint64_t index = (uint64_t)pb_type_bits(r->index) / 8 * (takes ? r->count : 1);
  if (!times(r->count, s->bytes, &all) || !times(r->most, r->unit, &rows) || index > open_bytes(rt, s->args[2]))
    return false;
  if (takes) return all <= to && !__builtin_add_overflow(rows, s->bytes, &last) && last <= from;
  return all <= from && times(r->count - 1, r->stride, &last) && !__builtin_add_overflow(last, rows, &last) &&
         !__builtin_add_overflow(last, s->bytes, &last) && last <= to;
}

// A step that moves, of a program with open dims: with numbers where it has sizes. *moves: there is something to move.
static pb_status in_numbers(pb_rt* rt, const pb_step* step, pb_step* made, bool* moves, pb_diag* diag) {
  *made = *step;
  uint64_t* const amounts[] = {&made->bytes, &made->rows.count, &made->rows.stride, &made->rows.unit, &made->rows.most};
  int count = step->op == PB_HOST_MOVE ? 1 : 5;
  for (int k = 0; k < count; ++k) {
    int64_t number = rt->open.sizes[*amounts[k]];
    if (number < 0)
      return pb_error(diag, (pb_place){.file = rt->path}, 5049, "other extents",
                      "%s: it moves %lld rows at these extents", step->origin, (long long)number);
    *amounts[k] = (uint64_t)number;
  }
  *moves = made->bytes && (step->op == PB_HOST_MOVE || made->rows.count);
  if (*moves && !stays_inside(rt, made))
    return pb_error(diag, (pb_place){.file = rt->path}, 5049, "other extents",
                    "%s: it moves past what it moves at these extents", step->origin);
  return PB_OK;
}

static pb_status move_some(pb_rt* rt, const pb_step* step, pb_diag* diag) {
  pb_step made;
  bool moves = true;
  if (rt->engine->open) { // a step is large: others are not copied
    PB_TRY(in_numbers(rt, step, &made, &moves, diag));
    step = &made;
  }
  if (!moves) return PB_OK;
  return step->op == PB_HOST_MOVE    ? move(rt, step, diag)
         : step->op == PB_HOST_PLACE ? place_rows(rt, step, diag)
                                     : take_rows(rt, step, diag);
}

pb_status pb__control_step(pb_rt* rt, int* at, pb_diag* diag) {
  const pb_step* step = &rt->engine->steps[*at];
  char truth = 0;
  if (step->op != PB_HOST_MOVE && step->op != PB_HOST_JUMP)
    PB_TRY(pb__behind_settle(rt, diag)); // it reads what is there
  switch (step->op) {
  case PB_HOST_MOVE:
  case PB_HOST_PLACE:
  case PB_HOST_TAKE:
    PB_TRY(move_some(rt, step, diag));
    ++*at;
    break;
  case PB_HOST_JUMP:
    *at = step->target;
    break;
  case PB_HOST_UNLESS:
    PB_TRY(read_bytes(rt, step->args[0], &truth, 1, diag));
    *at = truth ? *at + 1 : step->target;
    break;
  case PB_HOST_EXTENTS:
    PB_TRY(pb__open_extents(rt, step, diag));
    ++*at;
    break;
  case PB_HOST_LAUNCH:
    break;
  }
  return PB_OK;
}
