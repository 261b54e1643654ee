// Queues, and what puts their commands in order: counters of tokens, or one list with fences.
#include "tdl/read/chip_read.h"

#include <stdio.h>
#include <string.h>

static void name_queues(pb_chip* c) {
  if (!c->queue_count || c->cores > PB_MOST_CORES) return;
  c->list_names = PB_NEW_ARRAY(&c->arena, const char*, (size_t)c->cores);
  for (int n = 0; n < c->cores; ++n) c->list_names[n] = c->cores > 1 ? pb_printf(&c->arena, "%d.list", n) : "list";
  c->queue_names = PB_NEW_ARRAY(&c->arena, const char*, (size_t)pb_chip_queues(c));
  for (int n = 0; n < pb_chip_queues(c); ++n) {
    const char* name = c->queues[n % c->queue_count].name;
    c->queue_names[n] = c->cores > 1 ? pb_printf(&c->arena, "%d.%s", n / c->queue_count, name) : name;
  }
}

// The counters: those that are listed, or all.
static void read_pairs(const record* rec, pb_chip* c) {
  json_t* list = json_object_get(rec->json, "Pairs");
  for (int p = 0; p < c->queue_count && !json_array_size(list); ++p)
    c->queues[p].gives = c->queues[p].takes = ((1u << c->queue_count) - 1) & ~(c->queues[p].in_order ? 1u << p : 0);
  for (size_t k = 0; k < json_array_size(list); ++k) {
    record pair = pb__open_record(rec->r, pb__get_def(json_array_get(list, k)));
    const char* names[2] = {pb__get_def(json_object_get(pair.json, "From")),
                            pb__get_def(json_object_get(pair.json, "To"))};
    int queue[2] = {-1, -1};
    for (int side = 0; side < 2; ++side)
      for (int q = 0; q < c->queue_count && names[side]; ++q)
        if (!strcmp(c->queues[q].name, names[side])) queue[side] = q;
    if (queue[0] < 0 || queue[1] < 0 || (queue[0] == queue[1] && c->queues[queue[0]].in_order)) {
      pb__fault(rec, 3055, "two of Queues", "a pair of %s and %s", names[0] ? names[0] : "?",
                names[1] ? names[1] : "?");
      continue;
    }
    if (c->queues[queue[0]].gives >> queue[1] & 1)
      pb__fault(rec, 3056, "once", "the pair of %s and %s is listed twice", names[0], names[1]);
    c->queues[queue[0]].gives |= 1u << queue[1];
    c->queues[queue[1]].takes |= 1u << queue[0];
  }
  for (int q = 0; q < c->queue_count; ++q) {
    c->queues[q].waits = c->queues[q].takes;
    c->queues[q].signals = c->queues[q].alone = c->queues[q].gives;
  }
}

// Queues of a semaphore, as bits.
static uint32_t read_set(const record* tokens, const record* rec, const pb_chip* c, const char* field) {
  json_t* list = json_object_get(rec->json, field);
  uint32_t set = 0;
  for (size_t k = 0; k < json_array_size(list); ++k) {
    const char* name = pb__get_def(json_array_get(list, k));
    int at = -1;
    for (int q = 0; q < c->queue_count && name; ++q)
      if (!strcmp(c->queues[q].name, name)) at = q;
    if (at < 0 || set >> at & 1)
      pb__fault(rec, 3360, at < 0 ? "some of Queues" : "each once", "%s of %s has %s%s", field, rec->name,
                name ? name : "?", at < 0 ? ", which is no queue of the record of class Tokens" : " twice");
    if (at >= 0) set |= 1u << at;
  }
  if (!set) pb__fault(rec->place.line ? rec : tokens, 3360, "one queue or more", "%s of %s is empty", field, rec->name);
  return set;
}

static int bits_set(uint32_t set) {
  int count = 0;
  for (; set; set &= set - 1) ++count;
  return count;
}

