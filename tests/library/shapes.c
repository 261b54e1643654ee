// One engine of open rows in one process, run at one number of them after the other: copies, outputs and the arena are
// made anew where they grow. Its input is codes without a sign, of which the run-time makes copies of its own.
// Usage: library_shapes ENGINE, as shapes.py makes it: [n, 3] codes, less 3, times 2.
#include <pb/pb.h>

#include <stdio.h>
#include <stdlib.h>

// Whether `rows` rows come out right.
static bool is_right_at(pb_rt* rt, int64_t rows) {
  int64_t shape[] = {rows, 3}, count = rows * 3;
  const int64_t* shapes[] = {shape};
  if (pb_rt_choose(rt, shapes) || pb_rt_output(rt, 0)->bytes != (uint64_t)count * 4) return false;
  uint8_t* x = malloc((size_t)count);
  float* y = calloc((size_t)count, sizeof *y);
  if (!x || !y) exit(1);
  for (int64_t k = 0; k < count; ++k) x[k] = (uint8_t)(k * 7 + rows);
  bool right = pb_rt_run(rt, (const void* const[]){x}, (void* const[]){y}) == 0;
  for (int64_t k = 0; right && k < count; ++k) right = y[k] == (float)(2 * (x[k] - 3));
  free(x);
  free(y);
  return right;
}

int main(int argc, char** argv) {
  pb_rt* rt = NULL;
  int failed = argc != 2 || pb_rt_load(argv[1], 0, &rt) || !pb_rt_is_open(rt);
  if (failed) fprintf(stderr, "no engine of open dims: %s\n", pb_rt_error());
  static const int64_t rows[] = {2, 70000, 1, 3, 70001};
  for (size_t k = 0; !failed && k < sizeof rows / sizeof *rows; ++k)
    if (!is_right_at(rt, rows[k])) {
      fprintf(stderr, "%lld rows: wrong, or not run: %s\n", (long long)rows[k], pb_rt_error());
      failed = 1;
    }
  pb_rt_free(rt);
  return failed;
}
