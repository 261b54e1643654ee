#include "run_report.h"

#include "core/base/shown.h"

#include <stdlib.h>
#include <string.h>

// A name out of the engine.
static void print_name(const char* before, const char* name, const char* behind) {
  pb_arena scratch = {0};
  printf("%s%s%s", before, pb_shown(&scratch, name), behind);
  pb_arena_free(&scratch);
}

static void print_tensors(const char* what, int count, const pb_rt_tensor* (*tensor)(const pb_rt*, int),
                          const pb_rt* rt) {
  for (int k = 0; k < count; ++k) {
    const pb_rt_tensor* t = tensor(rt, k);
    print_name(what, t->name, ": ");
    for (int d = 0; d < t->rank - (t->is_complex != 0); ++d)
      if (t->shape[d] < 0)
        printf("?x");
      else
        printf("%lldx", (long long)t->shape[d]);
    printf(t->is_complex ? "complex<%s>\n" : "%s\n", t->type);
  }
}

static void print_profile(const pb_rt* rt) {
  print_tensors("input ", pb_rt_input_count(rt), pb_rt_input, rt);
  print_tensors("output ", pb_rt_output_count(rt), pb_rt_output, rt);
  printf("%d steps\n", pb_rt_step_count(rt));
  for (int k = 0; k < pb_rt_step_count(rt); ++k) {
    const pb_rt_step* s = pb_rt_step_info(rt, k);
    printf("  %d ", k);
    print_name("", s->kernel, " (");
    print_name("", s->origin, "): ");
    printf("%llu multiply-accumulates, %llu commands, %llu cycles predicted, bound by ", (unsigned long long)s->macs,
           (unsigned long long)s->commands, (unsigned long long)s->predicted_cycles);
    print_name("", *s->bound ? s->bound : "?", "\n");
  }
}

void run_report_info(pb_rt* rt) {
  for (int t = 0; t < pb_rt_target_count(rt); ++t) print_name(t ? ", " : "target ", pb_rt_target_name(rt, t), "");
  printf("\n");
  for (int p = 0; p < pb_rt_profile_count(rt) && !pb_rt_set_profile(rt, p); ++p) {
    if (pb_rt_profile_count(rt) > 1) printf("profile %d of %d\n", p + 1, pb_rt_profile_count(rt));
    print_profile(rt);
  }
}

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double at_percentile(const run_times* times, double percentile) {
  int k = (int)(percentile / 100 * times->count);
  return times->seconds[k < times->count ? k : times->count - 1];
}

void run_report_times(run_times* times) {
  qsort(times->seconds, (size_t)times->count, sizeof *times->seconds, by_value);
  int digits =
      at_percentile(times, 50) < 1e-4 ? 6 : 3; // of milliseconds: small kernels take less than one of a thousand
  printf("%d runs: %.*f ms median, %.*f ms best, %.*f ms at percentile %g\n", times->count, digits,
         1e3 * at_percentile(times, 50), digits, 1e3 * times->seconds[0], digits,
         1e3 * at_percentile(times, times->percentile), times->percentile);
}

// The columns of queues: of so many that they are read.
static int columns(const pb_rt* rt) { return pb_rt_queue_count(rt) <= 16 ? pb_rt_queue_count(rt) : 0; }

static pb_rt_step total(const pb_rt* rt, uint64_t* busy) {
  pb_rt_step sum = {.kernel = "total", .origin = "", .bound = "", .busy = busy};
  for (int k = 0; k < pb_rt_step_count(rt); ++k) {
    const pb_rt_step* s = pb_rt_step_info(rt, k);
    sum.macs += s->macs;
    sum.predicted_cycles += s->predicted_cycles;
    sum.cycles += s->cycles;
    sum.commands += s->commands;
    sum.dram_read += s->dram_read;
    sum.dram_write += s->dram_write;
    sum.dram_fetch += s->dram_fetch;
    sum.constants_read += s->constants_read;
    sum.seconds += s->seconds;
    for (int q = 0; q < pb_rt_queue_count(rt); ++q) busy[q] += s->busy[q];
  }
  return sum;
}

static double of_peak(const pb_rt* rt, const pb_rt_step* s) {
  double peak = (double)s->cycles * (double)pb_rt_peak_macs(rt);
  return peak > 0 ? (double)s->macs / peak : 0;
}

static void print_row(const pb_rt* rt, const pb_rt_step* s) {
  pb_arena scratch = {0};
  printf("%-20.20s %-28.28s %12llu %10llu %10llu", pb_shown(&scratch, s->kernel), pb_shown(&scratch, s->origin),
         (unsigned long long)s->macs, (unsigned long long)s->cycles, (unsigned long long)s->predicted_cycles);
  pb_arena_free(&scratch);
  if (s->cycles) {
    printf(" %5.1f%%", 100 * of_peak(rt, s));
    for (int q = 0; q < columns(rt); ++q) printf(" %5.1f", 100.0 * (double)s->busy[q] / (double)s->cycles);
  }
  printf(" %9.3f\n", 1e3 * s->seconds);
}

void run_report_table(const pb_rt* rt) {
  pb_arena scratch = {0};
  pb_rt_step sum = total(rt, PB_NEW_ARRAY(&scratch, uint64_t, (size_t)pb_rt_queue_count(rt) + 1));
  printf("%-20s %-28s %12s %10s %10s", "kernel", "origin", "macs", "cycles", "predicted");
  if (sum.cycles) {
    printf(" %6s", "peak");
    for (int q = 0; q < columns(rt); ++q) printf(" %4s%%", pb_rt_queue_name(rt, q));
  }
  printf(" %9s\n", "wall ms");
  for (int k = 0; k < pb_rt_step_count(rt); ++k) print_row(rt, pb_rt_step_info(rt, k));
  print_row(rt, &sum);
  pb_arena_free(&scratch);
  if (sum.cycles && pb_rt_mhz(rt))
    printf("%.3f ms at %d MHz; peak is %llu multiply-accumulates a cycle\n", (double)sum.cycles / pb_rt_mhz(rt) / 1e3,
           pb_rt_mhz(rt), (unsigned long long)pb_rt_peak_macs(rt));
}

