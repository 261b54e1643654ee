// Two descriptions of a chip: what changed from one to the other, and what that means for engines compiled for the old
// one. A command that means something else, or room that is gone, makes them void; other costs only make their plans
// worse than they could be.
#include "tdl_sweep.h"

#include "core/poly/text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum weight { VOID, CODES, PLAN, TEXT } weight;
static const char* const weights[] = {"void", "codes", "plan", "text"};

typedef struct comparison {
  json_t *before, *after;
  int count[TEXT + 1];
} comparison;

static const char* const classes[] = {"Chip",     "Memory",      "Queue",           "Tokens",
                                      "Level",    "Instruction", "CoreInstruction", "HardwareLoop",
                                      "Function", "Formula",     "Fence",           "Semaphore"};
enum { CLASSES = sizeof classes / sizeof *classes };

// Fields that do not make engines void when they change; `grows`: not when they become larger.
static const struct {
  const char* class, *field;
  weight weight;
  bool grows;
} mild[] = {{"Chip", "MHz", PLAN, false},
            {"Chip", "Arguments", PLAN, true},
            {"Chip", "Variants", TEXT, false},
            {"Chip", "TokenCycles", PLAN, false},
            {"Chip", "StartCycles", PLAN, false},
            {"Chip", "StageCycles", PLAN, false},
            {"Chip", "BranchCycles", PLAN, false},
            {"Chip", "LoadCycles", PLAN, false},
            {"Memory", "Bytes", PLAN, true},
            {"Memory", "BytesPerCycle", PLAN, false},
            {"Memory", "Latency", PLAN, false},
            {"Memory", "Ports", PLAN, false},
            {"Memory", "LineBytes", PLAN, false},
            {"Memory", "SectorBytes", PLAN, false},
            {"Memory", "SameAtOnce", PLAN, false},
            {"Memory", "EachAtOnce", PLAN, false},
            {"Memory", "Ways", PLAN, false},
            {"Queue", "Depth", PLAN, false},
            {"Queue", "Tokens", PLAN, true},
            {"Semaphore", "Most", PLAN, true},
            {"Fence", "Depth", PLAN, false},
            {"Fence", "Cycles", PLAN, false},
            {"Level", "SyncCycles", PLAN, false},
            {"Level", "Max", PLAN, true},
            {"Level", "Busy", PLAN, false},
            {"Instruction", "Cycles", PLAN, false},
            {"Instruction", "Latency", PLAN, false},
            {"Instruction", "Buffer", PLAN, false},
            {"Instruction", "Beside", PLAN, false},
            {"CoreInstruction", "Cycles", PLAN, false},
            {"CoreInstruction", "Latency", PLAN, false},
            {"Function", "MaxUlp", TEXT, false}};

static pb_arena keys; // of records without names

static weight weight_of(const char* class, const char* field, json_t* before, json_t* after) {
  if (!strcmp(field, "Summary") || !strcmp(field, "Revision") || !strcmp(field, "Schema")) return TEXT;
  if (!strcmp(class, "Formula")) return CODES;
  for (size_t k = 0; k < sizeof mild / sizeof *mild; ++k) {
    if (strcmp(mild[k].class, class) || strcmp(mild[k].field, field)) continue;
    bool shrinks = mild[k].grows && json_integer_value(after) < json_integer_value(before);
    return shrinks ? VOID : mild[k].weight;
  }
  return VOID;
}