static void read_semaphore(const record* tokens, pb_chip* c, int k) {
  json_t* list = json_object_get(tokens->json, "Semaphores");
  record rec = pb__open_record(tokens->r, pb__get_def(json_array_get(list, (size_t)k)));
  pb_semaphore* s = &c->semaphores[k];
  bool named = !json_is_true(json_object_get(rec.json, "!anonymous"));
  s->name = named ? pb__keep(tokens->r, rec.name) : pb_printf(&c->arena, "semaphore%d", k);
  pb__name(&rec, "a semaphore", s->name, 64);
  s->givers = read_set(tokens, &rec, c, "Givers");
  s->takers = read_set(tokens, &rec, c, "Takers");
  s->most = pb__get_int32(&rec, "Most", 1);
  int givers = bits_set(s->givers), countable = (1 << c->semaphore_wait_bits) - 1;
  if (s->most < 1 || s->most > PB_MOST_IN_SEMAPHORE) pb__fault(&rec, 3361, "1 to 15", "Most is %d", s->most);
  if (s->most < givers || countable < givers)
    pb__fault(&rec, 3362, "a larger Most, or more WaitBits, or fewer Givers",
              "%d queues give %s, which counts to %d and of which a command waits for %d at most", givers, s->name,
              s->most, countable);
  for (int j = 0; j < k; ++j)
    if (!strcmp(c->semaphores[j].name, s->name)) pb__fault(tokens, 3363, "once", "%s is listed twice", s->name);
  for (int q = 0; q < c->queue_count; ++q) {
    pb_queue* queue = &c->queues[q];
    bool alone = s->givers == 1u << q && s->takers == 1u << q && queue->in_order;
    if (alone) pb__fault(&rec, 3364, "another queue, or let InOrder = 0", "%s is of %s alone", s->name, queue->name);
    if (s->givers >> q & 1) queue->signals |= 1u << k;
    if (s->takers >> q & 1) queue->waits |= 1u << k;
  }
}

// false: there are none.
static bool read_semaphores(const record* rec, pb_chip* c) {
  int count = (int)json_array_size(json_object_get(rec->json, "Semaphores"));
  int most = c->semaphore_wait_bits = json_object_get(rec->json, "WaitBits") ? pb__get_int32(rec, "WaitBits", 1) : 1;
  if (most < 1 || most > 4 || (most > 1 && !count)) {
    pb__fault(rec, 3365, count ? "1 to 4" : "1, or Semaphores", "WaitBits is %d", most);
    c->semaphore_wait_bits = 1;
  }
  if (!count) return false;
  if (json_array_size(json_object_get(rec->json, "Pairs")))
    pb__fault(rec, 3366, "one of the two", "there are Pairs and Semaphores");
  if (count > PB_MAX_SEMAPHORES) {
    pb__fault(rec, 3367, "1 to 16", "%d semaphores", count);
    count = PB_MAX_SEMAPHORES;
  }
  c->semaphores = PB_NEW_ARRAY(&c->arena, pb_semaphore, (size_t)count);
  c->semaphore_count = count;
  for (int k = 0; k < count; ++k) read_semaphore(rec, c, k);
  return true;
}

static const char* field_name(const record* rec, const char* field) {
  const char* name = json_object_get(rec->json, field) ? pb__get_text(rec, field) : "";
  return name[0] ? name : NULL;
}

// Where tokens stand in every command, or the fields of those of their own.
static void read_bits(const record* rec, pb_chip* c) {
  c->wait_field = field_name(rec, "Wait");
  c->count_field = field_name(rec, "Count");
  c->signal_field = field_name(rec, "Signal");
  if (c->wait_field || c->count_field || c->signal_field) {
    bool bits = pb__get_int32(rec, "WaitBit", 0) >= 0 || pb__get_int32(rec, "SignalBit", 0) >= 0;
    if (!c->semaphore_count || !c->wait_field || !c->signal_field || bits)
      pb__fault(rec, 3370, "Wait and Signal of Semaphores, and no WaitBit and SignalBit",
                "Wait is '%s' and Signal '%s', of %d semaphores%s", c->wait_field ? c->wait_field : "",
                c->signal_field ? c->signal_field : "", c->semaphore_count, bits ? ", and there are bits besides" : "");
    if (c->count_field && c->wait_field && !strcmp(c->count_field, c->wait_field))
      pb__fault(rec, 3374, "two fields", "Wait and Count are both '%s'", c->wait_field);
    if (c->semaphore_wait_bits > 1 && !c->count_field)
      pb__fault(rec, 3371, "a field Count, or WaitBits = 1", "WaitBits is %d, and no field says how many",
                c->semaphore_wait_bits);
    return;
  }
  int count = pb_chip_counters(c), waits = count * (c->semaphore_count ? c->semaphore_wait_bits : 1);
  c->wait_bit = pb__get_int32(rec, "WaitBit", 0);
  c->signal_bit = pb__get_int32(rec, "SignalBit", 0);
  int bits = 8 * (c->command_bytes < 0                     ? 0
                  : c->command_bytes > PB_COMMAND_BITS / 8 ? PB_COMMAND_BITS / 8
                                                           : c->command_bytes);
  for (int side = 0; side < 2; ++side) {
    int *bit = side ? &c->signal_bit : &c->wait_bit, needed = side ? count : waits;
    if (*bit >= 0 && *bit <= bits - needed) continue;
    pb__fault(rec, 3045, "bits inside the command", "%s is %d: %d %s need %d of the command's %d bits",
              side ? "SignalBit" : "WaitBit", *bit, count, c->semaphore_count ? "semaphores" : "queues", needed, bits);
    *bit = 0;
  }
}