static void put_text(FILE* file, const char* text) {
  pb_arena scratch = {0};
  fputs(pb_shown_json(&scratch, text, strlen(text)), file);
  pb_arena_free(&scratch);
}

static void put_step(FILE* file, const pb_rt* rt, const pb_rt_step* s) {
  fputs("{\"kernel\": ", file);
  put_text(file, s->kernel);
  fputs(", \"origin\": ", file);
  put_text(file, s->origin);
  fputs(", \"bound\": ", file);
  put_text(file, s->bound);
  fprintf(file,
          ", \"macs\": %llu, \"commands\": %llu, \"cycles\": %llu, \"predicted_cycles\": %llu, \"peak_share\": %.6f, "
          "\"dram_read\": %llu, \"dram_write\": %llu, \"dram_fetch\": %llu, ",
          (unsigned long long)s->macs, (unsigned long long)s->commands, (unsigned long long)s->cycles,
          (unsigned long long)s->predicted_cycles, of_peak(rt, s), (unsigned long long)s->dram_read,
          (unsigned long long)s->dram_write, (unsigned long long)s->dram_fetch);
  if (s->constants_read) fprintf(file, "\"constants_read\": %llu, ", (unsigned long long)s->constants_read);
  fprintf(file, "\"seconds\": %.9f, \"busy\": {", s->seconds);
  for (int q = 0; q < pb_rt_queue_count(rt); ++q) {
    fputs(q ? ", " : "", file);
    put_text(file, pb_rt_queue_name(rt, q));
    fprintf(file, ": %llu", (unsigned long long)s->busy[q]);
  }
  fputs("}}", file);
}

static pb_status close_file(FILE* file, const char* path) {
  bool failed = ferror(file) != 0;
  failed |= fclose(file) != 0;
  return failed ? pb_system_error(NULL, (pb_place){.file = path}, 1006, "cannot write") : PB_OK;
}

pb_status run_report_json(const pb_rt* rt, const run_times* times, const char* path) {
  FILE* file = fopen(path, "w");
  if (!file) return pb_system_error(NULL, (pb_place){.file = path}, 1006, "cannot write");
  fputs("{\"target\": ", file);
  put_text(file, pb_rt_target(rt));
  fputs(", \"device\": ", file);
  put_text(file, pb_rt_device(rt));
  fprintf(file, ", \"mhz\": %d, \"peak_macs_per_cycle\": %llu, \"dram_bytes_per_cycle\": %d,\n \"run_seconds\": [",
          pb_rt_mhz(rt), (unsigned long long)pb_rt_peak_macs(rt), pb_rt_dram_rate(rt));
  for (int k = 0; k < times->count; ++k) fprintf(file, "%s%.9f", k ? ", " : "", times->seconds[k]);
  fputs("],\n \"steps\": [", file);
  for (int k = 0; k < pb_rt_step_count(rt); ++k) {
    fputs(k ? ",\n  " : "\n  ", file);
    put_step(file, rt, pb_rt_step_info(rt, k));
  }
  pb_arena scratch = {0};
  pb_rt_step sum = total(rt, PB_NEW_ARRAY(&scratch, uint64_t, (size_t)pb_rt_queue_count(rt) + 1));
  fputs("],\n \"total\": ", file);
  put_step(file, rt, &sum);
  pb_arena_free(&scratch);
  fputs("}\n", file);
  return close_file(file, path);
}

static void put_thread(run_timeline* line, int thread, const char* name) {
  fprintf(line->file, "%s{\"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": ",
          line->events++ ? ",\n" : "", thread);
  put_text(line->file, name);
  fputs("}}", line->file);
}

pb_status run_timeline_open(run_timeline* line, const pb_rt* rt, const char* path) {
  *line = (run_timeline){.file = fopen(path, "w"), .path = path, .rt = rt};
  if (!line->file) return pb_system_error(NULL, (pb_place){.file = path}, 1006, "cannot write");
  fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", line->file);
  for (int q = 0; q < pb_rt_queue_count(rt); ++q) put_thread(line, q, pb_rt_queue_name(rt, q));
  return PB_OK;
}

void run_timeline_event(void* user, int step, int queue, uint32_t index, uint64_t start, uint64_t end) {
  run_timeline* line = user;
  double scale = pb_rt_mhz(line->rt) > 0 ? 1.0 / pb_rt_mhz(line->rt) : 1;
  fprintf(line->file, "%s{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.4f, \"dur\": %.4f, \"name\": ",
          line->events++ ? ",\n" : "", queue, (double)start * scale, (double)(end - start) * scale);
  put_text(line->file, pb_rt_step_info(line->rt, step)->kernel);
  fprintf(line->file, ", \"args\": {\"step\": %d, \"command\": %u, \"start\": %llu, \"end\": %llu}}", step, index,
          (unsigned long long)start, (unsigned long long)end);
}

pb_status run_timeline_close(run_timeline* line) {
  if (!line->file) return PB_OK;
  fputs("\n]}\n", line->file);
  FILE* file = line->file;
  line->file = NULL;
  return close_file(file, line->path);
}

void run_report_counters(const pb_rt* rt) {
  const char* name;
  for (int k = 0; (name = pb_rt_counter_name(rt, k)); ++k)
    printf("%-22s %20llu\n", name, (unsigned long long)pb_rt_counter(rt, k));
}