static const char* string_at(json_t* object, const char* key) {
  const char* text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void put_value(pb_text* t, json_t* root, json_t* value, int depth);

// A record without a name by what it says; its name is a number that changes with every edit.
static void put_record(pb_text* t, json_t* root, const char* name, int depth) {
  json_t *record = json_object_get(root, name), *value;
  const char* key;
  if (!json_is_true(json_object_get(record, "!anonymous")) || depth > 8) {
    pb_text_add(t, "%s", name);
    return;
  }
  const char* class = json_string_value(json_array_get(json_object_get(record, "!superclasses"), 0));
  bool any = false, is_semaphore = class && !strcmp(class, "Semaphore");
  pb_text_add(t, "%s<", class);
  json_object_foreach(record, key, value) {
    if (key[0] == '!' || (is_semaphore && !strcmp(key, "Most"))) continue; // compared as a record of its own
    pb_text_add(t, "%s%s = ", any ? ", " : "", key);
    put_value(t, root, value, depth + 1);
    any = true;
  }
  pb_text_add(t, ">");
}

static void put_dag(pb_text* t, json_t* root, json_t* dag, int depth) {
  json_t* arg;
  size_t k;
  pb_text_add(t, "(%s", string_at(json_object_get(dag, "operator"), "def"));
  json_array_foreach(json_object_get(dag, "args"), k, arg) {
    const char* name = json_string_value(json_array_get(arg, 1));
    json_t* value = json_array_get(arg, 0);
    pb_text_add(t, k ? ", " : " ");
    bool there = value && !json_is_null(value);
    if (there) put_value(t, root, value, depth + 1);
    if (name) pb_text_add(t, "%s$%s", there ? ":" : "", name);
  }
  pb_text_add(t, ")");
}

static void put_value(pb_text* t, json_t* root, json_t* value, int depth) {
  const char* kind = string_at(value, "kind");
  json_t* one;
  size_t k;
  if (json_is_integer(value))
    pb_text_add(t, "%lld", (long long)json_integer_value(value));
  else if (json_is_string(value))
    pb_text_add(t, "\"%s\"", json_string_value(value));
  else if (json_is_array(value)) {
    pb_text_add(t, "[");
    json_array_foreach(value, k, one) {
      pb_text_add(t, k ? ", " : "");
      put_value(t, root, one, depth + 1);
    }
    pb_text_add(t, "]");
  } else if (!strcmp(kind, "def"))
    put_record(t, root, string_at(value, "def"), depth);
  else if (!strcmp(kind, "dag") && depth < 64)
    put_dag(t, root, value, depth);
  else if (!strcmp(kind, "varbit"))
    pb_text_add(t, "%s{%lld}", string_at(value, "var"), (long long)json_integer_value(json_object_get(value, "index")));
  else
    pb_text_add(t, "?");
}

static char* text_of(json_t* root, json_t* value) {
  pb_text t = {0};
  pb_text_add(&t, "%s", "");
  put_value(&t, root, value, 0);
  return t.data;
}

// Long ones from where they begin to differ.
static void print_both(const char* before, const char* after) {
  enum { MOST = 60, LEAD = 12 };
  size_t same = 0;
  while (before[same] && before[same] == after[same]) ++same;
  size_t from = strlen(before) <= MOST && strlen(after) <= MOST ? 0 : same > LEAD ? same - LEAD : 0;
  const char* dots = from ? "..." : "";
  printf("%s%.*s%s -> %s%.*s%s\n", dots, MOST, before + from, strlen(before + from) > MOST ? "..." : "", dots, MOST,
         after + from, strlen(after + from) > MOST ? "..." : "");
}

static void note(comparison* c, weight w, const char* name, const char* field) {
  ++c->count[w];
  printf("%-6s %s%s%s: ", weights[w], name, *field ? "." : "", field);
}

static void compare_records(comparison* c, const char* class, const char* shown, json_t* before, json_t* after) {
  const char* key;
  json_t* value;
  json_object_foreach(after, key, value) {
    if (key[0] == '!' || json_object_get(before, key)) continue;
    char* text = text_of(c->after, value);
    note(c, weight_of(class, key, NULL, value), shown, key);
    printf("new, %s\n", text);
    free(text);
  }
  json_object_foreach(before, key, value) {
    json_t* other = json_object_get(after, key);
    if (key[0] == '!') continue;
    char *a = text_of(c->before, value), *b = other ? text_of(c->after, other) : NULL;
    if (!b || strcmp(a, b)) {
      note(c, weight_of(class, key, value, other), shown, key);
      if (b)
        print_both(a, b);
      else
        printf("gone, %s\n", a);
    }
    free(a);
    free(b);
  }
}

static json_t* names_of(json_t* root, const char* class) {
  return json_object_get(json_object_get(root, "!instanceof"), class);
}

static char* sides_of(json_t* root, const char* name) {
  json_t* record = json_object_get(root, name);
  char *givers = text_of(root, json_object_get(record, "Givers")),
       *takers = text_of(root, json_object_get(record, "Takers")),
       *sides = pb_printf(&keys, "%s to %s", givers, takers);
  free(givers);
  free(takers);
  return sides;
}

// Of one without a name: who gives and who takes it, and how manyth of those it is. LLVM's own names for such are
// numbers that everything in front of them changes.
static const char* semaphore_key(json_t* root, const char* name) {
  const char* sides = sides_of(root, name);
  int nth = 1;
  json_t* other;
  size_t k;
  json_array_foreach(names_of(root, "Semaphore"), k, other) {
    const char* before = json_string_value(other);
    if (!strcmp(before, name)) break;
    if (json_is_true(json_object_get(json_object_get(root, before), "!anonymous")) &&
        !strcmp(sides_of(root, before), sides))
      ++nth;
  }
  return nth == 1 ? pb_printf(&keys, "semaphore of %s", sides) : pb_printf(&keys, "semaphore %d of %s", nth, sides);
}

// A record's name; of one without, what tells it from others of its class.
static const char* key_of(json_t* root, const char* class, const char* name) {
  json_t* record = json_object_get(root, name);
  if (!json_is_true(json_object_get(record, "!anonymous")) && strcmp(class, "Chip")) return name;
  if (!strcmp(class, "Semaphore")) return semaphore_key(root, name);
  const char* own = !strcmp(class, "Formula")    ? string_at(record, "Of")
                    : !strcmp(class, "Function") ? string_at(record, "Name")
                                                 : "";
  return *own ? own : class;
}

static const char* find(json_t* root, const char* class, const char* key) {
  json_t* name;
  size_t k;
  json_array_foreach(names_of(root, class), k, name) {
    if (!strcmp(key_of(root, class, json_string_value(name)), key)) return json_string_value(name);
  }
  return NULL;
}

// Engines, and devices with them, name memories by their numbers, which go by name.
static bool renumbers(const comparison* c, const char* class, const char* added) {
  json_t* name;
  size_t k;
  json_array_foreach(names_of(c->before, class), k, name) {
    if (!strcmp(class, "Memory") && strcmp(added, json_string_value(name)) < 0) return true;
  }
  return false;
}

static void compare_class(comparison* c, const char* class) {
  json_t* name;
  size_t k;
  json_array_foreach(names_of(c->before, class), k, name) {
    const char *key = key_of(c->before, class, json_string_value(name)), *other = find(c->after, class, key);
    if (other) {
      compare_records(c, class, key, json_object_get(c->before, json_string_value(name)),
                      json_object_get(c->after, other));
      continue;
    }
    note(c, strcmp(class, "Formula") ? VOID : CODES, key, "");
    printf("this %s is gone\n", class);
  }
  json_array_foreach(names_of(c->after, class), k, name) {
    const char* key = key_of(c->after, class, json_string_value(name));
    if (find(c->before, class, key)) continue;
    bool renumbered = renumbers(c, class, json_string_value(name));
    note(c, renumbered ? VOID : strcmp(class, "Formula") ? PLAN : CODES, key, "");
    printf("a new %s%s\n", class, renumbered ? ", and others get other numbers" : "");
  }
}

static int verdict(const comparison* c, const pb_chip* before, const pb_chip* after) {
  if (!memcmp(before->hash, after->hash, sizeof before->hash)) {
    printf("the descriptions are the same: engines of one are engines of the other\n");
    return 0;
  }
  printf("%d changes make engines void, %d change codes, %d plans, %d neither\n", c->count[VOID], c->count[CODES],
         c->count[PLAN], c->count[TEXT]);
  if (!c->count[VOID]) {
    printf("engines of revision %d run on revision %d%s\n", before->revision, after->revision,
           c->count[PLAN] || c->count[CODES] ? "; compiled again they are planned for what changed" : "");
    return 0;
  }
  printf("engines of revision %d are void: compile the models again\n", before->revision);
  fflush(stdout);
  if (after->revision > before->revision) return 0;
  (void)pb_error(NULL, after->place, 3140, "let Revision be larger than the old one's",
                 "%s: engines of revision %d are void, but Revision is still %d", after->name, before->revision,
                 after->revision);
  return 1;
}

int tdl_diff(int argc, char** argv) {
  const char *specs[2] = {NULL, NULL}, *target_dir = NULL;
  int count = 0;
  for (int k = 0; k < argc; ++k) {
    if (!strncmp(argv[k], "--target-dir=", 13))
      target_dir = argv[k] + 13;
    else if (argv[k][0] == '-' || count == 2)
      return pb_error(NULL, (pb_place){0}, 1002, "pb-tdl diff OLD.td NEW.td", "bad option '%s'", argv[k]), 1;
    else
      specs[count++] = argv[k];
  }
  if (count < 2)
    return pb_error(NULL, (pb_place){0}, 1002, "pb-tdl diff OLD.td NEW.td", "two descriptions are compared, not %d",
                    count),
           1;
  pb_diag diag = {0};
  pb_chip *before = NULL, *after = NULL;
  int code = 1;
  if (pb_chip_find(specs[0], target_dir, &diag, &before) == PB_OK &&
      pb_chip_find(specs[1], target_dir, &diag, &after) == PB_OK) {
    comparison c = {.before = json_loads(before->json, 0, NULL), .after = json_loads(after->json, 0, NULL)};
    for (int k = 0; k < CLASSES; ++k) compare_class(&c, classes[k]);
    code = verdict(&c, before, after);
    pb_arena_free(&keys);
    json_decref(c.before);
    json_decref(c.after);
  }
  pb_chip_free(before);
  pb_chip_free(after);
  return code;
}