// Its counters hold so many, or as many as the record of class Tokens says of all; with fences it has none.
static int tokens_of(const record* order, const record* queue, const char* instead) {
  if (instead) {
    int64_t tokens = json_integer_value(json_object_get(queue->json, "Tokens"));
    char hint[80];
    snprintf(hint, sizeof hint, "leave Tokens out, or the %s", instead);
    if (tokens)
      pb__fault(queue, 3320, hint, "Tokens is %lld, and %s put%s its commands in order", (long long)tokens,
                instead[0] == 'r' ? "a Fence" : "Semaphores", instead[0] == 'r' ? "s" : "");
    return 0;
  }
  bool own = !json_integer_value(json_object_get(order->json, "Most")) || // an engine of before has none
             json_is_integer(json_object_get(queue->json, "Tokens"));
  const record* said = own ? queue : order;
  int tokens = pb__get_int32(said, own ? "Tokens" : "Most", 1);
  if (tokens < 1 || tokens > PB_MOST_TOKENS)
    pb__fault(said, 3043, "1 to 4095", "%s is %d", own ? "Tokens" : "Most", tokens);
  return tokens;
}

// `instead`: of counters of its own.
static void read_queue(const record* rec, pb_chip* c, int k, const char* instead) {
  reader* r = rec->r;
  record q = pb__open_record(r, pb__get_def(json_array_get(json_object_get(rec->json, "Queues"), (size_t)k)));
  c->queues[k] = (pb_queue){.name = pb__keep(r, q.name), .depth = pb__get_int32(&q, "Depth", 1)};
  c->queues[k].tokens = tokens_of(rec, &q, instead);
  json_t* order = json_object_get(q.json, "InOrder"); // an engine of before has none
  c->queues[k].in_order = !order || json_integer_value(order) != 0;
  pb__name(&q, "a queue", c->queues[k].name, 20); // counters are named after it
  if (c->queues[k].depth < 1 || c->queues[k].depth > PB_MOST_TOKENS)
    pb__fault(&q, 3042, "1 to 4095", "Depth is %d", c->queues[k].depth);
  for (int j = 0; j < k; ++j)
    if (!strcmp(c->queues[j].name, c->queues[k].name)) pb__fault(rec, 3047, "once", "queue %s is listed twice", q.name);
}

static void check_listed(reader* r, const char* class) {
  const pb_chip* c = r->chip;
  json_t* names = pb__instances(r, "Queue");
  for (size_t k = 0; k < json_array_size(names); ++k) {
    const char* name = pb__text_of(json_array_get(names, k));
    bool listed = false;
    char hint[64];
    for (int q = 0; q < c->queue_count; ++q) listed |= !strcmp(c->queues[q].name, name);
    record q = pb__open_record(r, name);
    snprintf(hint, sizeof hint, "add it to %s.Queues, or remove it", class);
    if (!listed) pb__fault(&q, 3044, hint, "a queue that nobody can wait for");
  }
}

// The one record of class Tokens or of class Fence. false: there is none, or more than one.
static bool open_order(reader* r, record* rec, bool* fences) {
  json_t* tokens = pb__instances(r, "Tokens");
  json_t* lists = pb__instances(r, "Fence");
  size_t count = json_array_size(tokens) + json_array_size(lists);
  *fences = json_array_size(lists) > 0;
  if (r->chip->control != PB_CONTROL_QUEUES && !count) return false;
  const char* last =
      json_string_value(json_array_get(*fences ? lists : tokens, *fences ? json_array_size(lists) - 1 : 0));
  *rec = pb__open_record(r, last);
  if (count == 1) return true;
  ++r->faults;
  (void)pb_error(r->diag, last ? rec->place : (pb_place){.file = r->path}, 3040,
                 "def : Tokens { let Queues = [...]; let WaitBit = ...; let SignalBit = ...; }, or a Fence",
                 "%zu records of class Tokens and %zu of class Fence; control by queues needs one",
                 json_array_size(tokens), json_array_size(lists));
  return false;
}

// A field of a bit for each queue, or no field.
static int wait_field(const record* rec, const pb_chip* c, pb_insn* fence) {
  const char* name = pb__get_text(rec, "Wait");
  if (!name[0]) return -1;
  int f = pb__field_named(rec, fence, name, 3323, "Wait");
  if (pb_insn_field(fence, name) < 0) return -1;
  if (fence->fields[f].width != c->queue_count)
    pb__fault(rec, 3324, "a bit for each of Queues", "field '%s' has %d bits for %d queues", name,
              fence->fields[f].width, c->queue_count);
  return f;
}

static void read_fence(const record* rec, pb_chip* c) {
  if (c->control != PB_CONTROL_QUEUES) pb__fault(rec, 3325, NULL, "a Fence waits for queues");
  pb_insn* fence = c->fence = PB_NEW(&c->arena, pb_insn);
  fence->name = pb__keep(rec->r, rec->name);
  pb__name(rec, "the fence", fence->name, 64);
  fence->summary = "";
  fence->file = c->file;
  fence->line = rec->place.line;
  fence->index = fence->queue = fence->state_of = fence->acc_flag = fence->operands[0].memory = fence->broadcast = -1;
  pb__read_fields(rec, fence);
  c->fence_wait = wait_field(rec, c, fence);
  c->list_depth = pb__get_int32(rec, "Depth", 1);
  c->fence_cycles = pb__get_int32(rec, "Cycles", 1);
  if (c->list_depth < 1 || c->list_depth > PB_MOST_TOKENS)
    pb__fault(rec, 3042, "1 to 4095", "Depth is %d", c->list_depth);
  if (c->fence_cycles < 1 || c->fence_cycles > PB_MOST_LATENCY)
    pb__fault(rec, 3326, "1 to 1048576", "Cycles is %d", c->fence_cycles);
}

void pb__read_queues(reader* r) {
  record rec;
  bool fences;
  pb_chip* c = r->chip;
  if (!open_order(r, &rec, &fences)) return;
  c->tokens_place = pb__keep_place(r, &rec);
  c->queue_count = (int)json_array_size(json_object_get(rec.json, "Queues"));
  if (c->queue_count < 1 || c->queue_count > PB_CORE_QUEUES) {
    pb__fault(&rec, 3041, "1 to 16", "%d queues", c->queue_count);
    c->queue_count = c->queue_count < 1 ? 0 : PB_CORE_QUEUES;
  }
  c->queues = PB_NEW_ARRAY(&c->arena, pb_queue, (size_t)c->queue_count + 1);
  const char* instead = fences                                                     ? "record of class Fence"
                        : json_array_size(json_object_get(rec.json, "Semaphores")) ? "Semaphores"
                                                                                   : NULL;
  for (int k = 0; k < c->queue_count; ++k) read_queue(&rec, c, k, instead);
  if (instead && json_integer_value(json_object_get(rec.json, "Most")))
    pb__fault(&rec, 3320, "leave Most out, or the Semaphores",
              "Most is of counters, and Semaphores put commands in order");
  if (c->cores > PB_MOST_CORES) pb__fault(&rec, 3041, "1 to 1024", "%d cores with queues", c->cores);
  name_queues(c);
  if (!read_semaphores(&rec, c)) read_pairs(&rec, c);
  if (!fences) read_bits(&rec, c);
  if (fences && c->queue_count) read_fence(&rec, c);
  check_listed(r, fences ? "Fence" : "Tokens");
}
